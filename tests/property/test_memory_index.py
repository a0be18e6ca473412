"""A person's part of MEMORY.md: what is put behind it comes out again, and nothing else does."""

from hypothesis import assume, example, given
from hypothesis import strategies as st

from cam.core.records import MemoryScope, MemoryState
from cam.formats.memory_index import BEGIN, END, note_record, update_index, with_note, without_note

AT = "2026-11-30T10:00:00.000Z"

_ODD = ("a.b(c)*", "é 中文 🙂", "x\u2028y", "nul \0", "\\d+")
_LINE = st.sampled_from(["", "  ", "# Rules", "- Ask first.", "- [a](a.md): 1 record", *_ODD])
_LINES = st.lists(_LINE, max_size=5)


@example(above=[], below=["# Rules"], note=["# Rules", "", "# Rules"], newline="\n", managed=False)
@given(
    above=_LINES, below=_LINES, note=_LINES, newline=st.sampled_from(["\n", "\r\n"]), managed=st.booleans()
)
def test_what_is_put_behind_a_person_s_text_comes_out_again(
    above: list[str], below: list[str], note: list[str], newline: str, managed: bool
) -> None:
    data = newline.join([*above, *([BEGIN, "- nothing yet", END] if managed else []), *below]).encode()
    assume(any(line.strip() for line in note))
    text = note_record("\n".join(note), MemoryScope.PROJECT, AT).text
    assert [line for line in text.split("\n") if line.strip()] == [line for line in note if line.strip()]
    added = with_note(data, text)
    assume(added != data)
    back = without_note(added, text)
    assert back == data or (not data.endswith(b"\n") and back in (data + b"\n", data + b"\r\n"))


def test_the_managed_block_is_no_person_s_text() -> None:
    data = update_index(b"", MemoryScope.PROJECT, MemoryState.ACTIVE, {"a": 1})
    assert without_note(data, "- [a](a.md): 1 record") == data
