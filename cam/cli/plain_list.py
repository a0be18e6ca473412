"""cam memory list without Typer: of ten thousand records it would be a fifth of the time."""

from collections.abc import Sequence

from cam.cli.answer import Access, Answer, emit, respond
from cam.cli.entry import GlobalOptions
from cam.cli.plain import last, read_plain
from cam.context import Context, open_context
from cam.core.errors import InvalidInputError
from cam.core.records import MemoryState, check_topic, parse_scope
from cam.render.records import list_data, list_text

_VALUES = ("--scope", "--state", "--topic", "--cwd")


def run_plain(arguments: Sequence[str], given: GlobalOptions) -> None:
    """Run ``cam memory list`` and end the process, if the line is plain: known options and nothing else.

    Args:
        arguments: behind ``memory list``.
        given: cam's own options before the verb.
    """
    options = read_plain(arguments, _VALUES)
    if options is None or "text" in options:
        return

    def work() -> Answer:
        context = open_context(last(options, "--cwd") or given.cwd)
        emit("", tuple(f"cam: {warning}" for warning in context.settings.warnings))
        state = last(options, "--state")
        return list_answer(
            context, last(options, "--scope"), "active" if state is None else state, last(options, "--topic")
        )

    respond("memory.list", "--json" in options, Access.READS, work)


def list_answer(context: Context, scope: str | None, state: str, topic: str | None) -> Answer:
    """The records of a scope, a state and a topic, sorted by ref.

    Raises:
        InvalidInputError: there is no such scope, state or topic.
        StoreUnavailableError: the store cannot be read.
    """
    if state not in (*MemoryState, "all"):
        raise InvalidInputError(f"no state {state!r}; states are active, archived and all")
    wanted = parse_scope(scope) if scope else None
    if topic is not None:
        check_topic(topic)
    snapshot = context.store.view()
    records = [
        r
        for r in snapshot.records
        if wanted in (None, r.scope) and state in (r.state, "all") and topic in (None, r.topic)
    ]
    records.sort(key=lambda r: str(r.ref))
    notes = tuple(f"cam: {p}" for p in snapshot.problems)
    is_all = len(records) == len(snapshot.records)

    def text() -> str:
        return "" if snapshot.problems and not records else list_text(records, is_all=is_all)

    return Answer(lambda: list_data(records, snapshot.problems), text, notes)
