import time

import pytest

from cam.core.private import strip

S = "SECRET"

TAGS = [
    ("a <private>S</private> b", "a  b"),
    ("a <PRIVATE>S</Private> b", "a  b"),
    ("a <\u00a0private\t>S</private\n> b", "a  b"),
    ('a <private why="x"\n y>S</private z> b', "a  b"),
    ("a <private>S< / private> b", "a  b"),
    ("a <private>S</\tprivate> b", "a  b"),
    ("a<private>1</private>b<private>2</private>c", "abc"),
    ("a<private>1<private>2</private>3</private>b", "ab"),
    ("a<private>1<private>2</private>3", "a"),
    ("a <private>S b", "a "),
    ("a </private> b", "a  b"),
    ("a</private>b<private>c", "ab"),
    ("a<private>1</private></private>b", "ab"),
    ('a <private x="1>2">S</private> b', "a  b"),
    ('a <private x="<">S</private> b', "a "),
    ("a <private/>S", "a "),
    ("a <private />S", "a "),
    ("a <private", "a "),
    ("a <private S secret b", "a "),
    ("a <private S <b>x</b> c", "a "),
    ("a <private>S</private", "a "),
    ("a <private>S</privat> b", "a "),
    ("a <private>S</pri\u200bvate> b", "a "),
    ("a <private>S＜/private＞ b", "a "),
    ("a <private>S<\\private> b", "a "),
    ("a <private>S<//private> b", "a "),
    ("a <private=1>S</private> b", "a "),
    ("a<private>1<private-x>2</private>b", "ab"),
    ("x < private y > z", "x "),
    ("`<private>` hides what follows", "`"),
    ("<!-- <private>S --> b", "<!-- "),
    ("\\<private>S</private> b", "\\ b"),
    ("<<private>S</private>", "<"),
    ("1 < 2 <private>S</private> b", "1 < 2  b"),
    ('<a title="<private>">S', '<a title="'),
    ("a <private数据>S", "a "),
    ("a <private:S</private>", "a "),
    ("a <private-S b", "a "),
    ("<pri<private>1</private>vate>S", ""),
    ("x <pri</private>vate>S", "x "),
]

DISGUISED = [
    *(
        f"a <pri{c}vate>S</private> b"
        for c in "\0\u200b\u200d\u00ad\ufeff\u202e\u180e\u0085\U000e0070\u0301\ufe0f\u3164 \n\u034f\u2800"
    ),
    *(
        f"a <private{c}>S</private> b"
        for c in "\0\u200b\u200d\u00ad\ufeff\u202e\u180e\u0085\U000e0070\ufe0f\u3164"
    ),
    "a <p r i v a t e>S</private> b",
    "a <ｐｒｉｖａｔｅ>S</private> b",
    "a <𝓅𝓇𝒾𝓋𝒶𝓉ℯ>S</private> b",
    "a <𝐩𝐫𝐢𝐯𝐚𝐭𝐞>S</private> b",
    "a <ⓟⓡⓘⓥⓐⓣⓔ>S</private> b",
    "a <🅟🅡🅘🅥🅐🅣🅔>S</private> b",
    "a <🅿🆁🅸🆅🅰🆃🅴>S</private> b",
    "a <ᵖʳⁱᵛᵃᵗᵉ>S</private> b",
    "a <рrіvаtе>S</private> b",
    "a <ρrιvατε>S</private> b",
    "a <prıvate>S</private> b",
    "a <PRİVATE>S</private> b",
    "a <prívâté>S</private> b",
    "a <pr1vate>S</private> b",
    "a <prlvate>S</private> b",
    "a ＜private＞S＜/private＞ b",
    "a ＜ｐｒｉｖａｔｅ＞S＜／ｐｒｉｖａｔｅ＞ b",
    "a ﹤private﹥S﹤/private﹥ b",
    "a ⟨private⟩S⟨/private⟩ b",
    "a ‹private›S‹/private› b",
    "a «private»S«/private» b",
    "a 《private》S《/private》 b",
    "a [private]S[/private] b",
    "a [private]S</private> b",
    "a 【private】S【/private】 b",
    "a &lt;private&gt;S&lt;/private&gt; b",
    "a &amp;lt;private&amp;gt;S b",
    "a &#60;private&#62;S&#60;/private&#62; b",
    "a &#x3C;private&#x3e;S b",
    "a <&#112;rivate>S</private> b",
    "a <pri&#8203;vate>S</private> b",
    "a \\u003cprivate\\u003eS\\u003c/private\\u003e b",
    "a <\\u0070rivate>S</private> b",
    "a \\x3cprivate\\x3eS b",
    "a %3Cprivate%3ES%3C/private%3E b",
    "a ＜private>S</private> b",
    "a <\u0338private>S</private> b",
    "a \u226eprivate>S</private> b",
]

CODE = [
    "Map<PrivateKey, V>",
    "Map<PrivateKey,V> keys",
    "List<private_key>",
    "HashMap<private_key_t, int>",
    '<PrivateRoute path="/me" />',
    "<PrivateRoute/>",
    "<PrivateRoute>x</PrivateRoute>",
    "if (a < privateCount) b > c",
    "a <privateCount",
    "a < private_total && b > 3",
    "while x < private.count: pass",
    "<privately owned>",
    "<private-route>x</private-route>",
    "<private.Foo>",
    "<private:x>",
    "private int x = 1; a < b",
    "std::vector<std::pair<int, int>> p",
    "<p>a private note</p>",
    "<pre>private</pre>",
    "the modifier «private» is required",
    "用《private》关键字",
    "[private] label in the tracker",
    "[private](docs/private.md) and [/etc/private]",
    "5 < 6 &lt; 7 &amp; 8",
    "a < b, c > d, </p>, <P>, <print>, <priv>",
    "cat <<EOF\nprivate: no\nEOF",
    "％ ＜p＞ 〈書名〉 «quote» 😀",
]


@pytest.mark.parametrize(("text", "want"), TAGS)
def test_spans_are_cut(text: str, want: str) -> None:
    assert strip(text).text == want


@pytest.mark.parametrize("text", DISGUISED)
def test_a_disguised_tag_takes_the_rest(text: str) -> None:
    assert strip(text).text == "a "
    assert strip(text).count == 1


@pytest.mark.parametrize("text", CODE)
def test_other_names_stay(text: str) -> None:
    assert strip(text).text == text
    assert strip(text).count == 0


def test_count_is_of_outermost_spans() -> None:
    assert strip("a<private>1<private>2</private></private>b<private>3</private>c<private>4").count == 3
    assert strip("nothing here").count == 0
    assert strip("").text == ""


@pytest.mark.parametrize(
    "text",
    [
        "<" * 1_000_000,
        "< " * 500_000,
        ("<" + " " * 50) * 20_000,
        "<private>" * 100_000,
        "<private>x</private>" * 50_000,
        "</private " * 100_000,
        "<private-x " * 100_000,
        "<private-x> " * 80_000,
        "[private]" * 110_000,
        "&amp;" * 200_000,
        "<p" * 500_000,
        "<" + "\u200b" * 1_000_000,
        "<" + "p\u200b" * 300_000,
        "＜" * 1_000_000,
        "%25" * 330_000,
        "\\" * 1_000_000,
    ],
    ids=lambda t: t[:12],
)
def test_a_megabyte_is_quick(text: str) -> None:
    begin = time.process_time()
    strip(text)
    assert time.process_time() - begin < 3
