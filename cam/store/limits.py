"""How much of a store one question may read; checked by size and number before any content is."""

from collections.abc import Sequence

from cam.core.errors import IntegrityError
from cam.system.files import read_bytes, size_of

MAX_TOPIC_BYTES = 64 * 1024 * 1024
"""Beyond any memory: a log or an image that ended up in the file. Reading it at each command took minutes."""

MAX_FILES = 10_000
MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_BYTES = 128 * 1024 * 1024
MAX_RECORDS = 500_000


class Limits:
    """Counts what is looked at together."""

    def __init__(self) -> None:
        self.files = self.bytes = self.records = 0

    def take_files(self, folder: str, sizes: Sequence[int], names: Sequence[str] = ()) -> None:
        """Count files that are about to be read.

        Args:
            folder: where they are.
            sizes: their bytes.
            names: theirs, in the same order, so that the one that is too large is named.

        Raises:
            IntegrityError: too many, too large, or too much together; the limit is named.
        """
        self.files += len(sizes)
        self.bytes += sum(sizes)
        if self.files > MAX_FILES:
            raise IntegrityError(f"{folder}: {self.files:,} files; at most {MAX_FILES:,} are read")
        largest = max(sizes, default=0)
        if largest > MAX_FILE_BYTES:
            which = f"{folder}/{names[sizes.index(largest)]}" if names else f"{folder}: a file"
            raise IntegrityError(f"{which} has {largest:,} bytes; at most {MAX_FILE_BYTES:,} are read")
        if self.bytes > MAX_BYTES:
            raise IntegrityError(f"{folder}: {self.bytes:,} bytes together; at most {MAX_BYTES:,} are read")

    def take_records(self, folder: str, count: int) -> None:
        """Count records.

        Raises:
            IntegrityError: too many; the limit is named.
        """
        self.records += count
        if self.records > MAX_RECORDS:
            raise IntegrityError(f"{folder}: {self.records:,} records; at most {MAX_RECORDS:,} are searched")


def read_topic_bytes(path: str) -> bytes | None:
    """A topic file's bytes, None if there is none.

    Raises:
        IntegrityError: not a regular file, or far larger than any memory.
        StoreUnavailableError: the machine refuses.
    """
    size = size_of(path)
    if size > MAX_TOPIC_BYTES:
        raise IntegrityError(
            f"{path}: {size:,} bytes; a topic file of more than {MAX_TOPIC_BYTES:,} is left alone, "
            "take out what does not belong there"
        )
    return read_bytes(path)
