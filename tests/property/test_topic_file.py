"""Laws of the topic file: what is written is read back equal, and foreign text stays byte for byte."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.formats.record_data import record_from_data, record_to_data
from cam.formats.topic_file import (
    TopicFile,
    apply_to_topic_file,
    new_topic_file,
    parse_topic_file,
    render_topic_file,
)
from tests.property.strategies import any_text, records

SCOPE, STATE, TOPIC = MemoryScope.PROJECT, MemoryState.ACTIVE, "workflow"


def parse(data: bytes) -> TopicFile:
    return parse_topic_file(data, path="workflow.md", scope=SCOPE, state=STATE, topic=TOPIC)


def texts(file: TopicFile, without: str) -> dict[str, str]:
    """Each record's section but for the version line, which stands above the first of ours."""
    raws = {s.record.id: s.raw for s in file.sections if s.record and s.record.id != without}
    return {name: re.sub(r"<!-- cam:version \w+ -->\r?\n(?=## )", "", raw) for name, raw in raws.items()}


A_RECORD = MemoryRecord(
    SCOPE, TOPIC, "0", "0", created_at="2000-01-01T00:00:00.000Z", updated_at="2000-01-01T00:00:00.000Z"
)
some_records = st.lists(records(), max_size=5, unique_by=lambda r: r.id)


@given(some_records)
def test_any_record_reads_back_equal(wanted: list[MemoryRecord]) -> None:
    file = apply_to_topic_file(new_topic_file(SCOPE, STATE, TOPIC), {r.id: r for r in wanted})
    again = parse(render_topic_file(file))
    assert list(again.records) == wanted
    assert not again.problems


@given(st.binary(max_size=400) | any_text.map(lambda t: t.encode("utf-8", "surrogatepass")))
def test_any_file_is_read_and_written_back_as_it_is(data: bytes) -> None:
    assert render_topic_file(parse(data)) == data


@given(st.lists(any_text, max_size=8).map("\n".join), records())
@example("## 0\n0\n<!-- cam:record {", A_RECORD)
def test_foreign_text_is_kept_when_a_record_comes_and_goes(text: str, record: MemoryRecord) -> None:
    data = text.encode("utf-8", "surrogatepass")
    before = parse(data)
    if record.id in {r.id for r in before.records}:
        return
    added = render_topic_file(apply_to_topic_file(before, {record.id: record}))
    assert added.startswith(data.rstrip(b"\r\n"))
    assert record in parse(added).records
    removed = render_topic_file(apply_to_topic_file(parse(added), {record.id: None}))
    assert removed == data


@given(some_records, records(), st.booleans())
def test_other_sections_keep_their_bytes(wanted: list[MemoryRecord], other: MemoryRecord, crlf: bool) -> None:
    file = apply_to_topic_file(new_topic_file(SCOPE, STATE, TOPIC), {r.id: r for r in wanted})
    data = render_topic_file(file)
    if crlf:
        data = data.replace(b"\n", b"\r\n")
    before = parse(data)
    after = apply_to_topic_file(before, {other.id: other})
    assert texts(after, other.id) == texts(before, other.id)
    assert (b"\r\n" in render_topic_file(after)) == (b"\r\n" in data)


@given(records())
def test_records_travel_as_data(record: MemoryRecord) -> None:
    assert record_from_data(record_to_data(record)) == record
