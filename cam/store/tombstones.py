"""What a person took out or corrected: it does not come back from a session that is read again."""

from cam.core.records import MemoryState
from cam.core.tombstones import tombstone_key
from cam.store.memory_store import MarkdownStore


def read_tombstones(store: MarkdownStore) -> dict[str, str]:
    """Keys of texts that were deleted, archived or replaced, each with the time of it; from the history."""
    dead: dict[str, str] = {}
    for scope in store.layout.scopes:
        for event in store.history(scope):
            before, after = event.before, event.after
            if before is not None and before.state is MemoryState.ACTIVE:
                dead[tombstone_key(before.summary)] = after.updated_at if after else event.at
            if after is not None and after.state is MemoryState.ACTIVE:
                dead.pop(tombstone_key(after.summary), None)
    return dead
