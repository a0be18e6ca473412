"""Any text that a person or Codex can produce, and records made of it."""

from hypothesis import strategies as st

from cam.core.records import MemoryRecord, MemoryScope, MemoryState, RecordType, Source

nasty = st.sampled_from(
    [
        *(
            "## x",
            "# Title",
            "- ",
            "| ",
            "-->",
            "--",
            "---",
            "```",
            "~~~",
            "Summary: ",
            "Details:",
            "  ",
            "\t",
        ),
        *("<!-- cam:record {} -->", "<!-- cam:topics -->", "</cam-memory>", "<private>", "\\u0041"),
        *("\r", "\x00", "\u2028", "\x85", "\ufeff", "\u202e", "\ud800", "\u200b"),
        *("。", "🧑‍💻", "מזל"),
    ]
)
any_text = st.lists(st.text() | nasty, max_size=6).map("".join)
lines = any_text.map(lambda t: t.replace("\n", " ")).filter(lambda t: bool(t.strip()))
names = st.from_regex(r"[a-z0-9][a-z0-9-]{0,20}", fullmatch=True)
stamps = (
    st.datetimes()
    .map(lambda d: d.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0") + ".000Z")
    .filter(lambda s: len(s) == 24)
)
sources = st.builds(
    Source,
    st.sampled_from(["session", "person", "agent"]),
    st.none() | names,
    st.none() | st.integers(0, 10_000),
    st.none() | names,
)


def records(
    scope: MemoryScope = MemoryScope.PROJECT, topic: str = "workflow"
) -> st.SearchStrategy[MemoryRecord]:
    """Records of one topic."""
    return st.builds(
        MemoryRecord,
        st.just(scope),
        st.just(topic),
        names,
        lines,
        st.lists(lines, max_size=4).map(tuple),
        st.just(MemoryState.ACTIVE),
        st.sampled_from(RecordType),
        stamps,
        stamps,
        st.lists(sources, max_size=2).map(tuple),
        any_text,
        st.none() | stamps,
        st.none() | stamps,
        st.lists(names, max_size=2).map(tuple),
        st.booleans(),
    )
