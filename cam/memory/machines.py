"""One memory on several machines, through a git repository that the person names."""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from cam.core.errors import IntegrityError, InvalidInputError, StoreUnavailableError
from cam.core.operations import Change, MemoryOperation, MemoryPlan, OperationKind
from cam.core.private import strip
from cam.core.records import MemoryRecord, MemoryState, is_topic
from cam.core.secrets import mask
from cam.core.tombstones import tombstone_key
from cam.formats.audit import render_audit
from cam.formats.history import ARRIVED, event_of, render_event
from cam.formats.json_line import dump_line
from cam.formats.memory_index import update_index
from cam.formats.topic_file import (
    TopicFile,
    apply_to_topic_file,
    parse_topic_file,
    render_topic_file,
)
from cam.memory.transfer import screened_record
from cam.store.git_kept import (
    BRANCH,
    changed_files,
    clear_locks,
    complaint,
    files_at,
    git,
    is_kept,
    keep,
    own_file,
    private_files,
    set_driver,
    start,
    try_git,
)
from cam.store.git_merge import is_shared, merge_file, scope_of_path
from cam.store.git_put import put_merge
from cam.store.machine import ELSEWHERE, machine_name, name_machine
from cam.store.memory_store import MarkdownStore
from cam.store.tombstones import read_tombstones
from cam.store.transaction import transaction_name
from cam.system.clock import now_stamp
from cam.system.files import list_folder, read_bytes, remove_folder, write_atomic

