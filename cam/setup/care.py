"""Looking after the store: verify it, give the predecessor its files back."""

from cam.core.errors import NotFoundError
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from cam.store.predecessor import Restored, backups, restore_predecessor


def restore_ts(root: str) -> Restored:
    """Put back the predecessor's files as they were before this cam wrote; the present state is kept aside.

    Raises:
        NotFoundError: there is no copy.
        StoreUnavailableError: the machine refuses.
    """
    if not backups(root):
        raise NotFoundError(f"there is no copy of a predecessor's store in {root}: nothing to go back to")
    with MarkdownStore(StoreLayout(root)).locked():
        return restore_predecessor(root)
