"""cam audit."""

import sys
import time
from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json
from cam.core.errors import InvalidInputError
from cam.render.audit import audit_data, audit_text
from cam.setup.audit import audit_history, audit_repository, audit_store
from cam.system.git import find_repository


def audit_command(
    repo: Annotated[bool, typer.Option("--repo", help="Also the files of this repository.")] = False,
    history: Annotated[bool, typer.Option("--history", help="Also everything git keeps of it.")] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Look for secrets and personal paths; exit 0 clean, 4 findings, 1 if something could not be read."""
    respond("audit", as_json, Access.READS, lambda: _audit(repo, history, as_json, cwd))


def _audit(repo: bool, history: bool, as_json: bool, cwd: str | None) -> Answer:
    context = enter_context(cwd)
    environment = context.environment
    repository = find_repository(environment.cwd) if repo or history else None
    if history and repository is None:
        raise InvalidInputError(f"{environment.cwd} is in no git repository; leave --history out")
    told = _Progress(is_on=not as_json and sys.stderr.isatty())
    areas = [audit_store(context.layout.root, environment.home, told)]
    if repo:
        areas.append(audit_repository(environment.cwd, repository, environment.home, told))
    if history and repository is not None:
        areas.append(audit_history(repository, environment.home, told))
    told.end()
    code = 4 if any(a.count for a in areas) else 1 if any(a.unread for a in areas) else 0
    return Answer(audit_data(areas), audit_text(areas), exit_code=code)


class _Progress:
    """One line on a terminal, rewritten twice a second."""

    def __init__(self, *, is_on: bool) -> None:
        self._is_on = is_on
        self._last = time.monotonic()
        self._shown = False

    def __call__(self, what: str, count: int) -> None:
        if self._is_on and time.monotonic() - self._last > 0.5:
            self._last, self._shown = time.monotonic(), True
            sys.stderr.write(f"\rreading {what}: {count:,} ")
            sys.stderr.flush()

    def end(self) -> None:
        """Wipe the line."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
