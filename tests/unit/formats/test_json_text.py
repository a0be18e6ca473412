"""Edits of JSON keep every byte that is not meant."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cam.formats.json_text import add, parse_json, remove, replace

leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
documents = st.dictionaries(
    st.text(max_size=6),
    st.recursive(leaves, lambda c: st.lists(c, min_size=1, max_size=3)),
    min_size=1,
    max_size=4,
)


def laid_out(document: Any, indent: Any, *, crlf: bool, tail: str) -> str:
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    return (text.replace("\n", "\r\n") if crlf else text) + tail


@given(
    documents,
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.booleans(),
    st.sampled_from(["", "\n", " \n\n"]),
    leaves,
)
def test_what_was_added_last_can_be_taken_out(
    document: Any, indent: Any, crlf: bool, tail: str, value: Any
) -> None:
    text = laid_out(document, indent, crlf=crlf, tail=tail)
    name = "".join(document) + "+"
    more = add(text, (), name, {"a": [value]})
    assert json.loads(more) == {**document, name: {"a": [value]}}
    assert remove(more, (name,)) == text


@given(documents, st.sampled_from([None, 2, "\t"]))
def test_each_member_can_be_taken_out_and_replaced(document: Any, indent: Any) -> None:
    text = laid_out(document, indent, crlf=False, tail="\n")
    for name in document:
        assert json.loads(remove(text, (name,))) == {k: v for k, v in document.items() if k != name}
        assert json.loads(replace(text, (name,), [1])) == {**document, name: [1]}


def test_odd_layout_stays() -> None:
    text = '{ "b":1 ,\n\n   "a" : [ 1,2 ] }\n'
    assert add(text, ("a",), None, 3) == '{ "b":1 ,\n\n   "a" : [ 1,2, 3 ] }\n'
    assert remove(text, ("b",)) == '{ "a" : [ 1,2 ] }\n'
    assert remove(text, ("a", 1)) == '{ "b":1 ,\n\n   "a" : [ 1 ] }\n'


def test_a_file_that_is_no_json_is_named_with_its_line() -> None:
    with pytest.raises(ValueError, match=r"^f\.json:3: "):
        parse_json('{\n"a": 1,\n}', "f.json")
    with pytest.raises(ValueError, match=r"^f\.json:1: nested too deeply"):
        parse_json("[" * 100_000, "f.json")


def test_a_place_that_is_not_there() -> None:
    for path in ((), ("x",), ("x", 1)):
        with pytest.raises(KeyError):
            remove('{"a": 1}', (*path, "y"))
