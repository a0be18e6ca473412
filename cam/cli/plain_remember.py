"""cam remember without Typer, whose import costs as much as the work; what is no plain line is left to it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cam.cli.answer import Access, Answer, emit, respond
from cam.cli.entry import GlobalOptions
from cam.cli.keys import who_writes
from cam.cli.plain import last, read_plain
from cam.context import Context, open_context

if TYPE_CHECKING:
    from cam.memory.result import Remembered

_VALUES = ("--scope", "--topic", "--detail", "--cwd")


def run_plain(arguments: Sequence[str], given: GlobalOptions) -> None:
    """Run ``cam remember`` and end the process, if the line is plain: one text and known options.

    Args:
        arguments: behind ``remember``.
        given: cam's own options before the verb.
    """
    options = read_plain(arguments, _VALUES)
    if options is None or len(options.get("text", ())) != 1:
        return
    (text,) = options["text"]

    def work() -> Answer:
        context = open_context(last(options, "--cwd") or given.cwd)
        emit("", tuple(f"cam: {warning}" for warning in context.settings.warnings))
        who_writes(context.environment, None, allow_write=False)
        return remember_answer(
            context, text, last(options, "--scope"), last(options, "--topic"), options.get("--detail", [])
        )

    respond("remember", "--json" in options, Access.WITH_KEYS, work)


def remember_answer(
    context: Context, text: str, scope: str | None, topic: str | None, details: Sequence[str]
) -> Answer:
    """Remember ``text`` and say what came of it.

    Raises:
        CamError: what is wrong with the words, or the store.
    """
    from cam.core.records import check_topic, parse_scope
    from cam.memory.flow import remember

    where = parse_scope(scope or context.settings["default_scope"])
    done = remember(context.store, text, details, where, check_topic(topic) if topic else None)
    _note_place(context)
    return remembered_answer(done)


def remembered_answer(done: "Remembered") -> Answer:
    """What came of it, in words and as data."""
    from cam.core.display import listed
    from cam.formats.record_data import record_to_data

    changes = [
        {"kind": str(c.operation.kind), "ref": str(c.ref), "reason": c.operation.reason}
        for c in done.plan.changes
    ]
    data = record_to_data(done.record) | {
        "is_new": done.is_new,
        "changes": changes,
        "warnings": list(done.warnings),
    }
    verb = "Remembered" if done.is_new else "Known already"
    text_out = f"{verb}: {listed(done.record.summary)}\n  {done.record.ref}"
    return Answer(data, text_out, tuple(f"cam: {w}" for w in done.warnings))


def _note_place(context: Context) -> None:
    """Have the store remember where the project stands, unless it does: one look into a small file."""
    project = context.project
    if project is None:
        return
    try:
        with open(f"{context.layout.project_folder}/project.json", encoding="utf-8") as file:
            if f'"{project.worktree}"' in file.read():
                return
    except (OSError, ValueError):
        pass
    from cam.setup.projects import note_place

    note_place(context.layout.root, project)
