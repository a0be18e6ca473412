"""cam memory: overview, list, show, diff, startup; memory_edit has what changes records."""

from collections.abc import Collection
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cam.cli import memory_edit
from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context, global_cwd
from cam.cli.options import Cwd, Json, Scope, Topic
from cam.cli.plain_list import list_answer
from cam.cli.transfer import export_command, import_command
from cam.context import Context, open_context
from cam.core.records import MemoryRef, MemoryScope
from cam.render.records import (
    list_data,
    overview_data,
    overview_text,
    problem_data,
    record_text,
)

if TYPE_CHECKING:
    from cam.store.continuity import Marker

app = typer.Typer(invoke_without_command=True, pretty_exceptions_enable=False)

app.command("export")(export_command)
app.command("import")(import_command)

_NEWEST = 5


@app.callback(invoke_without_command=True)
def overview(
    context: typer.Context,
    startup: Annotated[
        bool, typer.Option("--startup", help="Print what Codex would be told now, byte for byte.")
    ] = False,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """What is remembered here: counts by scope and topic, and what was learned last."""
    if context.invoked_subcommand is None:
        respond("memory", as_json, Access.READS, lambda: _startup(cwd) if startup else _overview(cwd))


@app.command("list")
def list_command(
    scope: Scope = None,
    state: Annotated[
        str, typer.Option("--state", metavar="STATE", help="active, archived or all.")
    ] = "active",
    topic: Topic = None,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """List records, sorted by ref."""
    respond(
        "memory.list", as_json, Access.READS, lambda: list_answer(enter_context(cwd), scope, state, topic)
    )


@app.command("show")
def show_command(
    ref: Annotated[str, typer.Argument(metavar="REF", help="As 'cam memory list' prints it.")],
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="DATE", help="As it was then; a date alone means the end of that day."),
    ] = None,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Show one record whole: text, sources, dates."""
    respond(
        "memory.show",
        as_json,
        Access.READS,
        lambda: _show(ref, cwd) if at is None else _show_at(ref, at, cwd),
    )


@app.command("diff")
def diff_command(
    since: Annotated[str, typer.Option("--since", metavar="DATE", help="A date, a time, or an age: 7d.")],
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """What was added, changed, archived and deleted since then."""
    respond("memory.diff", as_json, Access.READS, lambda: _diff(since, cwd))


memory_edit.register(app)


def _overview(cwd: str | None) -> Answer:
    from cam.render.continuity import marker_data, marker_text

    context = open_context(global_cwd(cwd))
    count = context.store.count(newest=_NEWEST)
    data = overview_data(count.topics, count.problems, context.layout.root, context.off_reason)
    files, marker = _around(context)
    data |= {"instruction_files": files, "continuity_pending": marker_data(marker)}
    text = overview_text(data, count.newest) + (f"\n\n{marker_text(marker)}" if marker else "")
    return Answer(data, text, _notes(context, {scope for scope, _, _ in count.topics}))


def _around(context: Context) -> tuple[list[dict[str, Any]], "Marker | None"]:
    """Instruction files that apply here, and what waits to be done of the last session."""
    from cam.setup.instruction_files import fallback_names, instruction_files
    from cam.store.continuity import ContinuityStore

    found = instruction_files(
        context.environment.cwd, context.project, context.environment.home, context.codex_home,
        fallback_names(context.codex_home),
    )  # fmt: skip
    marker = None
    if context.project is not None:
        marker = ContinuityStore(context.store, context.project).marker()
    return [asdict(file) for file in found], marker


def _startup(cwd: str | None) -> Answer:
    from cam.continuity.start import start_lines
    from cam.render.startup import startup_data
    from cam.startup.flow import startup_payload

    context = enter_context(cwd)
    lines = start_lines(context, context.project, context.settings)
    payload, problems = startup_payload(context.layout, context.settings, lines)
    off = context.off_reason
    data = startup_data(payload) | {"problems": problem_data(problems), "off": off or None}
    if off:
        return Answer(data, "", (f"cam: nothing would be told: {off}",))
    if not payload.text:
        return Answer(data, "", ("cam: nothing would be told: nothing is remembered here",))
    return Answer(data, payload.text, tuple(f"cam: {p}" for p in problems), verbatim=True)


def _show(ref: str, cwd: str | None) -> Answer:
    from cam.memory.lookup import find

    wanted = MemoryRef.parse(ref)
    snapshot = enter_context(cwd).store.near([wanted])
    record = find(snapshot.records, wanted)
    # An id that stands twice is two records of one ref: both are shown, and the problem says where they are.
    records = [r for r in snapshot.records if r.ref == record.ref]
    first, *others = list_data(records, ())["entries"]
    if not others:
        return Answer(first, record_text(record))
    notes = tuple(f"cam: {p}" for p in snapshot.problems)
    return Answer(first | {"same_id": others}, "\n".join(map(record_text, records)), notes)


def _show_at(ref: str, at: str, cwd: str | None) -> Answer:
    from cam.memory.dates import moment
    from cam.memory.flow import told_of
    from cam.store.story import record_at
    from cam.system.clock import now_stamp

    wanted = MemoryRef.parse(ref)
    when = moment(at, now=now_stamp(), end_of_day=True)
    record = record_at(told_of(enter_context(cwd).store, wanted), wanted, when)
    return Answer(list_data([record], ())["entries"][0], record_text(record))


def _diff(since: str, cwd: str | None) -> Answer:
    from cam.memory.dates import moment
    from cam.memory.flow import headlines
    from cam.render.history import difference_data, difference_text
    from cam.store.story import difference
    from cam.system.clock import now_stamp

    when = moment(since, now=now_stamp())
    later = [line for line in headlines(enter_context(cwd).store) if line.at > when]
    found = difference([event for line in later if (event := line.whole()) is not None], when)
    return Answer(lambda: difference_data(when, found), lambda: difference_text(when, found))


def _notes(context: Context, scopes: Collection[MemoryScope]) -> tuple[str, ...]:
    """Warnings, and where this repository's memory seems to be when no scope of its own has any."""
    if any(scope is not MemoryScope.GLOBAL for scope in scopes):
        return _warnings(context.settings.warnings)
    from cam.cli.project import offer_notes

    return (*_warnings(context.settings.warnings), *offer_notes(context))


def _warnings(warnings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"cam: {warning}" for warning in warnings)
