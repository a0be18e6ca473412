"""Continuity: read, save, refresh, clear. The one place of this room that touches the disk."""

import os
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import partial

from cam.continuity.plan import SavePlan, plan_save
from cam.continuity.result import Cleared, Saved, Status
from cam.continuity.start import AUTO, OFF, open_continuity
from cam.continuity.summarizer import Summarizer
from cam.continuity.summary import summarize
from cam.core.errors import CamError, InvalidInputError, NotFoundError, WriteRefusedError
from cam.core.evidence import RolloutEvidence, RolloutMeta
from cam.core.seams import SessionSource
from cam.core.settings import Settings
from cam.formats.json_line import dump_line
from cam.store.continuity import (
    LOCAL,
    PROJECT,
    AuditWriteError,
    ContinuityStore,
    LayerFile,
    Marker,
    Write,
    cleared_data,
    cleared_files,
)
from cam.store.identity import Project, resolve_project
from cam.store.memory_store import MarkdownStore
from cam.system.clock import now_seconds, now_stamp
from cam.system.files import explain, read_bytes, written_at
from cam.system.git import find_repository, remotes

AFTER_SESSION = "wrapper-auto-save"
"""In the audit line of what a wrapper saves, or has saved in the background."""

MOST_AGE = 14 * 24 * 3600
"""Seconds after which a session that nobody looked at is no place where anybody stopped."""


def status(store: ContinuityStore, settings: Settings) -> Status:
    """How it stands; nothing is created."""
    rows = store.audit()
    layers = store.read()
    return Status(
        settings["session_continuity"], layers, store.marker(), rows[-1] if rows else None, len(rows)
    )


def save(
    store: ContinuityStore,
    sessions: SessionSource,
    settings: Settings,
    home: str,
    *,
    scope: str = "",
    rollout: str | None = None,
    refresh: bool = False,
    summarizer: Summarizer = summarize,
    trigger: str = "",
) -> Saved:
    """Save where a session stopped.

    Args:
        store: the layers.
        sessions: where rollouts are.
        settings: ``session_continuity`` must not be ``off``.
        home: the user's home folder.
        scope: ``project``, ``project-local`` or ``both``; "" for both, without files in a folder outside git.
        rollout: this file; else the one that was left to do, else the latest (refresh: the one last saved).
        refresh: take the place of what earlier sessions left instead of merging.
        summarizer: who says where it stopped.
        trigger: what the audit line names; "" for a person's wish.

    Raises:
        InvalidInputError: the rollout is none, or belongs to another project.
        NotFoundError: there is no session of this project.
        WriteRefusedError: continuity is off.
        StoreUnavailableError: the machine refuses; a marker stays for the next run.
    """
    if settings["session_continuity"] == OFF:
        raise WriteRefusedError("session continuity is off (cam config set session_continuity auto)")
    meta, chosen = _choose(store, sessions, home, scope or "both", rollout, refresh=refresh)
    trigger = trigger or ("manual-refresh" if refresh else "manual-save")
    return _save(store, sessions, home, meta, chosen, scope, trigger, refresh=refresh, summarizer=summarizer)


def save_after_session(
    store: MarkdownStore,
    sessions: SessionSource,
    project: Project | None,
    settings: Settings,
    home: str,
    *,
    since: float | None,
    running: Collection[str] = (),
    summarizer: Summarizer = summarize,
) -> tuple[Saved, ...]:
    """Save what the wrapped session left, and before it what an earlier run could not.

    That is what its marker names, and the newest session before that nobody looked at: its wrapper was
    killed, or Codex ran without one.

    Args:
        store: of the project.
        sessions: where rollouts are.
        project: None where there is nothing to save.
        settings: nothing is saved unless ``session_continuity`` is ``auto``.
        home: the user's home folder.
        since: when Codex was started, seconds since the epoch; None where no session was wrapped.
        running: ids of sessions whose own wrapper will save them.
        summarizer: who says where it stopped.

    Raises:
        CamError: the machine refuses; a marker stays for the next run.
    """
    if project is None or settings["session_continuity"] != AUTO:
        return ()
    layers = open_continuity(store, project, settings)
    save_it = partial(_save, layers, sessions, home, summarizer=summarizer)
    done: list[Saved] = []
    latest = None if since is None else latest_since(layers, sessions, home, since)
    marker = layers.marker()
    if marker is not None and (latest is None or marker.rollout != latest.path):
        left = _readable(sessions, marker.rollout)
        if left is None:
            layers.clear_marker()  # its session is gone: nothing can be done about it any more
        elif left.is_primary and _belongs(layers, left, home):
            scope = "" if marker.scope == "both" else marker.scope
            done.append(save_it(left, "marker", scope, "wrapper-recovery"))
    unseen = _newest_unseen(layers, sessions, home, latest, running)
    if unseen is not None:
        done.append(save_it(unseen, "unseen", "", "wrapper-recovery"))
    if latest is not None:
        done.append(save_it(latest, "latest", "", AFTER_SESSION))
    return tuple(done)


