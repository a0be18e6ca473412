"""What one commit did to one file, kept in the history so that it can be taken back byte for byte.

A step names the file's bytes before and after by digest and holds the one stretch of text that differs. The
version line of a topic file changes with every commit and far from the rest, so it is kept apart. A step
only fits a file that is exactly as the commit left it; any other is merged record by record.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from cam.formats.topic_file import split_version


@dataclass(frozen=True, slots=True)
class FileStep:
    """One file's change, seen from the bytes after it.

    Attributes:
        path: relative to the folder of the scope.
        before: digest of the bytes before, None if there was no file.
        after: digest of the bytes after, None if the file went.
        start: where the stretch begins, in characters of the text after, its version line left out.
        length: characters of that stretch.
        text: what stood there before.
        version: version line before, "" if there was none.
        version_at: where it stood, in characters of the text before without it.
    """

    path: str
    before: str | None
    after: str | None
    start: int = 0
    length: int = 0
    text: str = ""
    version: str = ""
    version_at: int = 0

    def fits(self, data: bytes | None) -> bool:
        """Whether ``data`` is what the commit left."""
        return digest(data) == self.after

    def is_taken_back(self, data: bytes | None) -> bool:
        """Whether ``data`` is what the commit found."""
        return digest(data) == self.before

    def take_back(self, data: bytes | None) -> bytes | None:
        """The bytes before the commit, None if there was no file.

        Args:
            data: the bytes after it.

        Raises:
            ValueError: the step does not fit ``data``.
        """
        if self.before is None:
            return None
        text = split_version(_decode(data))[0]
        text = text[: self.start] + self.text + text[self.start + self.length :]
        text = text[: self.version_at] + self.version + text[self.version_at :]
        back = text.encode("utf-8", "surrogateescape")
        if digest(back) != self.before:
            raise ValueError(f"the step does not fit {self.path}")
        return back


def file_step(path: str, before: bytes | None, after: bytes | None) -> FileStep:
    """The step from ``before`` to ``after``; None is no file."""
    old, version_at, version = split_version(_decode(before))
    new = split_version(_decode(after))[0]
    names = (path, digest(before), digest(after))
    if before is None or before == after:
        return FileStep(*names, len(new) if before is None else 0, 0, "", version, version_at)
    old_lines, new_lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head = _alike(old_lines, new_lines)
    tail = _alike(old_lines[head:][::-1], new_lines[head:][::-1])
    start = sum(map(len, old_lines[:head]))
    end = sum(map(len, old_lines[len(old_lines) - tail :]))
    return FileStep(*names, start, len(new) - start - end, old[start : len(old) - end], version, version_at)


def digest(data: bytes | None) -> str | None:
    """First 16 hex of SHA-256, None where there is no file."""
    return None if data is None else sha256(data).hexdigest()[:16]


def step_to_data(step: FileStep) -> dict[str, Any]:
    """A step as JSON data, empty fields left out."""
    data: dict[str, Any] = {"path": step.path, "before": step.before, "after": step.after}
    optional = ("start", "length", "text", "version", "version_at")
    return data | {name: value for name in optional if (value := getattr(step, name))}


def step_from_data(data: Mapping[str, Any]) -> FileStep:
    """Read what ``step_to_data`` wrote.

    Raises:
        TypeError: it is not such data.
    """
    return FileStep(**data)


def _decode(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")


def _alike(one: list[str], other: list[str]) -> int:
    """How many lines the two begin with alike."""
    for number, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return number
    return min(len(one), len(other))
