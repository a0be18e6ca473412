"""The second half of a wrapped session: receipt → sync → continuity, when Codex has ended.

Trouble here is a warning and the next run catches up; Codex's exit code stands whatever happens.
"""

import os
from collections.abc import Sequence
from dataclasses import replace

from cam.context import Context
from cam.core.evidence import RolloutMeta
from cam.formats.receipts import InjectionReceipt
from cam.setup.projects import note_project
from cam.startup.flow import record_use, run_data
from cam.startup.handoff import text_for_session
from cam.startup.ledger import read_ledger, write_ledger
from cam.startup.receipt import receipt_of
from cam.startup.started import sessions_of_run
from cam.store.identity import resolve_project
from cam.store.read_once import ReadOnce
from cam.store.receipts import add_receipt
from cam.sync.extractors import choose_extractor
from cam.sync.flow import SyncRequest, pending_sessions, sync_project
from cam.sync.result import SyncReport
from cam.system.background import start_cam
from cam.system.clock import now_stamp
from cam.system.codex import codex_version, version_name
from cam.wrapper.arguments import CodexCall
from cam.wrapper.flow import Opened, Prepared
from cam.wrapper.live import LiveReader
from cam.wrapper.result import SessionOutcome
from cam.wrapper.stopped import note_stop

MOST_SECONDS = 2.0
"""What would keep the prompt waiting for longer is done in the background."""
_BYTES_A_SECOND = 150_000_000
_SECONDS_A_SESSION = 0.1


def finish(
    opened: Opened,
    prepared: Prepared | None,
    started: float,
    *,
    learn: bool,
    live: LiveReader | None = None,
) -> SessionOutcome:
    """Receipt, sync and continuity, after Codex has ended.

    Args:
        opened: the session.
        prepared: None if nothing was injected.
        started: when Codex was started, seconds since the epoch.
        learn: whether to sync.
        live: what read the session while it ran.

    Raises:
        CamError: the store cannot be read or written.
    """
    context, call = opened.context, opened.call
    if context is None or not call.is_session:
        return SessionOutcome()
    if live is not None:
        live.finish()
    source = context.sessions()
    sessions = ReadOnce(source, live.evidence if live is not None else None)
    receipts = _receipts(opened, context, prepared, sessions, started) if prepared is not None else ()
    report, background = None, 0
    if learn and not call.is_ephemeral:
        also = tuple(str(note["session"]) for note in sessions_of_run(prepared.run)) if prepared else ()
        report, background = _learn(context, sessions, also)
    if learn:
        note_project(context.layout.root, context.project)
    stopped, trouble = ((), "") if call.is_ephemeral or not learn else note_stop(context, sessions, started)
    warnings = tuple(
        f"session {s.meta.session} was not read: {s.error}" for s in (report.failed if report else ())
    )
    warnings += (trouble,) if trouble else ()
    repeated = _repeated(context, receipts) if receipts or report else 0
    return SessionOutcome(receipts, report, background, warnings, stopped, repeated)


def _receipts(
    opened: Opened, context: Context, prepared: Prepared, sessions: ReadOnce, started: float
) -> tuple[InjectionReceipt, ...]:
    """One receipt per session that the wrapper started."""
    call, strategy = opened.call, prepared.injection.strategy
    if strategy == "none" or not prepared.payload.text:
        return ()
    if strategy == "session-flag-hook":
        notes = sessions_of_run(prepared.run)
        why = _hook_error(prepared.run)
        own = "" if notes else str(_own_session(context, call, prepared, sessions, started)["session"])
        if not (notes or own or why):
            return ()  # no session was started: Codex refused the arguments, or nobody said anything
        receipts = [_receipt(prepared, sessions, note, ephemeral=call.is_ephemeral) for note in notes]
        if not notes:
            why = why or _other_release(opened, context, prepared) or "Codex did not call the hook"
            receipts = [InjectionReceipt(own, strategy, arrived=False, reason=why)]
    else:
        note = _own_session(context, call, prepared, sessions, started)
        if not note["session"] and not call.is_ephemeral:
            return ()  # no session was started
        receipts = [_receipt(prepared, sessions, note, ephemeral=call.is_ephemeral)]
        if receipts[0].arrived:
            cache = context.layout.cache_file()
            _, ledger = text_for_session(
                run_data(prepared.payload), call.action, read_ledger(cache, prepared.known_session)
            )
            write_ledger(cache, receipts[0].session, ledger)
    layout, at, codex = context.layout, now_stamp(), version_name(prepared.version)
    receipts = [
        replace(r, at=at, codex=codex, project=layout.project or "", worktree=layout.worktree or "")
        for r in receipts
    ]
    for receipt in receipts:
        add_receipt(context.layout, receipt)
    return tuple(receipts)


