"""cam recall: finding memory again, read without Typer, which costs more to import than a search takes.

One table says what each command takes; ``cam.cli.recall_grammar`` reads the line by it. What stands on the
line is checked before anything of the store is read.
"""

import gc
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from cam.cli.answer import Access, Answer, respond
from cam.cli.entry import GlobalOptions
from cam.cli.recall_grammar import Command, Option, page, parse, whole_number
from cam.core.errors import InvalidInputError

if TYPE_CHECKING:
    from cam.core.problems import Problem
    from cam.core.ranking import Document
    from cam.core.records import MemoryRecord
    from cam.core.settings import Settings
    from cam.recall.flow import Recall
    from cam.recall.request import Expansion, Filters
    from cam.store.layout import StoreLayout
    from cam.store.sidecar import DocumentOf

ALIASES = {"get": "details"}

_MANY = 5_000
"""Records that are read and indexed in a second or so."""

_FILTERS = (
    Option("--scope", "SCOPE", "global, project or project-local."),
    Option("--topic", "TOPIC", "Only this topic."),
    Option("--type", "TYPE", "memory, idea or knowledge."),
    Option("--source", "KIND", "session, person, file, agent or import."),
    Option("--session", "ID", "Only what this Codex session said."),
    Option("--from", "DATE", "Not created before (YYYY-MM-DD or a time with its zone)."),
    Option("--to", "DATE", "Not created after; a date alone includes that day."),
)
_STRICT = Option("--strict", "", "Fail where anything of the store cannot be read.")


def run_recall(arguments: Sequence[str], given: GlobalOptions) -> NoReturn:
    """Run a command of the group; the process ends with its exit code.

    Args:
        arguments: behind ``recall``.
        given: cam's own options before the verb.
    """
    gc.disable()  # the process is gone before there is anything to collect; looking costs a tenth of a search
    typed = next((word for word in arguments if word != "--json"), "--help")
    name = ALIASES.get(typed, typed)
    command = COMMANDS.get(name)

    def work() -> Answer:
        if name in ("--help", "-h"):
            return Answer({"help": _group_page()}, _group_page())
        if command is None:
            raise InvalidInputError(
                f"no command {name!r}; there are {', '.join(COMMANDS)} (cam recall --help)"
            )
        words, options = parse(command, name, arguments[list(arguments).index(typed) + 1 :])
        if "--help" in options:
            return Answer({"help": page(name, command)}, page(name, command))
        if given.cwd is not None:
            options.setdefault("--cwd", given.cwd)
        return command.run(words, options)

    respond(f"recall.{name}" if command else "recall", "--json" in arguments, Access.READS, work)


def _search(words: Sequence[str], options: Mapping[str, str]) -> Answer:
    from cam.recall.request import SearchRequest
    from cam.render.recall import search_data, search_text

    if "--limit" in options and ("--page" in options or "--page-size" in options):
        raise InvalidInputError("--limit N is page 1 of size N: it does not go with --page and --page-size")
    size = whole_number(options, "--page-size", whole_number(options, "--limit", 8, 1, 100), 1, 100)
    request = SearchRequest(
        words[0],
        _filters(options),
        options.get("--state", "auto"),
        whole_number(options, "--page", 1, 1, 1_000_000),
        size,
        options.get("--match", "any"),
        _weight(options),
        _expansion(options),
    )
    recall, warnings = _open(options)
    result = recall.answer(request, adapter=options.get("--adapter", ""))
    return Answer(search_data(result), search_text(result), _notes(warnings, result.problems))


def _timeline(words: Sequence[str], options: Mapping[str, str]) -> Answer:
    from cam.recall.request import TimelineRequest
    from cam.render.recall_timeline import timeline_data, timeline_text

    request = TimelineRequest(
        words[0],
        _filters(options),
        whole_number(options, "--before", 5, 0, 100),
        whole_number(options, "--after", 5, 0, 100),
        options.get("--state", "auto"),
        whole_number(options, "--page", 1, 1, 1_000_000),
        whole_number(options, "--page-size", 20, 1, 100),
    )
    recall, warnings = _open(options)
    result = recall.timeline(request)
    return Answer(timeline_data(result), timeline_text(result), _notes(warnings, result.problems))


def _details(words: Sequence[str], options: Mapping[str, str]) -> Answer:
    from cam.recall.request import read_refs
    from cam.render.recall import details_data, details_text

    read_refs(tuple(words))
    recall, warnings = _open(options)
    result = recall.details(words)
    return Answer(details_data(result), details_text(result), _notes(warnings, result.problems))


