"""What commands that read many sessions share: a time to begin at, and a bar on a terminal."""

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cam.core.errors import InvalidInputError
from cam.store.layout import StoreLayout

if TYPE_CHECKING:
    from datetime import datetime

Since = Annotated[
    str | None,
    typer.Option("--since", metavar="DATE|7d", help="Only sessions in which something was said since then."),
]

Count = Callable[[int, int], None]

_MOMENT = 1.0
"""Seconds after which a person wants to know how long it will be."""

_RATE = "{task.fields[rate]}"
_AGO = re.compile(r"(\d{1,5})\s*([hdw])", re.IGNORECASE)
_HOURS = {"h": 1, "d": 24, "w": 24 * 7}


def since_stamp(text: str | None, now: "datetime | None" = None) -> str:
    """``--since`` as ISO-8601 UTC; "" where it was not given.

    Args:
        text: ``12h``, ``7d``, ``2w``, or a date or time (of this machine's zone where it names none).
        now: the present, for tests.

    Raises:
        InvalidInputError: it is none of these.
    """
    if text is None:
        return ""
    from datetime import UTC, datetime, timedelta

    ago = _AGO.fullmatch(text.strip())
    try:
        if ago is not None:
            moment = (now or datetime.now(UTC)) - timedelta(hours=int(ago[1]) * _HOURS[ago[2].lower()])
        else:
            moment = datetime.fromisoformat(text.strip())
        utc = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInputError(
            f"--since: {text!r} is no date; write 2026-11-30, 2026-11-30T10:00, 7d, 12h or 2w"
        ) from None
    return utc.strftime("%Y-%m-%dT%H:%M:%S.000Z")


@contextmanager
def bar(*, show: bool = True) -> Iterator[Any]:
    """A function that takes each ``Step``: a bar with rate and time left on a terminal, silence elsewhere."""
    began = time.monotonic()
    with _bar(show=show) as advance:

        def step(now: Any) -> None:
            if now.total >= 3 or time.monotonic() - began >= _MOMENT:
                advance(f"{now.done} of {now.total} sessions", now.bytes_done, now.bytes_total)

        yield step if advance else None


@contextmanager
def counting_bar(words: str, *, is_bytes: bool = False, show: bool = True) -> Iterator[Count]:
    """A function that takes how much is done, and of how much: a bar where that takes longer than a moment.

    Args:
        words: what is done.
        is_bytes: whether bytes are counted, not records.
        show: whether there may be a bar at all.
    """
    began = time.monotonic()
    with _bar(show=show, is_bytes=is_bytes) as advance:

        def step(done: int, total: int) -> None:
            if advance and time.monotonic() - began >= _MOMENT:
                advance(words, done, total)

        yield step


@contextmanager
def _bar(*, show: bool, is_bytes: bool = True) -> Iterator[Any]:
    """A function that takes words, what is done and the whole; None where nobody looks."""
    if not (show and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    counts = (DownloadColumn(), TransferSpeedColumn()) if is_bytes else (MofNCompleteColumn(), _RATE)
    columns = ("{task.description}", BarColumn(), *counts, TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task, began, before = None, 0.0, 0

    def advance(words: str, done: int, total: int) -> None:
        nonlocal task, began, before
        if task is None:
            began, before = time.monotonic(), done
            progress.start()
            task = progress.add_task("", total=total, rate="")
        rate = (done - before) / max(time.monotonic() - began, 0.001)
        progress.update(task, completed=done, total=total, description=words, rate=f"{rate:,.0f}/s")

    try:
        yield advance
    finally:
        progress.stop()


def is_off_in(layout: StoreLayout, folders: tuple[str, ...]) -> Any:
    """A function that says whether cam is off for a project.

    Args:
        layout: of any project of the store.
        folders: folders in which cam is off, absolute.
    """
    import os

    real = tuple(os.path.realpath(folder).rstrip("/") for folder in folders)

    def is_off(project: Any) -> bool:
        root = os.path.realpath(project.root) if project.root else ""
        return os.path.exists(StoreLayout(layout.root, project.id, project.worktree).off_file) or any(
            root == folder or root.startswith(folder + "/") for folder in real
        )

    return is_off
