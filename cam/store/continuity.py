"""Where the last session stopped, on disk: two layers that are written as a pair, with their own journal.

    projects/<id>/continuity/project/active.md              what holds for every worktree
    <root>/.codex-auto-memory/sessions/active.md            what names files, the branch, the worktree
    projects/<id>/continuity/written/<layer>.json           which items cam wrote: others are a person's
    projects/<id>/continuity/journal.json                   a commit on its way
    projects/<id>/continuity/cleared.json                   what the last ``clear`` took away
    projects/<id>/audit/session-continuity-log.jsonl        one line a write
    projects/<id>/audit/session-continuity-recovery.json    what could not be done, for the next run
    cache/continuity/<id>/<worktree>.json                   up to when its sessions were looked at

With the path style ``claude`` the local layer is the newest ``<root>/.claude/sessions/*-session.tmp``.

A commit: every new file is staged beside its place; the journal is the commit point; then files are exchanged
and the audit line is appended. After a crash the next reader or writer finishes what the journal says. Before
the first local file a line in the exclude file that git really reads keeps the folder out of git. A local
file that git tracks came with the repository: it may be anybody's and is not read.
"""

import contextlib
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from cam.core.errors import CamError, IntegrityError, InvalidInputError, StoreUnavailableError
from cam.formats.continuity_file import ContinuityFile, ContinuityState, parse
from cam.formats.json_line import dump_line
from cam.store.identity import Project
from cam.store.layout import StoreLayout
from cam.system.files import (
    append_line,
    append_to_log,
    list_folder,
    make_folder,
    put_in_place,
    read_bytes,
    remove_file,
    rename_file,
    stage_file,
    tail_holds,
    take_away,
    unlink_quietly,
    write_atomic,
    write_quick,
)
from cam.system.git import find_repository, is_tracked

PROJECT, LOCAL = "project", "project-local"
LAYERS = (PROJECT, LOCAL)
SCOPES = (*LAYERS, "both")

_CODEX_FOLDER, _CLAUDE_FOLDER = ".codex-auto-memory", ".claude"
_CLAUDE_FILE = re.compile(r".+-session\.tmp$")
_TAG = "continuity"


@dataclass(frozen=True, slots=True)
class LayerFile:
    """One layer as it was read.

    Attributes:
        layer: ``project`` or ``project-local``.
        path: where it is, or would be written.
        data: its bytes, None if there is none.
        file: the same, read.
        written: digests of the items that cam wrote; None where that is not known.
        removed: digests of items that a person took out since.
        problem: why it is not read, "" if it is.
    """

    layer: str
    path: str
    data: bytes | None = None
    file: ContinuityFile | None = None
    written: frozenset[str] | None = None
    removed: frozenset[str] = frozenset()
    problem: str = ""

    @property
    def state(self) -> ContinuityState:
        """What it says; nothing if there is none."""
        return self.file.state if self.file is not None else ContinuityState()


@dataclass(frozen=True, slots=True)
class Write:
    """What one commit does.

    Attributes:
        files: whole new bytes by path, None for a file that goes.
        audit: the line for the audit log, without its line feed.
    """

    files: Mapping[str, bytes | None] = field(default_factory=dict)
    audit: str = ""


@dataclass(frozen=True, slots=True)
class Marker:
    """What could not be done, for the next run.

    Attributes:
        stage: ``summary-write`` (nothing was written) or ``audit-write`` (the files were, the line was not).
        scope: ``project``, ``project-local`` or ``both``.
        worktree: id of the worktree it happened in.
        session: whose session; "" if unknown.
        rollout: its file.
        at: ISO-8601 UTC.
        error: what went wrong.
        written: the files that were written.
    """

    stage: str
    scope: str
    worktree: str
    session: str
    rollout: str
    at: str
    error: str
    written: tuple[str, ...] = ()

    def fits(self, scope: str) -> bool:
        """Whether a write of ``scope`` does what it stands for."""
        return scope in (self.scope, "both") or self.scope == "both"


class AuditWriteError(StoreUnavailableError):
    """The files were written, the audit line was not.

    Attributes:
        written: the files.
    """

    def __init__(self, message: str, written: tuple[str, ...]) -> None:
        super().__init__(message)
        self.written = written


class StoreWithLock(Protocol):
    """What continuity needs of the store; the real one is imported only where something is written."""

    @property
    def layout(self) -> StoreLayout:
        """Where its files are."""

    def locked(self) -> AbstractContextManager[None]:
        """Hold the store's lock."""


