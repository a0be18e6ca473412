"""What a hook leaves to a process of its own: sync, where the session stopped, and the receipt.

One at a time for each store: who comes while another learns leaves its wish and goes. There is a time limit,
and a crash costs nothing, because the next start finds what was not learned.
"""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import FrameType

from cam.context import Context, open_context
from cam.continuity.flow import save_after_session
from cam.continuity.summarizer import asks_codex, choose_summarizer
from cam.core.display import counted
from cam.core.errors import CamError
from cam.core.evidence import RolloutMeta
from cam.core.seams import MemoryExtractor, SessionSource
from cam.hosts.hook_compile import make_ready
from cam.setup.projects import note_project
from cam.startup.flow import record_use
from cam.startup.receipt import receipt_of
from cam.startup.started import sessions_of_run, started_here
from cam.store.hook_notes import (
    Wanted,
    forget_wanted,
    log_line,
    note_fired,
    one_at_a_time,
    take_wanted,
    want,
    wanted,
)
from cam.store.identity import Project
from cam.store.layout import StoreLayout
from cam.store.read_once import ReadOnce
from cam.store.receipts import add_receipt
from cam.sync.extractors import choose_extractor
from cam.sync.flow import SyncRequest, sync_project
from cam.system.clock import now_stamp
from cam.system.files import safe_name, unlink_quietly

MOST_SECONDS = 600
"""The whole work ends then, with whatever it started."""

_FLUSH = 60.0  # a rollout may have been written this long before its last event
_RECEIPT_SECONDS = 24 * 3600


def main(wish: str) -> int:
    """Learn what is to be learned, here and wherever somebody asked meanwhile.

    Args:
        wish: JSON with ``event``, ``session``, ``cwd`` and ``at``.
    """
    signal.signal(signal.SIGALRM, _out_of_time)
    signal.alarm(MOST_SECONDS)
    asked = json.loads(wish)
    try:
        context = open_context(asked["cwd"])
    except CamError:
        return 0  # the folder is gone
    if context.project is None or context.off_reason:
        return 0
    cache = context.layout.cache_file()
    try:
        if asked["event"] != "session-start":  # that one noted it itself
            note_fired(cache, context.project.id, asked["event"], asked["session"])
        here = context.project
        want(cache, here.id, here.worktree, asked["cwd"], asked["event"], asked["session"], asked["at"])
        is_again = True
        while wanted(cache):
            with one_at_a_time(cache) as is_mine:
                if not is_mine:
                    return 0
                for one in take_wanted(cache, again=is_again):
                    _try(one, cache)
            is_again = False
    except Exception as error:
        log_line(cache, f"{asked['event']} failed: {type(error).__name__}: {error}")
    return 0


def _try(one: Wanted, cache: str) -> None:
    """Learn; what fails is noted, and wanted again when the next event comes."""
    try:
        _learn(one)
    except Exception as error:
        log_line(cache, f"{one.cwd}: not learned: {type(error).__name__}: {error}")
    else:
        forget_wanted(one)


def _learn(one: Wanted) -> None:
    """Learn in one project."""
    try:
        context = open_context(one.cwd)
    except CamError:
        return
    if context.project is None or context.off_reason:
        return
    layout = context.layout
    events = one.sessions
    # A model's answer is paid for: at a turn's end none is asked, but at the session's or the next start.
    waits = ("session-start", "stop") if asks_codex(context.settings) else ("session-start",)
    unread = {session for session, (event, _) in events.items() if event in waits}
    ended = {session: at for session, (_, at) in events.items() if session not in unread}
    source = _Without(context.sessions(), frozenset(unread))
    if any(event == "session-start" or event not in waits for event, _ in events.values()):
        _read(context, context.project, source, ended, unread)
    told = [session for session, (event, _) in events.items() if event != "session-start"]
    if _receipts(layout, source, told):
        record_use(layout)
    with contextlib.suppress(CamError):
        make_ready(one.cwd)


def _read(
    context: Context, project: Project, source: ReadOnce, ended: Mapping[str, float], unread: set[str]
) -> None:
    """Sync, and where the session stopped; ``ended`` by when it did, ``unread`` goes on."""
    layout, home = context.layout, context.environment.home

    def extractor() -> MemoryExtractor:
        return choose_extractor(context.settings, context.environment)

    report = sync_project(context.store, source, extractor, project, home, SyncRequest(also=tuple(ended)))
    note_project(layout.root, project)
    learned = sum(len(s.plan.changes) for s in report.sessions)
    if report.sessions:
        log_line(
            layout.cache_file(),
            f"{project.id}: {counted(len(report.sessions), 'session')} read, {counted(learned, 'change')}",
        )
    for failed in report.failed:
        log_line(layout.cache_file(), f"{project.id}: {failed.meta.session} was not read: {failed.error}")
    running = {s.session for s in started_here(layout) if s.runs}
    with contextlib.suppress(CamError):  # a marker stays, and doctor shows it
        save_after_session(
            context.store, source, project, context.settings, home,
            since=min(ended.values()) - _FLUSH if ended else None, running=running | unread,
            summarizer=choose_summarizer(context.settings, context.environment),
        )  # fmt: skip


def _receipts(layout: StoreLayout, sessions: SessionSource, ended: Iterable[str]) -> int:
    """What arrived of what the sessions were told, once for each; a told session without an end is let go."""
    folder, made = layout.cache_file("hooks", "told"), 0
    for note in sessions_of_run(folder):
        session = str(note["session"])
        meta = sessions.find(session) if session in ended else None
        if meta is not None:
            receipt = receipt_of(
                sessions.read(meta), str(note["text"]), strategy="installed-hook", source=str(note["source"]),
                lines=dict(note.get("lines") or {}),
            )  # fmt: skip
            project, worktree = layout.project or "", layout.worktree or ""
            receipt = replace(
                receipt, at=now_stamp(), codex=meta.cli_version, project=project, worktree=worktree
            )
            if not add_receipt(layout, receipt):
                continue  # the store was busy: the next call tries again
            made += 1
        if meta is not None or float(note.get("at") or 0) < time.time() - _RECEIPT_SECONDS:
            unlink_quietly(os.path.join(folder, f"session-{safe_name(session)}.json"))
    return made


class _Without(ReadOnce):
    """The sessions but for those that have only just begun."""

    def __init__(self, inner: SessionSource, begun: frozenset[str]) -> None:
        super().__init__(inner)
        self._begun = begun

    def sessions(self) -> Iterable[RolloutMeta]:
        """Headers of all others, oldest first."""
        return tuple(m for m in super().sessions() if m.session not in self._begun)


def _out_of_time(_number: int, _frame: FrameType | None) -> None:
    sys.exit(124)  # unwinds, so that a Codex that was asked ends too