def _other_release(opened: Opened, context: Context, prepared: Prepared) -> str:
    """What to say where Codex was updated between the look at its release and its start."""
    now = codex_version(opened.program, context.layout.cache_file("codex-version.json"))
    if now in (None, prepared.version):
        return ""
    was, is_now = version_name(prepared.version), version_name(now)
    return f"Codex was updated from {was} to {is_now} just then; the next session is told again"


def _repeated(context: Context, receipts: Sequence[InjectionReceipt]) -> int:
    """Count use anew; how many of the records that these sessions were told their user said again."""
    use = record_use(context.layout)
    began = min((r.at for r in receipts), default="")
    told = {key for receipt in receipts for key in receipt.refs}
    return sum(key in told and each.last_repeated >= began for key, each in use.items()) if began else 0


def _own_session(
    context: Context, call: CodexCall, prepared: Prepared, sessions: ReadOnce, started: float
) -> dict[str, object]:
    """The session that ran, where no hook named it: the newest of this project written since the start."""
    path = ""
    for meta in sessions.sessions():
        is_ours = meta.session == call.session or meta.cwd is None or _is_in(context, meta.cwd)
        if meta.is_primary and is_ours and os.path.getmtime(meta.path) >= started:
            path = meta.session
    return {"session": path, "source": call.action, "text": prepared.told}


def _is_in(context: Context, folder: str) -> bool:
    project = resolve_project(folder, context.environment.home) if os.path.isdir(folder) else None
    return (project.id if project else None) == (context.project.id if context.project else None)


def _receipt(
    prepared: Prepared, sessions: ReadOnce, note: dict[str, object], *, ephemeral: bool
) -> InjectionReceipt:
    session, text, source = str(note["session"]), str(note["text"]), str(note["source"])
    strategy = prepared.injection.strategy
    if not text:
        return InjectionReceipt(session, strategy, source, reason="there was nothing new to tell")
    if ephemeral:
        return InjectionReceipt(session, strategy, source, reason="an ephemeral session leaves no rollout")
    meta = sessions.find(session)
    if meta is None:
        return InjectionReceipt(session, strategy, source, arrived=False, reason="there is no rollout of it")
    if _seconds(sessions, meta, os.path.getsize(meta.path)) > MOST_SECONDS:
        return InjectionReceipt(session, strategy, source, reason="the session is read in the background")
    lines = {e.key: e.said for e in prepared.payload.entries if e.line in text}
    return receipt_of(sessions.read(meta), text, strategy=strategy, source=source, lines=lines)


def _hook_error(run: str) -> str:
    try:
        with open(os.path.join(run, "hook-error.txt"), encoding="utf-8") as file:
            return f"the hook failed: {file.read(500)}"
    except OSError:
        return ""


def _learn(context: Context, sessions: ReadOnce, also: tuple[str, ...]) -> tuple[SyncReport, int]:
    """Sync now what is soon done, and leave a mountain, or a wait for a model, to a process of its own.

    Args:
        context: of the folder the session worked in.
        sessions: where rollouts are.
        also: sessions that the hook saw here, wherever they began.
    """
    home = context.environment.home
    extractor = choose_extractor(context.settings, context.environment)
    if context.project is not None:
        pending = pending_sessions(context.store, sessions, context.project, home, also)
        asks = extractor.name != "heuristic" and bool(pending)
        if asks or sum(_seconds(sessions, meta, size) for meta, size in pending) > MOST_SECONDS:
            start_cam(context.project.root, ["sync", "--json"])
            return SyncReport(), len(pending)
    request = SyncRequest(also=also)
    return sync_project(context.store, sessions, extractor, context.project, home, request), 0


def _seconds(sessions: ReadOnce, meta: RolloutMeta, size: int) -> float:
    """About how long a session's sync takes."""
    if not meta.is_primary or sessions.is_ready(meta):
        return _SECONDS_A_SESSION
    return _SECONDS_A_SESSION + max(0, size) / _BYTES_A_SECOND