class ContinuityStore:
    """The two layers of one project as one worktree sees them.

    Args:
        store: whose lock is held while something is written.
        project: as the resolver found it.
        style: ``codex`` or ``claude``: where the local layer lives.
    """

    def __init__(self, store: StoreWithLock, project: Project, style: str = "codex") -> None:
        self.store = store
        self.project = project
        self.style = style
        self.layout = store.layout

    @property
    def local_folder(self) -> str:
        """The local layer's folder."""
        top = _CLAUDE_FOLDER if self.style == "claude" else _CODEX_FOLDER
        return os.path.join(self.project.root, top, "sessions")

    @property
    def project_file(self) -> str:
        """The project layer."""
        return self._own("project", "active.md")

    @property
    def audit_file(self) -> str:
        """The audit log."""
        return os.path.join(self.layout.audit_folder, "session-continuity-log.jsonl")

    @property
    def marker_file(self) -> str:
        """The recovery marker."""
        return os.path.join(self.layout.audit_folder, "session-continuity-recovery.json")

    @property
    def cleared_file(self) -> str:
        """What the last ``clear`` took away."""
        return self._own("cleared.json")

    def note_file(self, layer: str) -> str:
        """Which items of a layer cam wrote."""
        name = "project" if layer == PROJECT else str(self.layout.worktree)
        return self._own("written", f"{name}.json")

    def local_files(self) -> list[str]:
        """Files of the local layer that exist, newest first."""
        folder = self.local_folder
        if self.style != "claude":
            path = os.path.join(folder, "active.md")
            return [path] if os.path.lexists(path) else []
        names = [os.path.join(folder, n) for n in list_folder(folder) if _CLAUDE_FILE.match(n)]
        return sorted(names, key=lambda path: (os.lstat(path).st_mtime_ns, path), reverse=True)

    def local_target(self, day: str, *, replace: bool) -> str:
        """The file that the local layer is written to.

        Args:
            day: ``YYYY-MM-DD``.
            replace: whether the newest file is replaced rather than today's written (style ``claude``).
        """
        if self.style != "claude":
            return os.path.join(self.local_folder, "active.md")
        there = self.local_files()
        if replace and there:
            return there[0]
        return os.path.join(self.local_folder, f"{day}-{str(self.layout.worktree)[-8:]}-session.tmp")

    def read(self) -> tuple[LayerFile, LayerFile]:
        """Both layers, the project's first; what a crashed writer began is finished before."""
        problem = ""
        if os.path.exists(self._journal):
            try:
                with self.store.locked():
                    self._recover()
            except CamError as error:
                problem = f"a write waits to be finished: {error}"
        project, local = self._read()
        return (project, local) if not problem else (_with_problem(project, problem), local)

    def change(self, planner: Callable[[LayerFile, LayerFile], Write]) -> Write:
        """Read, plan and commit under the store's lock, both files or neither.

        Args:
            planner: pure and quick; decides from both layers as they are now.

        Raises:
            AuditWriteError: the files were written, the audit line was not.
            IntegrityError: something that is no regular file stands in the way.
            StoreUnavailableError: the machine refuses; nothing was written.
        """
        with self.store.locked():
            self._recover()
            write = planner(*self._read())
            if write.files or write.audit:
                self._commit(write)
            return write

    def marker(self) -> Marker | None:
        """The recovery marker; one that cannot be read is none."""
        try:
            raw = json.loads(read_bytes(self.marker_file) or b"")
            return _marker(raw)
        except (CamError, ValueError, TypeError, AttributeError):
            return None

    def set_marker(self, marker: Marker) -> None:
        """Leave a marker; a machine that refuses even that is told nothing more."""
        data = {
            "at": marker.at, "stage": marker.stage, "scope": marker.scope, "worktree": marker.worktree,
            "session": marker.session, "rollout": marker.rollout, "error": marker.error,
            "written": list(marker.written),
        }  # fmt: skip
        with contextlib.suppress(CamError):
            write_atomic(self.marker_file, dump_line(data).encode("utf-8", "backslashreplace"))

    def clear_marker(self) -> None:
        """What it stood for is done."""
        remove_file(self.marker_file)

    def audit(self) -> list[dict[str, Any]]:
        """The audit log's rows, oldest first, the predecessor's too; what cannot be read is left out."""
        with contextlib.suppress(CamError):
            data = read_bytes(self.audit_file) or b""
            return [row for line in data.split(b"\n") if (row := _row(line)) is not None]
        return []

    def seen_until(self) -> float:
        """When the last session of this worktree that was looked at had been written; 0 if none was.

        Seconds since the epoch, by the file's own time.
        """
        try:
            return float(json.loads(read_bytes(self._seen_file) or b"0"))
        except (CamError, ValueError, TypeError):
            return 0.0

    def note_seen(self, until: float) -> None:
        """A session was looked at that had been written at ``until``; a lost note means one more look."""
        if until > self.seen_until():
            with contextlib.suppress(CamError):
                make_folder(os.path.dirname(self._seen_file))
                write_quick(self._seen_file, json.dumps(until).encode())

    @property
    def _seen_file(self) -> str:
        layout = self.layout
        return layout.cache_file("continuity", str(layout.project), f"{layout.worktree}.json")

    @property
    def _journal(self) -> str:
        return self._own("journal.json")

    def _own(self, *parts: str) -> str:
        return os.path.join(self.layout.project_folder, "continuity", *parts)

    def _read(self) -> tuple[LayerFile, LayerFile]:
        local = self.local_files()
        path = local[0] if local else self.local_target("", replace=True)
        return self._layer(PROJECT, self.project_file), self._layer(LOCAL, path)

    def _layer(self, layer: str, path: str) -> LayerFile:
        try:
            if layer == LOCAL:
                self._check_folder()
            data = read_bytes(path)
        except CamError as error:
            return LayerFile(layer, path, problem=str(error))
        if data is None:
            return LayerFile(layer, path)
        written = self._note(layer)
        is_foreign = layer == LOCAL and written is None and self.project.is_git
        if is_foreign and is_tracked(os.path.dirname(path), os.path.basename(path)):
            return LayerFile(
                layer, path, problem=f"{path} is tracked by git, so it may be anybody's; not read"
            )
        return LayerFile(layer, path, data, parse(data), *(written or (None,)))

    def _note(self, layer: str) -> tuple[frozenset[str], frozenset[str]] | None:
        try:
            raw = json.loads(read_bytes(self.note_file(layer)) or b"")
            return frozenset(raw["items"]), frozenset(raw.get("removed", ()))
        except (CamError, ValueError, KeyError, TypeError):
            return None

    def _check_folder(self) -> None:
        """Refuse a folder that a link leads out of the worktree.

        Raises:
            IntegrityError: it does.
        """
        folder = self.local_folder
        if os.path.realpath(folder) != os.path.join(os.path.realpath(self.project.root), *_tail(folder)):
            raise IntegrityError(f"{folder} leads elsewhere through a link; remove the link")

    def _commit(self, write: Write) -> None:
        local = [p for p, data in write.files.items() if data is not None and self._is_local(p)]
        exclude, excluded = None, None
        if local:
            self._check_folder()
            if self.project.is_git:
                exclude, excluded = self._exclude()
        staged: dict[str, str] = {}
        try:
            for path, data in write.files.items():
                if data is not None:
                    staged[path] = stage_file(path, data, _TAG)
            write_atomic(self._journal, self._journal_data(write))
        except BaseException:
            for temporary in staged.values():
                unlink_quietly(temporary)
            self._restore_exclude(exclude, excluded)
            raise
        self._exchange(write, staged)
        if write.audit:
            try:
                append_to_log(self.audit_file, write.audit)
            except CamError as error:
                remove_file(self._journal)
                raise AuditWriteError(str(error), tuple(write.files)) from error
        remove_file(self._journal)

    def _exchange(self, write: Write, staged: Mapping[str, str]) -> None:
        """Put the files into place; if the machine refuses one, all are as they were."""
        before: dict[str, bytes | None] = {}
        try:
            for path, data in write.files.items():
                before[path] = read_bytes(path)
                if data is None:
                    take_away(path)
                else:
                    put_in_place(staged[path], path)
        except CamError:
            for path, old in before.items():
                if read_bytes(path) != old:
                    remove_file(path) if old is None else write_atomic(path, old)
            for temporary in staged.values():
                unlink_quietly(temporary)
            remove_file(self._journal)
            raise

    def _journal_data(self, write: Write) -> bytes:
        rows = [[path, _text(read_bytes(path)), _text(data)] for path, data in write.files.items()]
        return json.dumps({"files": rows, "audit": write.audit}).encode()

    def _recover(self) -> None:
        """Finish what a crashed writer began; a file that a person changed since stays as it is."""
        data = read_bytes(self._journal)
        if data is None:
            return
        try:
            raw = json.loads(data)
            rows = [(str(path), _bytes(old), _bytes(new)) for path, old, new in raw["files"]]
            audit = str(raw["audit"])
        except (ValueError, KeyError, TypeError):
            make_folder(self.layout.cache_file())
            rename_file(self._journal, self.layout.cache_file("broken-continuity.json"))
            return
        for path, old, new in rows:
            if self._is_ours(path) and read_bytes(path) == old != new:
                if new is None:
                    take_away(path)
                else:
                    write_atomic(path, new)
        if audit and not tail_holds(self.audit_file, audit):
            append_to_log(self.audit_file, audit)
        remove_file(self._journal)

    def _is_local(self, path: str) -> bool:
        return path.startswith(self.local_folder + os.sep)

    def _is_ours(self, path: str) -> bool:
        """Whether a journal may name ``path``: other worktrees' local files too."""
        if path.startswith(self._own() + os.sep):
            return True
        folder = os.path.dirname(path)
        return tuple(_tail(folder)) in ((_CODEX_FOLDER, "sessions"), (_CLAUDE_FOLDER, "sessions"))

    def _exclude(self) -> tuple[str | None, bytes | None]:
        """See that git leaves the folder alone; the exclude file and what it held, None if nothing was added.

        Raises:
            IntegrityError: the exclude file is no regular file.
            StoreUnavailableError: the machine refuses.
        """
        repository = find_repository(self.project.root)
        if repository is None:
            return None, None
        path = os.path.join(repository.common_dir, "info", "exclude")  # worktrees have no file of their own
        name = f"{_CLAUDE_FOLDER}/sessions" if self.style == "claude" else _CODEX_FOLDER
        data = read_bytes(path)
        if any(_excludes(line, name) for line in (data or b"").decode("utf-8", "replace").split("\n")):
            return None, None
        append_line(path, f"/{name}/")
        return path, data

    def _restore_exclude(self, path: str | None, data: bytes | None) -> None:
        if path is None:
            return
        with contextlib.suppress(CamError, OSError):
            if data is None:
                remove_file(path)
            else:
                os.truncate(path, len(data))


