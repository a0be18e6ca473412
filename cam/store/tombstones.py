"""What a person took out or corrected: it does not come back from a session that is read again.

Most of it stands in the history. What left the history (erased for good, or cleared by age) leaves a line in
``tombstones.jsonl`` of the store's root: a hash that is salted, so that nobody can try out short secrets
against a table, and the time. The first line holds the salt.
"""

import hmac
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from cam.core.tombstones import tombstone_key
from cam.formats.json_line import dump_line
from cam.store.memory_store import MarkdownStore
from cam.store.topics import read_passages
from cam.system.files import append_to_log, read_bytes


class Tombstones(Mapping[str, str]):
    """When a text was taken out (ISO-8601), by its ``tombstone_key``.

    Asking for a key finds the salted ones too; only the others can be listed.
    """

    def __init__(self, plain: Mapping[str, str], hidden: "Hidden | None" = None) -> None:
        self._plain = plain
        self._hidden = hidden or Hidden()

    def __getitem__(self, key: str) -> str:
        found = [self._plain[key]] if key in self._plain else []
        hidden = self._hidden.time_of(key)
        found += [hidden] if hidden is not None else []
        if not found:
            raise KeyError(key)
        return max(found)

    def __iter__(self) -> Iterator[str]:
        return iter(self._plain)

    def __len__(self) -> int:
        return len(self._plain)

    def __bool__(self) -> bool:
        return bool(self._plain or self._hidden.times)

    def is_erased(self, key: str) -> bool:
        """Whether the text was erased for good."""
        return self._hidden.is_erased(key)


@dataclass(frozen=True, slots=True)
class Hidden:
    """Salted tombstones.

    Attributes:
        salt: hex.
        times: when each text was taken out, by its salted hash.
        erased: hashes of those that were erased for good.
    """

    salt: str = ""
    times: Mapping[str, str] = field(default_factory=dict)
    erased: frozenset[str] = frozenset()

    def time_of(self, key: str) -> str | None:
        """When the text with this ``tombstone_key`` was taken out, None if it was not."""
        return self.times.get(_salted(self.salt, key)) if self.times else None

    def is_erased(self, key: str) -> bool:
        """Whether it was erased for good."""
        return bool(self.erased) and _salted(self.salt, key) in self.erased


def read_tombstones(store: MarkdownStore) -> Tombstones:
    """Keys of texts that were deleted, archived or replaced, each with the time of it.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    dead: dict[str, str] = {}
    found = [each for scope in store.layout.scopes for each in read_passages(store.layout, scope)]
    # What one commit takes from one place and puts into another, also another scope, is not gone.
    found.sort(key=lambda each: (each.at, each.here is not None))
    for each in found:
        if each.gone is not None:
            dead[tombstone_key(each.gone)] = each.gone_at
        if each.here is not None and dead:
            dead.pop(tombstone_key(each.here), None)
    return Tombstones(dead, _read(store.layout.root, store.layout.project))


def bury(
    root: str, keys: Iterable[tuple[str, str]], project: str | None = None, *, erased: bool = False
) -> int:
    """Keep tombstones of texts that leave the history; the lock is held.

    Args:
        root: the store.
        keys: ``tombstone_key`` and time of each.
        project: for whose sessions they count, None for all.
        erased: whether the texts were erased for good.

    Returns:
        How many were new.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    path = _file(root)
    known = _read(root, project)
    salt, times = known.salt, dict(known.times)
    if not salt:
        salt = secrets.token_hex(16)
        append_to_log(path, dump_line({"salt": salt}))
    new = 0
    for key, at in keys:
        name = _salted(salt, key)
        if times.get(name, "") >= at and (not erased or name in known.erased):
            continue
        times[name] = at
        more = {"erased": True} if erased else {}
        append_to_log(path, dump_line({"hash": name, "at": at, "project": project, **more}))
        new += 1
    return new


def _read(root: str, project: str | None) -> Hidden:
    salt = ""
    found: dict[str, str] = {}
    erased: set[str] = set()
    for line in (read_bytes(_file(root)) or b"").split(b"\n"):
        try:
            data = json.loads(line)
            if "salt" in data:
                salt = salt or str(bytes.fromhex(data["salt"]).hex())
            elif data.get("project") in (None, project):
                found[data["hash"]] = max(found.get(data["hash"], ""), data["at"])
                if data.get("erased"):
                    erased.add(data["hash"])
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return Hidden(salt, found, frozenset(erased)) if salt else Hidden()


def _salted(salt: str, key: str) -> str:
    return hmac.new(bytes.fromhex(salt), key.encode("ascii"), "sha256").hexdigest()


def _file(root: str) -> str:
    return os.path.join(root, "tombstones.jsonl")