def _export(words: Sequence[str], options: Mapping[str, str]) -> Answer:
    from cam.memory.transfer import Export, export_json, export_markdown
    from cam.recall.request import read_refs
    from cam.render.recall import export_data
    from cam.system.clock import now_stamp

    read_refs(tuple(words))
    form = options.get("--format", "markdown")
    if form not in {"json", "markdown"}:
        raise InvalidInputError(f"no format {form!r}; it is json or markdown")
    recall, warnings = _open(options)
    result = recall.details(words)
    records = tuple(dict.fromkeys(item.record for item in result.items if item.record.topic != "memory"))
    document = (export_json if form == "json" else export_markdown)(Export(records, {}), None, now_stamp())
    return Answer(export_data(result), document.rstrip("\n"), _notes(warnings, result.problems))


def _status(_: Sequence[str], options: Mapping[str, str]) -> Answer:
    from cam.render.recall_status import status_data, status_text

    recall, warnings = _open(options)
    status = recall.status()
    return Answer(status_data(status), status_text(status), _notes(warnings, status.problems))


def _rebuild(_: Sequence[str], options: Mapping[str, str]) -> Answer:
    from cam.cli.long_work import counting_bar
    from cam.core.errors import IntegrityError
    from cam.render.recall_status import rebuilt_data, rebuilt_text

    if "--from-canonical" not in options:
        raise InvalidInputError("recall rebuild needs --from-canonical: the Markdown is what it reads")
    recall, warnings = _open(options)
    with counting_bar("indexing records", show="--json" not in options) as progress:
        rebuilt = recall.rebuild(progress)
    code = 0 if rebuilt.is_equivalent else IntegrityError.exit_code
    return Answer(rebuilt_data(rebuilt), rebuilt_text(rebuilt), _notes(warnings, rebuilt.problems), code)


def _benchmark(_: Sequence[str], options: Mapping[str, str]) -> Answer:
    from os.path import join

    from cam.recall.benchmark import run_benchmark
    from cam.render.recall_status import benchmark_text
    from cam.system.clock import now_stamp

    if "--labels" not in options or "--output" not in options:
        raise InvalidInputError("recall benchmark needs --labels FILE and --output FILE")
    layout, settings, cwd = _locate(options)
    command = f"cam recall benchmark --labels {options['--labels']} --output {options['--output']}"
    report = run_benchmark(
        layout,
        join(cwd, options["--labels"]),
        join(cwd, options["--output"]),
        now=now_stamp(),
        command=command,
    )
    return Answer(report, benchmark_text(report, options["--output"]), _notes(settings.warnings, ()))


def _expansion(options: Mapping[str, str]) -> "Expansion | None":
    """What links are followed; the budgets are checked in any case.

    Raises:
        InvalidInputError: no ref, or a budget out of bounds.
    """
    from cam.recall.request import MAX_NODES, MAX_TOKENS, Expansion

    nodes = whole_number(options, "--max-nodes", 10, 1, MAX_NODES)
    tokens = whole_number(options, "--max-tokens", 2000, 1, MAX_TOKENS)
    return Expansion(options["--expand"], nodes, tokens) if "--expand" in options else None


def _open(options: Mapping[str, str]) -> tuple["Recall", tuple[str, ...]]:
    """The memory that the options name, and the settings' warnings.

    Raises:
        IntegrityError: ``--memory-root`` names no folder.
    """
    from cam.recall.flow import open_recall
    from cam.system.clock import now_stamp

    layout, settings, _ = _locate(options)
    recall = open_recall(
        layout, settings, now=now_stamp(), strict="--strict" in options, document_of=_noticing()
    )
    return recall, settings.warnings


def _noticing() -> "DocumentOf":
    """What of a record may be found; who waits at a terminal is told why, where many must be read."""
    from cam.recall.source import visible_document

    if sys.stderr is None or not sys.stderr.isatty():
        return visible_document
    count = 0

    def document_of(record: "MemoryRecord") -> "Document":
        nonlocal count
        count += 1
        if count == _MANY:
            sys.stderr.write("cam: indexing what is remembered; the next search will not wait for it …\n")
        return visible_document(record)

    return document_of


def _locate(options: Mapping[str, str]) -> tuple["StoreLayout", "Settings", str]:
    """The store that the options name, the settings, and the folder that is worked in.

    Raises:
        IntegrityError: ``--memory-root`` names no folder.
    """
    from os.path import isdir

    from cam.core.errors import IntegrityError
    from cam.store.locate import enter, locate

    root = options.get("--memory-root")
    environment = enter(options.get("--cwd"))
    if root and not isdir(environment.expand(root)):
        raise IntegrityError(f"--memory-root: there is no folder {root}")
    _, settings, layout = locate(environment, memory_root=root)
    return layout, settings, environment.cwd


