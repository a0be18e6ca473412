"""The envelope: the check that runs before printing says the same as the published schema."""

import json
from importlib.resources import files
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.render.answer import checked, failure, success, to_json

SCHEMA = json.loads((files("cam.render") / "schemas" / "answer.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

some = st.sampled_from([None, True, False, "", "x", 0, {}, [], {"a": 1}])
errors = st.none() | st.fixed_dictionaries(
    {}, optional={"code": some, "message": some, "more": some}
) | some  # fmt: skip
answers = st.fixed_dictionaries(
    {},
    optional={
        "schema": st.sampled_from(["cam/v1", "cam/v2", 1]),
        "ok": st.sampled_from([True, False, None, 1]),
        "command": st.sampled_from(["memory", "", 5]),
        "data": some,
        "error": errors,
        "extra": some,
    },
)
whole = st.fixed_dictionaries(
    {"schema": st.just("cam/v1"), "ok": st.booleans(), "command": st.text(), "data": some, "error": errors}
)


@given(answers | whole)
def test_the_check_and_the_schema_agree(answer: dict[str, Any]) -> None:
    try:
        checked(answer)
    except ValueError:
        is_checked = False
    else:
        is_checked = True
    assert is_checked == VALIDATOR.is_valid(answer)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    VALIDATOR.validate(success("memory", {}))
    VALIDATOR.validate(failure("memory", "not_found", "there is none"))


@pytest.mark.parametrize("text", ["你好", "\ud800", "\u2028", "🧑‍💻", '"\\', "\x00"])
def test_any_text_is_one_line_of_utf8(text: str) -> None:
    line = to_json(success("x", {"text": text}))
    assert json.loads(line.encode()) == success("x", {"text": text})
    assert "\n" not in line
