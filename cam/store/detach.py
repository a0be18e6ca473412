"""Taking an attachment back: each project, or worktree, remembers again what it did before.

What was remembered, changed and logged since stays; only a record that came along and is not as it came any
more, or a person's own text in its file, stands in the way. The project that gave its memory is put back
first, the other one is then built anew aside: a crash in between leaves the memory in both, and a repeat does
the rest.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cam.core.errors import InvalidInputError, NotFoundError
from cam.core.operations import Change, MemoryOperation, MemoryPlan, OperationKind
from cam.formats.history import parse_history
from cam.formats.memory_index import without_note
from cam.formats.project_file import KnownProject, parse_project, render_project
from cam.formats.topic_file import TopicFile, apply_to_topic_file, new_topic_file, render_topic_file
from cam.store.attached import AttachedCopy, copy_folder
from cam.store.git_merge import merge_lines
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore, commit_to_git
from cam.store.project_folder import (
    Built,
    layouts_of,
    log_changes,
    parsed,
    read_folder,
    read_to_replace,
    renew_indexes,
    renew_shadows,
    replace_folder,
    topic_of,
)
from cam.store.transaction import transaction_name
from cam.system.clock import now_stamp
from cam.system.files import list_folder, move_folder, read_bytes, remove_folder, write_atomic


def detach(root: str, copy: AttachedCopy, reason: str, rule: str) -> tuple[MemoryPlan, str]:
    """Take an attachment back.

    Args:
        root: the store.
        copy: what it was.
        reason: of the history's events.
        rule: of the audit's operations.

    Returns:
        What that did to the records, and its transaction.

    Raises:
        InvalidInputError: something was changed since that it cannot be taken apart from; nothing was done.
        NotFoundError: what stood before is not there any more; nothing was done.
        WriteRefusedError: a file is read-only; nothing was done.
        StoreUnavailableError: the machine refuses.
    """
    transaction, plan = transaction_name(now_stamp()), MemoryPlan()
    for layout in layouts_of(root, copy.new):
        MarkdownStore(layout).note_edits()
    with MarkdownStore(StoreLayout(root)).locked():
        home = _home_of_theirs(root, copy)
        before = read_folder(os.path.join(copy.folder(root), copy.new))
        theirs = parse_project(read_bytes(f"{home}/project.json") or b"", copy.old) if home else None

        def build() -> Built:
            nonlocal plan
            files = read_to_replace(os.path.join(root, "projects", copy.new))
            changes = _changes(files, copy.transaction, reason, rule)
            paths = {**before, **dict.fromkeys(copy.left), **files}
            kept = (
                (path, _without(copy, path, files.get(path), before.get(path), changes)) for path in paths
            )
            found = {path: data for path, data in kept if data is not None}
            identity = (files.get("project.json", b""), before.get("project.json", b""))
            found["project.json"] = _identity(*identity, theirs or KnownProject(copy.old), copy.new)
            renew_indexes(found)
            plan = log_changes(root, found, changes, transaction, "undo", {"undoes": copy.transaction})
            return Built(found, files)

        build()  # what is in the way refuses before anything is done
        place = os.path.join(root, "projects", copy.old)
        if home and home != place:
            _take_logs_along(place, home)
            move_folder(home, place)
        if home:
            _renew_indexes_in(place)
        replace_folder(root, copy.new, build, copy_folder(root, transaction))
        for name in (copy.new, copy.old) if home else (copy.new,):
            renew_shadows(root, name)
        commit_to_git(root, plan)
    return plan, transaction


def _take_logs_along(remnant: str, home: str) -> None:
    """Move the logs of a folder without memory into that of the project, and clear it away.

    A sync with another machine leaves one, where that one wrote to a log when the project went here.
    """
    for path, data in read_folder(remnant).items():
        if path.endswith(".jsonl"):
            place = os.path.join(home, path)
            write_atomic(place, merge_lines(read_bytes(place) or b"", data))
    remove_folder(remnant)


def _renew_indexes_in(folder: str) -> None:
    """Let the indexes of what stood aside say what its files hold: a text may have been erased since."""
    files = read_folder(folder)
    new = dict(files)
    renew_indexes(new)
    for path, data in new.items():
        if files.get(path) != data:
            write_atomic(os.path.join(folder, path), data)


def _home_of_theirs(root: str, copy: AttachedCopy) -> str:
    """Where the project stands whose memory was taken: aside, or back already; "" for a worktree."""
    if not copy.is_whole:
        return ""
    place = os.path.join(root, "projects", copy.old)
    # An attachment that a crash broke off was done by a later one, with copies of its own.
    later = (name for name in list_folder(os.path.join(root, "backup")) if name >= copy.transaction)
    copies = (os.path.join(root, "backup", name, copy.old) for name in later)
    aside = next((path for path in copies if os.path.isdir(path)), "")
    if aside and any(topic_of(path) is not None or path == "project.json" for path in read_folder(place)):
        raise InvalidInputError(
            f"the store has a project {copy.old} again, made since: 'cam project move {copy.old}' takes that"
            " along too"
        )
    if not (aside or os.path.isdir(place)):
        raise NotFoundError(f"what {copy.old} held before is not in {copy.folder(root)} any more")
    return aside or place


def _without(
    copy: AttachedCopy,
    path: str,
    now: bytes | None,
    before: bytes | None,
    changes: Mapping[str, Sequence[Change]],
) -> bytes | None:
    """A file without what the attachment did to it; None for no file.

    Args:
        copy: what is taken back.
        path: relative to the project's folder.
        now: as it stands, None for no file.
        before: as it stood before the attachment, likewise.
        changes: what becomes of each record, by the folder of its scope.
    """
    if path.endswith(".jsonl"):
        since = copy.since(path, now or b"")
        return now if since is None else (before or b"") + since or None
    if copy.is_as_left(path, before):
        return now
    if copy.is_as_left(path, now):
        return before
    key = topic_of(path)
    if key is None:
        return now and without_note(now, copy.notes.get(path, ""))
    home = os.path.dirname(path).removesuffix("/archive")
    own = [
        each
        for each in changes.get(home, ())
        if each.before != each.after and (each.ref.state, each.ref.topic) == key[1:]
    ]
    file, was = (new_topic_file(*key) if data is None else parsed(path, data) for data in (now, before))
    present = {record.id: record for record in file.records}
    if _own_text(file) != _own_text(was) or any(present.get(each.ref.id) != each.before for each in own):
        raise InvalidInputError(
            f"in {path} of {copy.new} something that came along from {copy.old} was changed since; take that"
            " back first ('cam log' names it)"
        )
    rest = apply_to_topic_file(file, {each.ref.id: each.after for each in own})
    return render_topic_file(rest) if before is not None or rest.sections else None


def _own_text(file: TopicFile) -> list[str]:
    """What a person wrote into a topic file beside the records."""
    lines = [each for each in file.prelude.splitlines() if each.strip() and not each.startswith("<!-- cam:")]
    return [*lines, *(section.raw.strip() for section in file.sections if section.record is None)]


def _changes(files: Mapping[str, bytes], transaction: str, reason: str, rule: str) -> dict[str, list[Change]]:
    """What the attachment did to each record, the other way round, by the folder of the scope."""
    named = f'"tx":"{transaction}"'.encode()
    found: dict[str, list[Change]] = {}
    for path, data in sorted(files.items()):
        if os.path.basename(path) != "memory-history.jsonl":
            continue
        lines = (line.decode("utf-8", "replace") for line in data.split(b"\n") if named in line)
        for event in parse_history(lines, with_files=False):
            if event is None or event.after is None:
                continue
            kind = OperationKind.UPDATE if event.before else OperationKind.DELETE
            operation = MemoryOperation(kind, event.before or event.after, reason, rule)
            found.setdefault(os.path.dirname(path), []).append(Change(operation, event.after, event.before))
    return found


def _identity(now: bytes, before: bytes, theirs: KnownProject, name: str) -> bytes:
    """What is known of the project, without the one whose memory goes back."""
    here, old = (parse_project(data, name) or KnownProject(name) for data in (now, before))
    gone = {*theirs.absorbed, theirs.id} - {*old.absorbed}
    left = {*theirs.former_roots, theirs.root} - {*old.former_roots}
    return render_project(
        replace(
            here,
            absorbed=tuple(each for each in here.absorbed if each not in gone),
            former_roots=tuple(each for each in here.former_roots if each not in left),
            worktrees={**old.worktrees, **here.worktrees},
        )
    )