def save_cut_off(
    store: ContinuityStore, sessions: SessionSource, home: str, rollouts: Iterable[str]
) -> Saved | None:
    """Before a session starts: save the newest one whose wrapper was killed; None where there is none.

    Args:
        store: the layers.
        sessions: where rollouts are.
        home: the user's home folder.
        rollouts: of sessions whose wrappers are gone, the newest first.

    Raises:
        CamError: the machine refuses; a marker stays.
    """
    seen = store.seen_until()
    for path in rollouts:
        if written_at(path) <= seen:
            continue
        meta = _readable(sessions, path)
        if meta is not None and meta.is_primary and _belongs(store, meta, home, worktree=True):
            return _save(store, sessions, home, meta, "unseen", "", "wrapper-recovery")
    return None


def latest_since(
    store: ContinuityStore, sessions: SessionSource, home: str, since: float
) -> RolloutMeta | None:
    """The person's own session in this worktree that was written last, if it was since ``since``."""
    ours = [(written_at(m.path), m.started_at, m) for m in _own_sessions(store, sessions.sessions(), home)]
    fresh = [row for row in ours if row[0] >= since - 1]
    return max(fresh, key=lambda row: row[:2])[2] if fresh else None


def _newest_unseen(
    store: ContinuityStore,
    sessions: SessionSource,
    home: str,
    latest: RolloutMeta | None,
    running: Collection[str],
) -> RolloutMeta | None:
    """The newest session here that was written after what was last looked at, no older than two weeks."""
    least = max(store.seen_until(), now_seconds() - MOST_AGE)
    fresh = (m for m in sessions.sessions() if written_at(m.path) > least)
    ours = [
        (written_at(m.path), m)
        for m in _own_sessions(store, fresh, home)
        if m.session not in running and (latest is None or m.session != latest.session)
    ]
    newest = max(ours, key=lambda row: row[0], default=None)
    if newest is None or (latest is not None and newest[0] > written_at(latest.path)):
        return None  # it goes on beside the session that ended; its turn comes
    return newest[1]


