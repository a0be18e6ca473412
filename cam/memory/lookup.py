"""Finding the record that a ref names. Pure."""

from collections.abc import Iterable

from cam.core.errors import NotFoundError
from cam.core.records import NOTES_TOPIC, MemoryRecord, MemoryRef


def find(records: Iterable[MemoryRecord], ref: MemoryRef) -> MemoryRecord:
    """The record that ``ref`` names; its state is only a hint.

    Raises:
        NotFoundError: there is none.
    """
    found = [r for r in records if r.key == ref.key]
    found.sort(key=lambda r: r.state is not ref.state)
    if not found and ref.topic == NOTES_TOPIC:
        raise NotFoundError(
            f"{ref} is no record but a person's own text in MEMORY.md: 'cam recall details {ref}' shows it,"
            " and the file is where it is changed"
        )
    if not found:
        raise NotFoundError(f"there is no record {ref}; 'cam memory list' shows what there is")
    return found[0]