def check_scope(text: str) -> str:
    """``project``, ``project-local`` or ``both``.

    Raises:
        InvalidInputError: it is none of them.
    """
    if text not in SCOPES:
        raise InvalidInputError(f"no scope {text!r}; scopes are {', '.join(SCOPES)}")
    return text


def cleared_data(files: Mapping[str, bytes]) -> bytes:
    """What ``clear`` keeps of the files it takes away."""
    return json.dumps({"files": {path: _text(data) for path, data in files.items()}}).encode()


def cleared_files(data: bytes) -> dict[str, bytes]:
    """The files that ``cleared_data`` kept; nothing where that cannot be read."""
    try:
        found = {str(path): _bytes(text) for path, text in json.loads(data)["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {path: data for path, data in found.items() if data is not None}


def note_data(items: frozenset[str], removed: frozenset[str]) -> bytes:
    """The note of which items cam wrote."""
    return dump_line({"items": sorted(items), "removed": sorted(removed)}).encode()


def _with_problem(layer: LayerFile, problem: str) -> LayerFile:
    return LayerFile(
        layer.layer,
        layer.path,
        layer.data,
        layer.file,
        layer.written,
        layer.removed,
        layer.problem or problem,
    )


def _marker(raw: Mapping[str, Any]) -> Marker | None:
    stage = str(raw.get("stage") or raw.get("failedStage") or "")
    scope = str(raw.get("scope") or "both")
    rollout = str(raw.get("rollout") or raw.get("rolloutPath") or "")
    if stage not in ("summary-write", "audit-write") or scope not in SCOPES or not rollout:
        return None
    return Marker(
        stage,
        scope,
        str(raw.get("worktree") or raw.get("worktreeId") or ""),
        str(raw.get("session") or raw.get("sourceSessionId") or ""),
        rollout,
        str(raw.get("at") or raw.get("recordedAt") or ""),
        str(raw.get("error") or raw.get("failureMessage") or ""),
        tuple(str(p) for p in raw.get("written") or raw.get("writtenPaths") or ()),
    )


def _row(line: bytes) -> dict[str, Any] | None:
    """One audit row; the predecessor's under our names."""
    try:
        raw = json.loads(line)
    except ValueError:
        return None
    if not isinstance(raw, dict):
        return None
    if "generatedAt" not in raw:
        return raw if "at" in raw and "action" in raw else None
    trigger = str(raw.get("trigger") or "manual-save")
    mode = str(raw.get("writeMode") or "merge")
    return {
        "at": raw["generatedAt"],
        "action": "refresh" if mode == "replace" else "save",
        "trigger": trigger,
        "mode": mode,
        "scope": raw.get("scope") or "both",
        "session": raw.get("sourceSessionId") or "",
        "rollout": raw.get("rolloutPath") or "",
        "confidence": raw.get("confidence") or ("low" if raw.get("fallbackReason") else "medium"),
        "warnings": raw.get("warnings") or [],
        "counts": raw.get("evidenceCounts") or {},
        "written": raw.get("writtenPaths") or [],
        "worktree": raw.get("worktreeId") or "",
    }


def _excludes(line: str, name: str) -> bool:
    """Whether a line of the exclude file leaves out the folder ``name``."""
    pattern = line.strip().strip("/")
    top = name.partition("/")[0]
    return pattern in (name, top, f"{name}/*", f"{name}/**", f"**/{name}", f"{top}/sessions")


def _tail(folder: str) -> list[str]:
    return folder.split(os.sep)[-2:]


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else str(text).encode("utf-8", "surrogateescape")