def clear(store: ContinuityStore, scope: str) -> Cleared:
    """Take the files away; what they held is kept for ``undo_clear``.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    gone: dict[str, bytes] = {}

    def plan(project: LayerFile, _local: LayerFile) -> Write:
        if scope in (PROJECT, "both") and project.data is not None:
            gone[project.path] = project.data
            _keep_note(store, PROJECT, gone)
        if scope in (LOCAL, "both"):
            for path in store.local_files():
                data = read_bytes(path)
                if data is not None:
                    gone[path] = data
            _keep_note(store, LOCAL, gone)
        if not gone:
            return Write()
        files: dict[str, bytes | None] = dict.fromkeys(gone)
        files[store.cleared_file] = cleared_data(gone)
        return Write(files, _audit_line(store, "clear", scope, tuple(_shown(gone))))

    store.change(plan)
    store.note_seen(now_seconds())
    return Cleared(tuple(_shown(gone)))


def undo_clear(store: ContinuityStore) -> Cleared:
    """Bring back what the last ``clear`` took away; what was saved since is kept in its place.

    Raises:
        NotFoundError: nothing was cleared.
        StoreUnavailableError: the machine refuses.
    """
    back: dict[str, bytes] = {}

    def plan(_project: LayerFile, _local: LayerFile) -> Write:
        back.update(cleared_files(read_bytes(store.cleared_file) or b""))
        if not back:
            raise NotFoundError("nothing was cleared here that could be brought back")
        now = {path: data for path in back if (data := read_bytes(path)) is not None}
        files: dict[str, bytes | None] = dict(back)
        files[store.cleared_file] = cleared_data(now) if now else None
        return Write(files, _audit_line(store, "restore", "both", tuple(_shown(back))))

    store.change(plan)
    return Cleared(tuple(_shown(back)), is_undo=True)


def _save(
    store: ContinuityStore,
    sessions: SessionSource,
    home: str,
    meta: RolloutMeta,
    chosen: str,
    scope: str,
    trigger: str,
    *,
    refresh: bool = False,
    summarizer: Summarizer = summarize,
) -> Saved:
    """Read one session and save it, or leave a marker that says what could not be done."""
    mode = "replace" if refresh else "merge"
    until = written_at(meta.path)
    wanted = scope or "both"
    try:
        evidence = sessions.read(meta)
    except OSError as error:
        raise InvalidInputError(f"{meta.path} cannot be read: {explain(error)}") from None
    summary = summarizer(_own_part(store, evidence, home), store.project.root)
    saved = Saved("refresh" if refresh else "save", mode, wanted, meta, chosen, summary)
    if not meta.is_primary:
        note = "a sub-agent's session: looked at, not saved"
        return replace(saved, persisted=False, note=note)
    now = now_stamp()
    local_path: str | None = store.local_target(now[:10], replace=refresh)
    if not (store.project.is_git or scope or store.local_files()):
        local_path = None  # nothing is written into a folder outside git unless somebody asks
    written: list[str] = []

    def plan(project: LayerFile, local: LayerFile) -> Write:
        files = plan_save(
            SavePlan(
                summary, wanted, refresh, meta.session, (store.project.id, store.project.worktree),
                meta.git_branch, now, local_path,
                {layer: store.note_file(layer) for layer in (PROJECT, LOCAL)},
            ),
            _readable_layer(project),
            _readable_layer(local),
        )  # fmt: skip
        written[:] = _shown(files)
        if not written:
            return Write()
        return Write(files, _audit_line(store, saved.action, wanted, tuple(written), saved, trigger))

    marker = Marker("summary-write", wanted, store.project.worktree, meta.session, meta.path, now, "")
    try:
        store.change(plan)
    except AuditWriteError as error:
        store.set_marker(
            replace(marker, stage="audit-write", error=str(error), written=tuple(_shown(error.written)))
        )
        raise
    except CamError as error:
        store.set_marker(replace(marker, error=str(error)))
        raise
    left = store.marker()
    if left is not None and left.fits(wanted) and left.rollout == meta.path:
        store.clear_marker()
    store.note_seen(until)
    return replace(saved, written=tuple(written))


def _readable_layer(layer: LayerFile) -> LayerFile:
    """The layer, if it can be written.

    Raises:
        WriteRefusedError: what stands there could not be read, so it is not overwritten.
    """
    if layer.problem and layer.data is None:
        raise WriteRefusedError(f"{layer.problem}; nothing was saved")
    return layer


def _choose(
    store: ContinuityStore,
    sessions: SessionSource,
    home: str,
    scope: str,
    rollout: str | None,
    *,
    refresh: bool,
) -> tuple[RolloutMeta, str]:
    """The session to read, and why this one; what was chosen and cannot be read is an error."""
    if rollout is not None:
        meta = _named(sessions, rollout)
        if not _belongs(store, meta, home):
            raise InvalidInputError(
                f"{rollout} belongs to another project ({meta.cwd or meta.git_remote or 'unknown'}), "
                f"not to {store.project.root}"
            )
        return meta, "rollout"
    marker = store.marker()
    if marker is not None and marker.fits(scope):
        return _named(sessions, marker.rollout), "marker"
    rows = [
        r for r in store.audit() if r.get("rollout") and scope in (r.get("scope"), "both", PROJECT, LOCAL)
    ]
    last = next((str(r["rollout"]) for r in reversed(rows) if _fits(r, scope)), None)
    if refresh and last is not None:
        return _named(sessions, last), "audit"
    latest = max(
        _own_sessions(store, sessions.sessions(), home),
        key=lambda m: (m.started_at, written_at(m.path)),
        default=None,
    )
    if latest is not None:
        return latest, "latest"
    if last is not None:
        return _named(sessions, last), "audit"
    raise NotFoundError(f"there is no session of {store.project.root} yet; run Codex there first")


def _fits(row: dict[str, object], scope: str) -> bool:
    return row.get("scope") == "both" or scope in (row.get("scope"), "both")


def _named(sessions: SessionSource, path: str) -> RolloutMeta:
    if not os.path.isfile(path):
        raise NotFoundError(f"there is no rollout {path}")
    try:
        meta = sessions.header(path)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {explain(error)}") from None
    if meta is None or not (meta.started_at or meta.cwd or meta.git_remote):
        raise InvalidInputError(f"{path} is no rollout: its first line is no session header")
    return meta


def _readable(sessions: SessionSource, path: str) -> RolloutMeta | None:
    try:
        return _named(sessions, path)
    except CamError:
        return None


def _own_sessions(
    store: ContinuityStore, sessions: Iterable[RolloutMeta], home: str
) -> Iterable[RolloutMeta]:
    """Of ``sessions`` the person's own in this worktree."""
    known: dict[str | None, bool] = {}
    for meta in sessions:
        if meta.is_primary:
            key = meta.cwd or meta.git_remote
            if key not in known:
                known[key] = _belongs(store, meta, home, worktree=True)
            if known[key]:
                yield meta


