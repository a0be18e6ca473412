"""Where in a long history each id stands; derived and disposable.

A history only grows, save where it is written anew: then it is another file, and what was known of it counts
no more. What was added since is looked through each time; where that becomes much, it is indexed too. An
index says in which stretches of the file an id may stand, nothing more: the lines themselves are always read.

    file = header (JSON, a line), CRC-32 of each name, sorted, stretch of each name, beginnings of stretches
"""

import json
import os
import re
import sys
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import suppress
from mmap import mmap
from zlib import crc32

from cam.core.errors import CamError
from cam.system.files import make_folder, read_bytes, write_quick

LEAST = 16 * 1024 * 1024
"""Bytes that are looked through without an index: sooner done than one is opened and checked."""

_STRETCH = 256 * 1024
_CHECKED = 4096
_FORM = 1


def stretches(content: mmap, inode: int, path: str, name: str) -> Iterator[tuple[int, int]]:
    """Begin and end of the parts of a history in which ``name`` may stand before a quotation mark, in order.

    Args:
        content: of the history.
        inode: of its file.
        path: of the index; it is made or made anew where that is worth it.
        name: an id.
    """
    if len(content) < LEAST:
        yield 0, len(content)
        return
    index = _Index.load(path, content, inode)
    if index is None or len(content) - index.end >= LEAST:
        index = _Index.build(content)
        index.save(path, content, inode)
    yield from index.find(name)
    yield index.end, len(content)


class _Index:
    def __init__(self, names: "array[int]", places: "array[int]", begins: "array[int]") -> None:
        self._names, self._places, self._begins = names, places, begins
        self.end = begins[-1]

    @classmethod
    def build(cls, content: mmap) -> "_Index":
        """An index of all whole lines."""
        named = re.compile(rb'[:"]([a-z0-9][a-z0-9._-]*)(?=")')
        last = content.rfind(b"\n") + 1
        begins, pairs = array("Q", [0]), []
        while begins[-1] < last:
            begin = begins[-1]
            end = content.find(b"\n", min(begin + _STRETCH, last - 1)) + 1 or last
            place = len(begins) - 1
            pairs += [(crc32(word) << 32) | place for word in set(named.findall(content[begin:end]))]
            begins.append(end)
        pairs.sort()
        names = array("I", (pair >> 32 for pair in pairs))
        return cls(names, array("I", (pair & 0xFFFFFFFF for pair in pairs)), begins)

    @classmethod
    def load(cls, path: str, content: mmap, inode: int) -> "_Index | None":
        """What is on disk; None where it is no index of this history."""
        with suppress(CamError, ValueError, KeyError, TypeError, IndexError):
            head, _, data = (read_bytes(path) or b"").partition(b"\n")
            form = json.loads(head)
            count, end = form["names"], form["end"]
            if (
                form["is"] == [_FORM, sys.byteorder, inode]
                and form["crc"] == crc32(data)
                and _CHECKED <= end <= len(content)
                and form["tail"] == crc32(content[end - _CHECKED : end])
            ):
                names, places = array("I", data[: 4 * count]), array("I", data[4 * count : 8 * count])
                return cls(names, places, array("Q", data[8 * count :]))
        return None

    def save(self, path: str, content: mmap, inode: int) -> None:
        """Keep it; where that cannot be, nothing happens."""
        data = b"".join(each.tobytes() for each in (self._names, self._places, self._begins))
        form = {
            "is": [_FORM, sys.byteorder, inode],
            "names": len(self._names),
            "end": self.end,
            "tail": crc32(content[self.end - _CHECKED : self.end]),
            "crc": crc32(data),
        }
        with suppress(CamError):
            make_folder(os.path.dirname(path))
            write_quick(path, json.dumps(form).encode() + b"\n" + data)

    def find(self, name: str) -> list[tuple[int, int]]:
        """The stretches in which a name may stand."""
        wanted = crc32(name.encode())
        first, last = bisect_left(self._names, wanted), bisect_right(self._names, wanted)
        return [(self._begins[place], self._begins[place + 1]) for place in self._places[first:last]]