_TRIES = 3
_INDEXES = ("MEMORY.md", "ARCHIVE.md")


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync between machines did.

    Attributes:
        where: the repository that was named, without what somebody logs in with.
        changes: records here before and after.
        masked: records that came with a secret or a private span, which was cut.
        refused: records that were not taken: nothing but a secret, or erased for good here.
        sent: whether anything was pushed.
    """

    where: str
    changes: tuple[Change, ...] = ()
    masked: int = 0
    refused: int = 0
    sent: bool = False


def keep_in_git(store: MarkdownStore) -> bool:
    """Keep the store in a git repository of its own; whether that is new.

    Raises:
        StoreUnavailableError: git or the machine refuses.
    """
    store.note_edits()
    with store.locked():
        return start(store.layout.root)


def sync_machines(store: MarkdownStore, where: str | None) -> Synced:
    """Bring what another machine wrote here, screened, and what was written here there.

    Args:
        store: whose; it is kept in git.
        where: the repository, remembered; None for the one that was named before.

    Raises:
        InvalidInputError: the store is not kept in git, or nobody said where.
        IntegrityError: git cannot merge a file that is none of cam's.
        StoreUnavailableError: git, the network or the machine refuses; what is here is as it was.
    """
    root = store.layout.root
    if not is_kept(root):
        raise InvalidInputError("the store is not kept in git: cam store git init")
    with store.locked():
        clear_locks(root)
        name_machine(root)
        where = _place(root, where)
        set_driver(root)
    said_where = _without_login(where)
    done = Synced(said_where)
    for _ in range(_TRIES):
        store.note_edits()
        with store.locked():
            keep(root, "Edits by hand, and what cam noted")
        heads = git(root, "ls-remote", "--heads", "--", where, f"refs/heads/{BRANCH}").split()
        if heads:
            git(root, "fetch", "-q", "--no-tags", "--", where, f"refs/heads/{BRANCH}")
            with store.locked():
                done = _bring(store, done)
        head = git(root, "rev-parse", "HEAD").strip()
        if heads[:1] == [head]:
            return done
        code, _, said = try_git(root, "push", "-q", "--", where, f"HEAD:refs/heads/{BRANCH}")
        if code == 0:
            return replace(done, sent=True)
        if "rejected" not in said:
            last = (said.strip().splitlines() or ["failed"])[-1].replace(where, said_where)
            raise StoreUnavailableError(f"git push to {said_where}: {last}")
    raise StoreUnavailableError(f"{said_where} kept changing while it was written; try again")


def _place(root: str, where: str | None) -> str:
    if where is None:
        where = try_git(root, "config", "cam.remote")[1].strip()
        if not where:
            raise InvalidInputError("say where to, once: cam store git sync --to URL-OR-FOLDER")
        return where
    if where.startswith("-"):
        raise InvalidInputError(f"{where!r} is no repository")
    where = os.path.abspath(os.path.expanduser(where)) if os.path.isdir(os.path.expanduser(where)) else where
    git(root, "config", "cam.remote", where)
    return where


def _bring(store: MarkdownStore, done: Synced) -> Synced:
    """Merge aside, screen, put into place. The lock is held, and what stands here is committed."""
    root = store.layout.root
    keep(root, "Edits by hand, and what cam noted")
    theirs = git(root, "rev-parse", "FETCH_HEAD").strip()
    head = git(root, "rev-parse", "HEAD").strip()
    if try_git(root, "merge-base", "--is-ancestor", theirs, head)[0] == 0:
        return done
    aside = store.layout.cache_file("git-merge")
    remove_folder(aside)
    git(root, "worktree", "prune")
    git(root, "worktree", "add", "-q", "--detach", aside, head)
    try:
        who = ("-c", "user.name=cam", "-c", "user.email=cam@localhost")
        code, _, said = try_git(
            aside, *who, "merge", "-q", "--no-edit", "--no-verify", "--allow-unrelated-histories", theirs
        )
        if code:
            _settle(aside, said)
            git(aside, *who, "commit", "-q", "--no-edit", "--no-verify")
        merged = _Merged(store, aside, changed_files(aside, head, "HEAD"), head, done.where)
        merged.screen()
        keep(aside, "What arrived, screened")
        put_merge(root, head, git(aside, "rev-parse", "HEAD").strip())
        return replace(
            done,
            changes=(*done.changes, *merged.changes),
            masked=done.masked + merged.masked,
            refused=done.refused + merged.refused,
        )
    finally:
        with suppress(StoreUnavailableError):
            git(root, "worktree", "remove", "--force", aside)


def _settle(aside: str, said: str) -> None:
    """Merge what git does not call the driver for: a file that one side deleted and the other changed.

    Raises:
        IntegrityError: there is a file that is none of the store's.
    """
    left = [name for name in git(aside, "diff", "--name-only", "--diff-filter=U", "-z").split("\0") if name]
    if ".gitignore" in left:
        write_atomic(os.path.join(aside, ".gitignore"), own_file(".gitignore") or b"")
    private = set(private_files(aside))
    for name in left:
        if name in private:  # tied to one machine, from the time when all of the folder was sent
            git(aside, "rm", "-q", "-f", "--cached", "--", name)
            continue
        base, ours, theirs = (
            try_git(aside, "show", f":{stage}:{name}")[1].encode("utf-8", "surrogateescape")
            for stage in (1, 2, 3)
        )
        merged = merge_file(name, base, ours, theirs) if is_shared(name) else own_file(name)
        if merged is None:
            raise IntegrityError(f"git cannot merge {name}; take it out of one side and sync again")
        write_atomic(os.path.join(aside, name), merged)
        git(aside, "add", "--", name)
    if not left:
        raise IntegrityError(f"git cannot merge: {complaint(said)}")


class _Merged:
    """What a merge made aside, on its way into the store."""

    def __init__(self, store: MarkdownStore, aside: str, names: list[str], head: str, where: str) -> None:
        self.changes: tuple[Change, ...] = ()
        self.masked = self.refused = 0
        self._store, self._root, self._aside = store, store.layout.root, aside
        self._names, self._head, self._where = names, head, where
        self._old = files_at(self._root, head, names)
        self._is_erased: Callable[[str], bool] = read_tombstones(store).is_erased

    def screen(self) -> None:
        """Cut secrets and private spans out of what is new, take no erased text back, note what changes."""
        for name in self._names:
            new = read_bytes(os.path.join(self._aside, name))
            if new is None:
                continue
            old, base = self._old[name] or b"", os.path.basename(name)
            if base.endswith(".jsonl"):
                clean = _screened_log(old, new)
            elif base in _INDEXES:
                clean = _screened_text(new)
            elif base.endswith(".md") and is_topic(base[:-3]):
                clean = self._topic(name, old, new)
            else:
                clean = new
            if clean != new:
                write_atomic(os.path.join(self._aside, name), clean)
        self._note()
        self._count()

    def _topic(self, name: str, old: bytes, new: bytes) -> bytes:
        before = {r.id: r for r in _parse(name, old).records}
        file = _parse(name, new)
        wanted: dict[str, MemoryRecord | None] = {}
        for record in file.records:
            if before.get(record.id) == record:
                continue
            clean = screened_record(record)
            if clean is None or self._is_erased(tombstone_key(clean.summary)):
                self.refused += 1
                wanted[record.id] = before.get(record.id)
            elif clean != record:
                self.masked += 1
                wanted[record.id] = clean
        known = {section.raw for section in _parse(name, old).sections}
        sections = tuple(
            s if s.record is not None or s.raw in known else s._replace(raw=_clean(s.raw))
            for s in file.sections
        )
        file = file._replace(prelude=_clean(file.prelude), sections=sections)
        return render_topic_file(apply_to_topic_file(file, wanted))

    def _note(self) -> None:
        """History of what the merge changes here: undo and stale saves rest on it."""
        now = now_stamp()
        transaction = transaction_name(now)
        machine = machine_name(self._root)
        reason = f"{ARRIVED}{self._origin()}"
        found: list[Change] = []
        scopes: dict[
            str, tuple[dict[Any, MemoryRecord], dict[Any, MemoryRecord], dict[Any, dict[str, Any]]]
        ] = {}
        for name in self._names:
            base = os.path.basename(name)
            if not base.endswith(".md") or base in _INDEXES or not is_topic(base[:-3]):
                continue
            folder = os.path.dirname(name).removesuffix("/archive")
            before, after, versions = scopes.setdefault(folder, ({}, {}, {}))
            old = _parse(name, self._old[name] or b"")
            new = _parse(name, self._merged(name))
            before.update((r.key, r) for r in old.records)
            after.update((r.key, r) for r in new.records)
            versions.setdefault(new.topic, {})[str(new.state)] = new.version
        for folder, (before, after, versions) in scopes.items():
            changes = [_change(before.get(k), after.get(k), reason) for k in {**before, **after}]
            changes = [c for c in changes if c.before != c.after]
            found += changes
            lines = [
                render_event(event_of(c, transaction, now, versions.get(c.ref.topic), machine=machine))
                for c in changes
            ]
            name = f"{folder}/memory-history.jsonl"
            more = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
            self._replace(name, self._merged(name) + more)
        self.changes = tuple(found)
        if found:
            plan = MemoryPlan(tuple(found))
            name = os.path.relpath(self._store.layout.audit_file, self._root)
            line = render_audit(at=now, kind="git", actor="git", plan=plan, more={"tx": transaction})
            self._replace(name, self._merged(name) + f"{line}\n".encode("utf-8", "backslashreplace"))

    def _origin(self) -> str:
        """The machines whose changes these are; the repository they came through, if nothing names one."""
        names: dict[str, None] = {}
        for name in self._names:
            if os.path.basename(name) == "memory-history.jsonl":
                known = set((self._old[name] or b"").split(b"\n"))
                for line in self._merged(name).split(b"\n"):
                    if line.strip() and line not in known:
                        with suppress(ValueError, AttributeError):
                            data = json.loads(line)
                            if data.get("actor") != "git":
                                names[str(data.get("machine") or ELSEWHERE)] = None
        names.pop(machine_name(self._root), None)
        if len(names) > 1:
            names.pop(ELSEWHERE, None)
        return ", ".join(names) or self._where

    def _count(self) -> None:
        """Indexes of the folders that changed, counted anew."""
        for folder in {os.path.dirname(name) for name in self._names if name.endswith(".md")}:
            inside = [n for n in list_folder(os.path.join(self._aside, folder)) if n.endswith(".md")]
            topics = [n for n in inside if n not in _INDEXES and is_topic(n[:-3])]
            files = [_parse(f"{folder}/{n}", self._merged(f"{folder}/{n}")) for n in topics]
            state = MemoryState.ARCHIVED if folder.endswith("archive") else MemoryState.ACTIVE
            name = f"{folder}/{'MEMORY.md' if state is MemoryState.ACTIVE else 'ARCHIVE.md'}"
            counts = {file.topic: len(file.records) for file in files}
            if not counts and not self._merged(name):
                continue  # the whole folder went
            self._replace(name, update_index(self._merged(name), scope_of_path(name), state, counts))

    def _merged(self, name: str) -> bytes:
        return read_bytes(os.path.join(self._aside, name)) or b""

    def _replace(self, name: str, data: bytes) -> None:
        """Write a file aside that may not be among those that the merge changed."""
        if data == self._merged(name):
            return
        write_atomic(os.path.join(self._aside, name), data)
        if name not in self._old:
            self._old |= files_at(self._root, self._head, [name])
            self._names.append(name)


def _change(before: MemoryRecord | None, after: MemoryRecord | None, reason: str) -> Change:
    record = after or before
    assert record is not None
    if after is None:
        kind = OperationKind.DELETE
    elif before is None:
        kind = OperationKind.ADD
    elif after.state is MemoryState.ARCHIVED and before.state is MemoryState.ACTIVE:
        kind = OperationKind.ARCHIVE
    else:
        kind = OperationKind.UPDATE
    return Change(MemoryOperation(kind, record, reason, "git", actor="git"), before, after)


def _without_login(where: str) -> str:
    """A repository's name as it may stand in a log: without what somebody logs in with."""
    scheme, middle, rest = where.partition("://")
    if not middle:
        return mask(where).text
    host, slash, path = rest.partition("/")
    return mask(f"{scheme}://{host.rpartition('@')[2]}{slash}{path}").text


def _parse(name: str, data: bytes) -> TopicFile:
    state = MemoryState.ARCHIVED if os.path.dirname(name).endswith("archive") else MemoryState.ACTIVE
    topic = os.path.basename(name)[:-3]
    return parse_topic_file(data, path=name, scope=scope_of_path(name), state=state, topic=topic)


def _screened_text(data: bytes) -> bytes:
    return _clean(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _clean(text: str) -> str:
    return mask(strip(text).text).text


def _screened_log(old: bytes, new: bytes) -> bytes:
    """A log with its new lines screened; one that is no JSON is left out."""
    known = set(old.split(b"\n"))
    lines = []
    for line in new.split(b"\n"):
        if line in known or not line.strip():
            lines.append(line)
            continue
        with suppress(ValueError):
            data = json.loads(line)
            clean = _walk(data)
            lines.append(line if clean == data else dump_line(clean).encode("utf-8", "backslashreplace"))
    return b"\n".join(lines)


def _walk(value: Any) -> Any:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, list):
        return [_walk(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _walk(item) for key, item in value.items()}
    return value
