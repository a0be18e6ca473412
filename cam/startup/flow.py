"""Compile the payload from the store, and keep what a session needs of it in a private file."""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from cam.core.candidates import Candidate, why_not_now
from cam.core.errors import CamError
from cam.core.problems import Problem
from cam.core.records import MemoryState
from cam.startup.compile import HIGHLIGHT_SHARE, TopicRef, compile_payload
from cam.startup.handoff import ACTIVE_FILE
from cam.startup.result import StartupPayload
from cam.startup.selection import SCOPE_ORDER, Hints
from cam.store.layout import StoreLayout
from cam.store.runs import OWNER_FILE, old_runs
from cam.store.start_index import StartIndex
from cam.system.clock import now_stamp
from cam.system.files import list_folder, make_folder, read_bytes, remove_file, write_quick

if TYPE_CHECKING:
    from cam.core.seams import SessionSource
    from cam.core.settings import Settings
    from cam.startup.stats import Stats
    from cam.startup.use import RecordUse

RADAR_DAYS = 30
"""So long a rule that the user had to repeat stands in front."""


def startup_payload(
    layout: StoreLayout,
    settings: "Settings | Mapping[str, Any]",
    continuity: Sequence[str] = (),
    relevant: Callable[[], Sequence[str]] | None = None,
    *,
    keep: bool = True,
) -> tuple[StartupPayload, tuple[Problem, ...]]:
    """What Codex would be told now, and what could not be read.

    Args:
        layout: of the project's store.
        settings: the budgets.
        continuity: where the last session stopped, the most useful line first.
        relevant: keys of records that fit the prompt, best first; asked for only where not all can be told.
        keep: whether the index is written where it was brought up to date; not where another does it at once.

    Raises:
        CamError: the store cannot be read at all.
    """
    index = StartIndex(layout)
    lines, tokens = settings["max_startup_lines"], settings["max_startup_tokens"]
    fits = relevant is None or _fits(index.candidates, lines, tokens)
    payload = compile_payload(
        index.candidates,
        index.notes,
        _topic_refs(layout, index.candidates),
        folder=layout.root,
        now=now_stamp(),
        max_lines=lines,
        max_tokens=tokens,
        continuity=continuity,
        max_continuity_lines=settings["max_session_continuity_lines"],
        hints=_read_hints(layout, () if fits or relevant is None else relevant()),
        line_of=index.line,
    )
    if keep:
        index.save()
    return payload, tuple(index.problems)


def write_run(
    layout: StoreLayout,
    payload: StartupPayload,
    parent: str | None = None,
    budget: tuple[int, int] | None = None,
    *,
    use_index: bool = True,
) -> str:
    """Write the run file and clear old ones; return the run's folder.

    Where the store cannot be written, the folder is a private one among the temporary files.

    Args:
        layout: whose cache holds the folder.
        payload: what may be told.
        parent: the session that a fork on the command line starts from, where it is named.
        budget: lines and tokens of the payload, where what a compaction loses is to come back; else None.
        use_index: whether what fits a prompt is found through the sidecar.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    from cam.startup.started import owner_data  # noqa: PLC0415 - the wrapper's alone

    _clear_old_runs(layout)
    folder = _run_folder(layout)
    place = [layout.project, layout.worktree]
    run = told_data(payload) | {"parent": parent, "budget": budget, "place": place, "index": use_index}
    write_quick(os.path.join(folder, ACTIVE_FILE), "\n".join(payload.active).encode())
    write_quick(os.path.join(folder, "run.json"), json.dumps(run, separators=(",", ":")).encode())
    write_quick(os.path.join(folder, OWNER_FILE), owner_data(layout))
    return folder


def run_data(payload: StartupPayload) -> dict[str, Any]:
    """What ``handoff.text_for_session`` looks at where a session goes on."""
    return told_data(payload) | {"active": list(payload.active)}


def told_data(payload: StartupPayload) -> dict[str, Any]:
    """The run file's content; the keys of all records, which are many, stand beside it."""
    return {
        "text": payload.text,
        "entries": {e.key: [e.digest, e.line] for e in payload.entries},
        "continuity": [line for b in payload.blocks if b.name == "continuity" for line in b.lines],
    }


def record_use(layout: StoreLayout) -> "dict[str, RecordUse]":
    """How often each record was of use, by key; what the next start needs of it is put into its sidecar."""
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415 - Codex must not wait for these imports

    from cam.startup.use import count_use, repeated_since  # noqa: PLC0415
    from cam.store.receipts import read_receipts, read_repeats  # noqa: PLC0415

    use = count_use(read_receipts(layout), read_repeats(layout), layout.project or "", layout.worktree or "")
    since = (datetime.now(UTC) - timedelta(days=RADAR_DAYS)).strftime("%Y-%m-%dT%H:%M:%S")
    hints = {
        "repeated": repeated_since(use, since),
        "used_at": {key: each.last_used for key, each in use.items() if each.last_used},
    }
    with suppress(CamError):  # the next start goes by recency alone
        make_folder(layout.cache_file("start"))
        write_quick(hints_file(layout), json.dumps(hints, separators=(",", ":")).encode())
    return use