def _belongs(store: ContinuityStore, meta: RolloutMeta, home: str, *, worktree: bool = False) -> bool:
    """Whether a session ran in the project (in this worktree of it)."""
    if meta.cwd is None:
        repository = find_repository(store.project.root)
        return (
            meta.git_remote is not None and repository is not None and meta.git_remote in remotes(repository)
        )
    if not os.path.isdir(meta.cwd):
        return meta.cwd == store.project.root or meta.cwd.startswith(store.project.root.rstrip("/") + "/")
    found = resolve_project(meta.cwd, home)
    if found is None or found.id != store.project.id:
        return False
    return not worktree or found.worktree == store.project.worktree


def _own_part(store: ContinuityStore, evidence: RolloutEvidence, home: str) -> RolloutEvidence:
    """The evidence without turns that ran in another project."""
    known: dict[str, bool] = {}
    for item in evidence.items:
        if item.cwd is not None and item.cwd not in known:
            known[item.cwd] = _belongs(store, replace(evidence.meta, cwd=item.cwd), home)
    if all(known.values()):
        return evidence
    items = tuple(i for i in evidence.items if i.cwd is None or known[i.cwd])
    return replace(evidence, items=items)


def _keep_note(store: ContinuityStore, layer: str, gone: dict[str, bytes]) -> None:
    note = read_bytes(store.note_file(layer))
    if note is not None and gone:
        gone[store.note_file(layer)] = note


def _shown(paths: Iterable[str]) -> list[str]:
    """The files that a person knows: without cam's own notes."""
    return [path for path in paths if not path.endswith(".json")]


def _audit_line(
    store: ContinuityStore,
    action: str,
    scope: str,
    written: tuple[str, ...],
    saved: Saved | None = None,
    trigger: str = "manual",
) -> str:
    row: dict[str, object] = {
        "at": now_stamp(),
        "action": action,
        "trigger": trigger,
        "scope": scope,
        "project": store.project.id,
        "worktree": store.project.worktree,
        "written": list(written),
    }
    if saved is not None:
        row |= {
            "mode": saved.mode,
            "session": saved.meta.session,
            "rollout": saved.meta.path,
            "chosen": saved.chosen,
            "extractor": saved.summary.extractor,
            **({"fallback_reason": why} if (why := saved.summary.fallback_reason) else {}),
            "confidence": saved.summary.confidence,
            "warnings": list(saved.summary.warnings),
            "counts": saved.summary.counts,
        }
    return dump_line(row)
