"""The documentation's examples are executed, so that they cannot go stale."""

import json
import re
from pathlib import Path

import pytest

from cam.cli.app import COMMANDS
from cam.cli.entry import PASS_THROUGH
from cam.cli.tree import shape
from cam.core.candidates import Candidate
from cam.core.items import ACTORS, TARGETS
from cam.core.records import MemoryScope, MemoryState
from cam.core.settings import SETTINGS
from cam.formats.memory_index import counts_in_index, person_text, update_index
from cam.formats.topic_file import TopicFile, parse_topic_file, render_topic_file
from cam.hosts.mcp_tools import TOOLS
from cam.recall.adapter import create
from cam.startup.compile import TopicRef, compile_payload
from cam.system.environment import AGENT_VARIABLES
from tests.reference import COMMANDS_PAGE, SETTINGS_PAGE, commands_page, with_settings

ROOT = Path(__file__).parents[3]
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
TYPED = re.compile(r"(?:`|^\$ |&& )cam ((?!dream|hook |memory (?:--enable|--recent))[^`\n]+)", re.MULTILINE)
EXAMPLE = re.compile(
    r"<!-- example: (?P<kind>[^>]+?) -->\n```\w+\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)


def examples(name: str) -> list[tuple[str, str]]:
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    return [(m["kind"], m["body"]) for m in EXAMPLE.finditer(text)]


def test_topic_files_read_as_the_documentation_says() -> None:
    last: TopicFile | None = None
    checked = 0
    for kind, body in examples("file-format.md"):
        if kind.startswith("topic "):
            data = body.encode()
            last = parse_topic_file(
                data, path="x.md", scope=MemoryScope.PROJECT, state=MemoryState.ACTIVE, topic=kind.split()[1]
            )
            assert not last.problems
            assert render_topic_file(last) == data
        elif kind == "records":
            assert last is not None
            got = [{"id": r.id, "summary": r.summary, "details": list(r.details)} for r in last.records]
            assert got == json.loads(body)
            checked += 1
    assert checked == 2


def test_the_index_reads_as_the_documentation_says() -> None:
    (body,) = [body for kind, body in examples("file-format.md") if kind == "index"]
    counts = {"commands": 2, "workflow": 1}
    assert counts_in_index(body.encode()) == counts
    assert update_index(body.encode(), MemoryScope.PROJECT, MemoryState.ACTIVE, counts) == body.encode()
    assert person_text(body) == "Ask before touching `infra/`."


def test_codex_is_told_what_the_documentation_shows() -> None:
    (body,) = [body for kind, body in examples("injection.md") if kind == "payload"]
    candidates = [
        Candidate(MemoryScope.PROJECT, "commands", "a", "Run the tests with make check", "2026"),
        Candidate(MemoryScope.GLOBAL, "preferences", "b", "Always answer in German", "2026"),
    ]
    topics = [
        TopicRef(MemoryScope.PROJECT, "commands", "projects/shop-1a2b3c/project/commands.md", 1),
        TopicRef(MemoryScope.GLOBAL, "preferences", "global/preferences.md", 1),
    ]
    payload = compile_payload(
        candidates, {MemoryScope.PROJECT: ["| Ask before touching infra/."]}, topics,
        folder="/home/ada/.codex-auto-memory", now="2026-12-01", max_lines=200, max_tokens=2000,
    )  # fmt: skip
    assert payload.text + "\n" == body


def test_every_command_and_setting_is_documented() -> None:
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`cam {name}" not in text] == []
    assert [s.name for s in SETTINGS if f"| `{s.name}` | `{s.variable}` |" not in text] == []


def test_the_reference_is_what_the_program_declares() -> None:
    """Else: ``python -m tests.reference`` writes it anew."""
    settings = SETTINGS_PAGE.read_text(encoding="utf-8")
    assert with_settings(settings) == settings
    assert COMMANDS_PAGE.read_text(encoding="utf-8") == commands_page()


def test_what_agents_can_do_is_documented() -> None:
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    assert [tool.name for tool in TOOLS if f"| `{tool.name}` |" not in text] == []
    assert [p.name for tool in TOOLS for p in tool.parameters if f"`{p.name}`" not in text] == []
    assert [name for name in (*AGENT_VARIABLES, *TARGETS) if f"`{name}`" not in text] == []
    assert f"--actor {'|'.join(ACTORS)}" in text


def test_the_adapter_s_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    lines = [line for line in code.replace("/path/to/repository", str(tmp_path)).splitlines() if line]
    names: dict[str, object] = {}
    exec("\n".join(line for line in lines if "1a2b3c" not in line), names)
    found = create("claude", cwd=str(tmp_path)).search("port of the API")
    assert [card.summary for card in found.cards] == ["The API listens on port 8080"]


def test_every_command_and_option_that_is_shown_exists() -> None:
    known = shape()
    wrong = []
    for path in PAGES:
        for line in TYPED.findall(path.read_text(encoding="utf-8")):
            words = re.sub(r"^(?:(?:--no-\w+|--cwd DIR|\[[^]]*\]) )+", "", line).split()
            if not words or not re.match(r"[a-z]", words[0]) or words[0] in PASS_THROUGH:
                continue
            name = " ".join(words[:2]) if " ".join(words[:2]) in known else words[0]
            groups = {row.split()[0] for row in known}
            options = {
                o for row, of in known.items() if f"{row} ".startswith(f"{name} ") for o in of["options"]
            }
            given = set(re.findall(r"(?<=[ \[|])--[a-z-]+", f" {line.partition(' -- ')[0]}"))
            if name not in groups | known.keys() or given - options:
                wrong.append((path.name, line, sorted(given - options)))
    assert wrong == []


def test_every_link_leads_somewhere() -> None:
    dead = [
        (path.name, target)
        for path in PAGES
        for target in re.findall(r"\]\(([^)#:\s]+)[^)]*\)", FENCED.sub("", path.read_text(encoding="utf-8")))
        if not (path.parent / target).exists()
    ]
    assert dead == []
