"""What commands that read many sessions share: a time to begin at, and a bar on a terminal."""

import re
import sys
import time
from collections.abc import Iterator
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
    if not (show and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        "{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    task, began = None, time.monotonic()

    def step(now: Any) -> None:
        nonlocal task
        if task is None and now.total < 3 and time.monotonic() - began < 1:
            return
        if task is None:
            progress.start()
            task = progress.add_task("", total=now.bytes_total)
        words = f"{now.done} of {now.total} sessions"
        progress.update(task, completed=now.bytes_done, description=words)

    try:
        yield step
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
