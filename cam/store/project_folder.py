"""A project's folder as a whole: all its files at once, built anew aside and put into place in one step."""

import os
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from cam.core.operations import Change, MemoryPlan
from cam.core.records import MemoryScope, MemoryState
from cam.formats.audit import render_audit
from cam.formats.history import event_of, render_event, with_transaction
from cam.formats.memory_index import update_index
from cam.formats.topic_file import TopicFile, parse_topic_file
from cam.store.layout import StoreLayout
from cam.store.machine import machine_name
from cam.store.shadow import write_shadow
from cam.system.clock import now_stamp
from cam.system.files import (
    exchange_folders,
    list_folder,
    move_folder,
    read_bytes,
    remove_folder,
    require_writable,
    walk_files,
    write_atomic,
)

INDEXES = ("MEMORY.md", "ARCHIVE.md")

_AUDIT = "audit/sync-log.jsonl"


class Built(NamedTuple):
    """A folder as it shall be.

    Attributes:
        files: all of it, by path relative to the folder.
        target: all files of the folder that it replaces.
    """

    files: Mapping[str, bytes]
    target: Mapping[str, bytes]


def replace_folder(root: str, name: str, build: Callable[[], Built], copy: str) -> None:
    """Build a project's folder anew, put it into place and keep the former one; the lock is held.

    Args:
        root: the store.
        name: the project's id.
        build: is asked again where somebody saved a file meanwhile.
        copy: folder in which the former one is kept, under its name.

    Raises:
        StoreUnavailableError: the machine refuses; nothing was changed.
    """
    target = os.path.join(root, "projects", name)
    while True:
        built = build()
        staged = os.path.join(root, "projects", f".{name}.{secrets.token_hex(4)}.tmp")
        try:
            for path, data in built.files.items():
                write_atomic(os.path.join(staged, path), data)
        except BaseException:
            remove_folder(staged)
            raise
        was_there = exchange_folders(staged, target)
        if not was_there or read_folder(staged) == built.target:
            break
        exchange_folders(staged, target)  # somebody saved a file meanwhile: with that one, once more
        remove_folder(staged)
    if was_there:
        move_folder(staged, os.path.join(copy, name))


def layouts_of(root: str, name: str) -> list[StoreLayout]:
    """The project's views of the store, one per worktree that left something."""
    worktrees = list_folder(os.path.join(root, "projects", name, "locals"))
    return [StoreLayout(root, name, worktree) for worktree in worktrees or [name]]


def renew_shadows(root: str, name: str) -> None:
    """The copies that tell a hand edit from our own writing, made anew from what stands there now."""
    for layout in layouts_of(root, name):
        for path, data in read_folder(layout.project_folder).items():
            key = topic_of(path)
            local = key is not None and key[0] is MemoryScope.PROJECT_LOCAL
            if key is not None and (not local or path.startswith(f"locals/{layout.worktree}/")):
                write_shadow(layout, layout.topic_file(*key), data)


def read_folder(folder: str) -> dict[str, bytes]:
    """All files, by path relative to the folder; none where it is not there.

    Raises:
        IntegrityError: one is no regular file.
        StoreUnavailableError: the machine refuses.
    """
    files = {}
    for path in walk_files(folder):
        data = read_bytes(os.path.join(folder, path))
        if data is not None:
            files[path] = data
    return files


def read_to_replace(folder: str) -> dict[str, bytes]:
    """``read_folder``, refused where a file is read-only: in a folder built anew it would not be.

    Raises:
        WriteRefusedError: one is.
    """
    files = read_folder(folder)
    for path in files:
        require_writable(os.path.join(folder, path))
    return files


def topic_of(path: str) -> tuple[MemoryScope, MemoryState, str] | None:
    """Scope, state and topic of a topic file by its path in the project's folder; None for any other."""
    folder, name = os.path.split(path)
    if not name.endswith(".md") or name.startswith(".") or name in INDEXES:
        return None
    state = MemoryState.ARCHIVED if os.path.basename(folder) == "archive" else MemoryState.ACTIVE
    place = folder.removesuffix("/archive")
    if place == "project":
        return MemoryScope.PROJECT, state, name[:-3]
    if place.startswith("locals/") and place.count("/") == 1:
        return MemoryScope.PROJECT_LOCAL, state, name[:-3]
    return None


def parsed(path: str, data: bytes) -> TopicFile:
    """A topic file by its path in the project's folder."""
    key = topic_of(path)
    assert key is not None
    scope, state, topic = key
    return parse_topic_file(data, path=path, scope=scope, state=state, topic=topic)


def renew_indexes(files: dict[str, bytes]) -> None:
    """Let each MEMORY.md and ARCHIVE.md among ``files`` say what their topic files hold."""
    counts: dict[tuple[str, MemoryScope, MemoryState], dict[str, int]] = {}
    for path, data in files.items():
        key = topic_of(path)
        if key is not None:
            scope, state, topic = key
            folder = os.path.dirname(path)
            counts.setdefault((folder, scope, state), {})[topic] = len(parsed(path, data).records)
    for (folder, scope, state), topics in counts.items():
        name = f"{folder}/{INDEXES[state is MemoryState.ARCHIVED]}"
        files[name] = update_index(files.get(name, b""), scope, state, topics)


def log_changes(
    root: str,
    files: dict[str, bytes],
    changes: Mapping[str, Sequence[Change]],
    transaction: str,
    kind: str,
    more: Mapping[str, Any],
) -> MemoryPlan:
    """Put what became of records into the histories and the audit among ``files``; all of it as one plan.

    Args:
        root: the store.
        files: as they are afterwards.
        changes: by the folder of the scope whose history gets them.
        transaction: its name.
        kind: of the audit's line.
        more: what that line says besides.
    """
    now, machine = now_stamp(), machine_name(root)

    @cache
    def version(path: str) -> str | None:
        return parsed(path, files[path]).version if path in files else None

    for folder, own in changes.items():
        lines = []
        for change in own:
            ref = change.ref
            archive = "" if ref.state is MemoryState.ACTIVE else "archive/"
            versions = {str(ref.state): version(f"{folder}/{archive}{ref.topic}.md")}
            lines.append(render_event(event_of(change, transaction, now, versions, machine=machine)))
        name = f"{folder}/memory-history.jsonl"
        files[name] = with_lines(files.get(name, b""), lines)
    plan = MemoryPlan(tuple(change for own in changes.values() for change in own))
    line = render_audit(at=now, kind=kind, actor="user", plan=plan, more=dict(more))
    files[_AUDIT] = with_lines(files.get(_AUDIT, b""), [with_transaction(line, transaction)])
    return plan


def with_lines(data: bytes, lines: Iterable[str]) -> bytes:
    """A log with lines appended; one that a crash tore is closed first."""
    whole = data if not data or data.endswith(b"\n") else data + b"\n"
    return whole + b"".join(line.encode("utf-8", "backslashreplace") + b"\n" for line in lines)