def hints_file(layout: StoreLayout) -> str:
    """Where it stands what the next start needs to know of use."""
    return layout.cache_file("start", f"{layout.project or 'global'}~{layout.worktree or ''}.use.json")


def memory_stats(layout: StoreLayout) -> "Stats":
    """What memory cost in this project and what it was good for.

    Raises:
        CamError: the store cannot be read at all.
    """
    from cam.startup.stats import stats_of  # noqa: PLC0415 - see record_use
    from cam.store.receipts import read_receipts  # noqa: PLC0415

    index = StartIndex(layout)
    receipts = [r for r in read_receipts(layout) if r.project == (layout.project or "")]
    stats = stats_of(receipts, record_use(layout), index.candidates, lambda c: index.line(c.summary))
    index.save()
    return stats


def rebuild_receipts(layout: StoreLayout, sessions: "SessionSource", owns: Callable[[str], bool]) -> int:
    """Receipts for sessions that have none, from their rollouts; how many.

    Args:
        layout: of the project's store.
        sessions: where rollouts are.
        owns: whether a folder belongs to the project.

    Raises:
        StoreUnavailableError: the machine refuses.
    """
    from cam.startup.rebuild import receipt_from, record_finder  # noqa: PLC0415 - see record_use
    from cam.store.receipts import add_receipt, read_receipts  # noqa: PLC0415

    known = {r.session for r in read_receipts(layout)}
    index = StartIndex(layout)
    find = record_finder(index.candidates, index.line)
    made = 0
    for meta in sessions.sessions():
        if not meta.is_primary or meta.session in known or meta.cwd is None or not owns(meta.cwd):
            continue
        try:
            receipt = receipt_from(sessions.read(meta), find, layout.project or "", layout.worktree or "")
        except OSError:
            continue  # it is gone, or cannot be read: what it was told stays unknown
        if receipt is not None:
            made += add_receipt(layout, receipt, is_told=False)
    index.save()
    return made


def _read_hints(layout: StoreLayout, relevant: Sequence[str]) -> Hints:
    try:
        known = json.loads(read_bytes(hints_file(layout)) or b"{}")
        return Hints(relevant, frozenset(known.get("repeated", ())), known.get("used_at", {}))
    except (CamError, ValueError, TypeError, AttributeError):
        return Hints(relevant)


def _fits(candidates: Sequence[Candidate], lines: int, tokens: int) -> bool:
    """Whether all of them can be told whatever their order: they take no more than is kept for them."""
    if len(candidates) > lines * HIGHLIGHT_SHARE - 1:
        return False
    size = sum(len(c.summary.encode("utf-8", "surrogatepass")) + len(c.topic) + 24 for c in candidates)
    return size < tokens * 4 * HIGHLIGHT_SHARE - 64


def _topic_refs(layout: StoreLayout, candidates: Sequence[Candidate]) -> list[TopicRef]:
    now = now_stamp()
    counts = Counter(map(itemgetter(0, 1), candidates))
    gone = (c for c in candidates if (c.valid_from or c.valid_until) and why_not_now(c, now))
    counts.subtract(map(itemgetter(0, 1), gone))
    folders = {
        scope: os.path.relpath(layout.topics_folder(scope, MemoryState.ACTIVE), layout.root)
        for scope in {scope for scope, _ in counts}
    }
    return [
        TopicRef(scope, topic, f"{folders[scope]}/{topic}.md", counts[scope, topic])
        for scope, topic in sorted(counts, key=lambda key: (SCOPE_ORDER.index(key[0]), key[1]))
        if counts[scope, topic]
    ]


def _run_folder(layout: StoreLayout) -> str:
    name = f"{int(time.time())}-{os.urandom(4).hex()}"
    folder = layout.cache_file("runs", name)
    try:
        make_folder(folder)
    except CamError:  # a file system that is read-only, or a file that is in the way
        from cam.store.runs import passing_store  # noqa: PLC0415 - seldom

        folder = os.path.join(passing_store(time.time()), "cache", "runs", name)
        make_folder(folder)
    return folder


def _clear_old_runs(layout: StoreLayout) -> None:
    with suppress(CamError):
        for folder in old_runs(layout.cache_file(), time.time()):
            with suppress(CamError, OSError):  # another start clears them too
                for file in list_folder(folder):
                    remove_file(os.path.join(folder, file))
                os.rmdir(folder)
