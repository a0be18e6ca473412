"""Instruction files that changes are proposed to: found without links, changed only as a person saw it."""

import os
import stat
from dataclasses import dataclass
from hashlib import sha256

from cam.core.errors import IntegrityError, NotFoundError, WriteRefusedError
from cam.formats.unified_diff import render_diff
from cam.system.files import link_on_the_way, put_in_place, read_bytes, stage_file


@dataclass(frozen=True, slots=True)
class Target:
    """An instruction file as it is now.

    Attributes:
        name: its path from the project's root.
        path: absolute.
        data: its content, None where there is no file.
    """

    name: str
    path: str
    data: bytes | None

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of its content, "" where there is no file."""
        return "" if self.data is None else sha256(self.data).hexdigest()

    @property
    def text(self) -> str:
        """Its content.

        Raises:
            IntegrityError: it is not UTF-8.
        """
        try:
            return (self.data or b"").decode("utf-8")
        except UnicodeDecodeError:
            raise IntegrityError(f"{self.path} is not UTF-8; it was left alone") from None

    def edited(self, edit: str, old: str) -> bytes:
        """The content with ``edit`` at its end, or in the place of ``old``; the file's line ends are kept.

        Raises:
            NotFoundError: ``old`` does not stand in the file.
            WriteRefusedError: it stands there several times.
        """
        text = self.text
        end = "\r\n" if "\r\n" in text else "\n"
        edit, old = _with_ends(edit, end), _with_ends(old, end)
        if old:
            count = text.count(old)
            if count == 0:
                raise NotFoundError(f"{self.name} does not hold the text that the change replaces")
            if count > 1:
                raise WriteRefusedError(
                    f"{self.name} holds the text that the change replaces {count} times; give more of it"
                )
            return text.replace(old, edit).encode()
        block = edit.strip("\r\n")
        if not text:
            return f"{block}{end}".encode()
        last = text.rstrip("\r\n")
        gap = end if _is_item(last.rpartition("\n")[2]) and _is_item(block) else end * 2
        return f"{last}{gap}{block}{end}".encode()

    def diff(self, edit: str, old: str) -> str:
        """The change as ``git apply`` takes it, "" if the file holds it already.

        Raises:
            CamError: as ``edited``.
        """
        if not old and self._holds(edit):
            return ""
        return render_diff(self.name, self.data, self.edited(edit, old))

    def write(self, data: bytes) -> None:
        """Put ``data`` in the file's place, whole, with the file's own mode; a new file gets 0644.

        Raises:
            StoreUnavailableError: the machine refuses.
            IntegrityError: the file is not what it was, or what is read back is not ``data``.
        """
        os.makedirs(os.path.dirname(self.path), exist_ok=True)  # as git would, not as the store does
        mode = stat.S_IMODE(os.stat(self.path).st_mode) if self.data is not None else 0o644
        temporary = stage_file(self.path, data, f"cam-{os.getpid()}")
        os.chmod(temporary, mode)
        if read_bytes(self.path) != self.data:
            os.unlink(temporary)
            raise IntegrityError(f"{self.name} changed this moment; look at it again")
        put_in_place(temporary, self.path)
        if read_bytes(self.path) != data:
            raise IntegrityError(f"{self.name} does not hold what was written; look at it")

    def _holds(self, edit: str) -> bool:
        lines = [line.strip() for line in self.text.split("\n")]
        wanted = [line.strip() for line in edit.strip().split("\n")]
        return any(lines[n : n + len(wanted)] == wanted for n in range(len(lines)))


def open_target(root: str, name: str) -> Target:
    """The target ``name`` of the project at ``root``; no part of its path may be a link.

    Raises:
        WriteRefusedError: it leads elsewhere, or is no regular file.
    """
    root = os.path.realpath(root)
    path = os.path.join(root, *name.split("/"))
    link = link_on_the_way(root, path)
    if link:
        raise WriteRefusedError(f"{link} is a link; a change to what it leads to is not proposed")
    try:
        return Target(name, path, read_bytes(path))
    except IntegrityError as error:
        raise WriteRefusedError(str(error)) from None


def _with_ends(text: str, end: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", end)


def _is_item(line: str) -> bool:
    return line.lstrip().startswith(("- ", "* ", "+ "))