def _notes(warnings: Sequence[str], problems: Sequence["Problem"]) -> tuple[str, ...]:
    return tuple(f"cam: {note}" for note in (*warnings, *problems))


def _filters(options: Mapping[str, str]) -> "Filters":
    """The filters of a line; every value is checked.

    Raises:
        InvalidInputError: a value that is none.
    """
    from cam.core.records import RecordType, check_topic, parse_scope
    from cam.recall.request import Filters

    kind = options.get("--type")
    if kind is not None and kind not in tuple(RecordType):
        raise InvalidInputError(f"no type {kind!r}; types are {', '.join(RecordType)}")
    topic = options.get("--topic")
    return Filters(
        scope=parse_scope(options["--scope"]) if "--scope" in options else None,
        topic=topic if topic in (None, "memory") else check_topic(topic),
        type=RecordType(kind) if kind else None,
        source=options.get("--source"),
        session=options.get("--session"),
        since=options.get("--from"),
        until=options.get("--to"),
    )


def _weight(options: Mapping[str, str]) -> float:
    from cam.recall.request import MAX_RECENCY

    text = options.get("--recency", "0")
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 <= weight <= MAX_RECENCY:
        raise InvalidInputError(f"--recency takes a number from 0 to {MAX_RECENCY:,.0f}, not {text!r}")
    return weight


COMMANDS = {
    "search": Command(
        "QUERY",
        (1, 1),
        (
            *_FILTERS,
            Option("--state", "STATE", "auto (active, then archived), active, archived or all.", "auto"),
            Option("--limit", "N", "Cards at most, 1 to 100.", "8"),
            Option("--page", "N", "Which page, from 1.", "1"),
            Option("--page-size", "N", "Cards on a page, 1 to 100.", "8"),
            Option("--match", "HOW", "any word of the query, or all.", "any"),
            Option("--recency", "W", "Weight of newness among matches; half of it is gone in 30 days.", "0"),
            Option("--expand", "REF", "Also what this record is linked to, and so on."),
            Option("--max-nodes", "N", "Records of an expansion, 1 to 100.", "10"),
            Option("--max-tokens", "N", "Tokens of an expansion, 1 to 50,000.", "2000"),
            _STRICT,
        ),
        "Search what is remembered: one card per record, best first, with why it matched.",
        _search,
    ),
    "timeline": Command(
        "REF|DATE",
        (1, 1),
        (
            *_FILTERS,
            Option(
                "--state", "STATE", "Neighbours: auto (active, for an archived REF all), active …", "auto"
            ),
            Option("--before", "N", "Neighbours before it, 0 to 100.", "5"),
            Option("--after", "N", "Neighbours after it, 0 to 100.", "5"),
            Option("--page", "N", "Which page of the window, from 1.", "1"),
            Option("--page-size", "N", "Cards on a page, 1 to 100.", "20"),
            _STRICT,
        ),
        "How a record came to be what it is, and what was written around it or around a date.",
        _timeline,
    ),
    "details": Command(
        "REF…",
        (1, 100),
        (_STRICT,),
        "Whole records, all of them or none; 'get' is the same.",
        _details,
    ),
    "export": Command(
        "REF…",
        (1, 100),
        (
            Option("--format", "FORM", "markdown or json; 'cam memory import' reads both.", "markdown"),
            _STRICT,
        ),
        "Whole records as one document on stdout; nothing is created.",
        _export,
    ),
    "status": Command("", (0, 0), (), "What there is to find, and the state of the indexes.", _status),
    "rebuild": Command(
        "",
        (0, 0),
        (Option("--from-canonical", "", "Needed: the Markdown is what everything is compared with."),),
        "Read memory twice, compare both with the sidecar, and build that anew.",
        _rebuild,
    ),
    "benchmark": Command(
        "",
        (0, 0),
        (
            Option("--labels", "FILE", "Questions and the refs that answer them, a JSON object a line."),
            Option("--output", "FILE", "Where the report goes; a new file."),
        ),
        "Measure how well and how fast recall answers questions that you labelled.",
        _benchmark,
    ),
}


def _group_page() -> str:
    rows = [f"  {name:<10} {command.help}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "Usage: cam recall COMMAND …",
            "",
            "Find memory again.",
            "",
            *rows,
            "",
            "cam recall COMMAND --help says more.",
        ]
    )
