"""Whatever the text: nothing hidden comes through, doing it twice changes nothing, time stays linear."""

import re
import string
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from cam.core.private import strip
from cam.core.secrets import MASK, find, mask

PIECES = st.sampled_from(
    [
        "<private>",
        "</private>",
        "<",
        ">",
        "</",
        "private",
        "<Private x>",
        "<pri\u200bvate>",
        "＜private＞",
        "&lt;private&gt;",
        "[private]",
        "[/private]",
        "Map<PrivateKey>",
        "pri",
        "vate",
        " ",
        "\n",
        "a",
        "é",
        "/",
        "-",
        "\\u003c",
    ]
)
TAGGED = st.lists(PIECES, max_size=40).map("".join)

SECRETISH = st.lists(
    st.sampled_from(
        [
            "password",
            "PASSWORD",
            "token",
            "api_key",
            "密码",
            "是",
            " is ",
            "=",
            ": ",
            " ",
            "\n",
            '"',
            "'",
            "hunter2",
            "swordfish",
            "required",
            MASK,
            "[",
            "]",
            "://",
            "a:b@c",
            "Bearer ",
            "gh" + "p_" + "Ex4mple" * 4,
            "eyJ",
            ".",
            ",",
            ";",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "qT7xV2mK9pL4wZ8nB3cD",
            "for the db",
            " to ",
            "&x=",
            "(",
            ")",
            "<",
            ">",
            "--password",
            "curl -u ",
            "0123456789abcdef0123456789abcdef",
        ]
    ),
    max_size=30,
).map("".join)

WORDS = st.text(alphabet=string.ascii_letters + " .,", max_size=60)
PASSWORDS = st.from_regex(r"[A-Z][a-z]{3,8}[0-9]{2,4}[!#$%]", fullmatch=True)


@given(TAGGED | st.text(max_size=200))
def test_stripping_twice_changes_nothing(text: str) -> None:
    once = strip(text).text
    assert strip(once).text == once


@given(TAGGED)
def test_no_tag_is_left(text: str) -> None:
    assert not re.search(r"<\s*/?\s*private\s*>", strip(text).text, re.IGNORECASE)


@given(WORDS, st.text(max_size=80), WORDS)
def test_what_stands_in_a_span_is_gone(before: str, secret: str, after: str) -> None:
    hidden = f"\ue000{secret}\ue000"
    assert "\ue000" not in strip(f"{before}<private>{hidden}</private>{after}").text.replace(secret, "")


@given(WORDS)
def test_plain_words_stay(text: str) -> None:
    assert strip(text).text == text


@given(SECRETISH | st.text(max_size=200))
def test_masking_twice_changes_nothing(text: str) -> None:
    once = mask(text).text
    assert mask(once).text == once


@given(SECRETISH)
def test_found_secrets_lie_in_the_text_and_apart(text: str) -> None:
    at = 0
    for secret in find(text):
        assert at <= secret.start < secret.end <= len(text)
        at = secret.end


@given(
    st.sampled_from(
        [
            "password is {}",
            "password: {}",
            "PASSWORD={} make",
            "the db password is {}.",
            '"password": "{}"',
            "密码是{}",
            "Passwort ist {}",
            "contraseña es {}",
            "--password {}",
            "postgres://app:{}@db/x",
            "pwd={}",
        ]
    ),
    PASSWORDS,
)
def test_a_password_in_its_place_is_masked(form: str, password: str) -> None:
    text = form.format(password)
    assert password.rstrip("!") not in mask(text).text


@given(st.text(alphabet=string.ascii_lowercase + " ", max_size=120))
def test_lower_case_words_without_signs_are_mostly_text(text: str) -> None:
    masked = mask(text)
    assert masked.text.count(MASK) == masked.count


@settings(max_examples=12, deadline=None)
@given(st.text(min_size=1, max_size=12) | TAGGED.filter(bool) | SECRETISH.filter(bool))
def test_half_a_megabyte_of_anything_is_linear(unit: str) -> None:
    text = (unit * (500_000 // len(unit) + 1))[:500_000]
    begin = time.process_time()
    mask(strip(text).text)
    assert time.process_time() - begin < 25
