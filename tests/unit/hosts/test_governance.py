"""What agents may write, the same through each way in: command line, MCP and adapter.

Every refusal is shown to leave the store's bytes as they were; what waits for a person leaves the records so.
"""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cam.core.capture import CaptureEnvelope
from cam.core.errors import CamError
from cam.recall.adapter import create
from cam.store.layout import StoreLayout
from cam.store.memory_store import MarkdownStore
from tests.unit.cli.run import run
from tests.unit.hosts.wire import Wire

SECRET = "ghp_" + "a1B2c3D4" * 5
RULE = "Use pnpm, never npm"

Result = tuple[str, dict[str, Any]]
"""An error's code, "" for success, and what was said."""


@dataclass
class Place:
    """One repository, and the ways in."""

    repo: Path
    store: Path
    ways: dict[str, Callable[..., Result]]
    capsys: pytest.CaptureFixture[str]

    def cam(self, *words: str) -> dict[str, Any]:
        """A person's command."""
        self.capsys.readouterr()
        code = run([*words, "--json", "--cwd", str(self.repo)])
        answer = json.loads(self.capsys.readouterr().out)
        assert code == 0, answer
        return dict(answer["data"])

    def bytes(self, *, records: bool = False) -> dict[str, bytes]:
        """Every file of the store but indexes; with ``records`` the Markdown alone."""
        return {
            str(path.relative_to(self.store)): path.read_bytes()
            for path in sorted(self.store.rglob("*"))
            if path.is_file() and "cache" not in path.parts and (path.suffix == ".md" or not records)
        }

    def waiting(self) -> list[dict[str, Any]]:
        """What waits for a person."""
        return list(self.cam("review", "list")["waiting"])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Wire, Path]]:
    """One server that may write, for all tests; each call names its repository."""
    root = tmp_path_factory.mktemp("governance")
    before = os.environ["HOME"]
    os.environ["HOME"] = str(root / "home")
    (root / "home").mkdir()
    wire = Wire(root, "--allow-write")
    os.environ["HOME"] = before
    with wire:
        yield wire, root


@pytest.fixture
def place(
    server: tuple[Wire, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> Place:  # fmt: skip
    wire, root = server
    monkeypatch.setenv("HOME", str(root / "home"))
    repo = root / f"repo-{abs(hash(request.node.name))}"
    repo.mkdir()
    subprocess.run(["git", "init", "-q", str(repo)], check=True)

    def command_line(verb: str, item: Any, actor: Any = "codex", grant: Any = True) -> Result:
        words = [verb, "--file", "-", "--json", "--cwd", str(repo)]
        words += ["--actor", actor] if actor is not None else []
        words += ["--allow-write"] if grant is True else []
        capsys.readouterr()
        data = io.TextIOWrapper(io.BytesIO(json.dumps(item).encode()))
        monkeypatch.setattr(sys, "stdin", data)
        code = run(words)
        answer = json.loads(capsys.readouterr().out)
        exits = {"write_refused": 5, "governance_refused": 5, "invalid_input": 4, "not_found": 3}
        error = answer["error"] or {"code": "", "message": ""}
        assert code == exits.get(error["code"], 0)
        return error["code"], answer["data"] or {"message": error["message"]}

    def mcp(verb: str, item: Any, actor: Any = "codex", grant: Any = True) -> Result:
        keys = {"actor": actor, "allow_write": grant}
        given = {**item, **{name: value for name, value in keys.items() if value is not None}}
        turn = {"workspaces": {str(repo): {}}}
        meta = {"x-codex-turn-metadata": turn, "threadId": given.pop("session", None)}
        result = wire.call(verb, given, _meta=meta)
        if result["isError"]:
            code, _, message = result["content"][0]["text"].partition(": ")
            return code, {"message": message}
        return "", result["structuredContent"]

    def adapter(verb: str, item: Any, actor: Any = "codex", grant: Any = True) -> Result:
        memory = create(actor or "codex", cwd=str(repo))
        try:
            if verb == "remember":
                done = memory.remember(item, allow_write=grant)
                return "", {"ref": str(done.record.ref), "is_new": done.is_new, "warnings": done.warnings}
            proposed = memory.propose(item, allow_write=grant)
            return "", {"id": proposed.item.id, "is_new": proposed.is_new}
        except CamError as error:
            return error.code, {"message": str(error)}

    ways = {"command-line": command_line, "mcp": mcp, "adapter": adapter}
    return Place(repo, root / "home" / ".codex-auto-memory", ways, capsys)


WAYS = pytest.mark.parametrize("way", ["command-line", "mcp", "adapter"])


@WAYS
def test_a_write_needs_both_keys(place: Place, way: str) -> None:
    place.cam("remember", RULE)
    before = place.bytes()
    call = place.ways[way]
    for verb, item in (
        ("remember", {"content": "The API listens on port 8080"}),
        ("propose", {"target": "AGENTS.md", "edit": "Be brief"}),
    ):
        refused = [call(verb, item, "codex", False)]
        if way != "adapter":  # an adapter has its name from the start
            refused += [call(verb, item, None, True), call(verb, item, None, None)]
        assert [code for code, _ in refused] == ["write_refused"] * len(refused)
        if way != "adapter":
            assert call(verb, item, "root", True)[0] == "invalid_input"
    assert place.bytes() == before
    assert not (place.repo / "AGENTS.md").exists()


@WAYS
def test_an_item_is_closed_and_bound_to_its_command(place: Place, way: str) -> None:
    place.cam("remember", RULE)
    before = place.bytes()
    call = place.ways[way]
    bad: list[tuple[str, dict[str, Any], str]] = [
        ("remember", {"content": "x", "pinned": "yes"}, "invalid_input"),
        ("remember", {"content": ""}, "invalid_input"),
        ("remember", {}, "invalid_input"),
        ("remember", {"content": 5}, "invalid_input"),
        ("remember", {"content": "a\x00b"}, "invalid_input"),
        ("remember", {"content": "a\x9bb"}, "invalid_input"),
        ("remember", {"content": "x", "type": "idea"}, "invalid_input"),
        ("remember", {"content": "x", "title": "a\nb"}, "invalid_input"),
        ("remember", {"content": "x", "topic": "../up"}, "invalid_input"),
        ("remember", {"content": "y" * 65_537}, "invalid_input"),
        ("propose", {"target": "AGENTS.md", "edit": ""}, "invalid_input"),
        ("propose", {"edit": "x"}, "invalid_input"),
        ("propose", {"target": "AGENTS.md", "edit": "x", "old": "not there"}, "not_found"),
    ]
    for verb, item, code in bad:
        assert call(verb, item)[0] == code, (verb, item)
    if way != "mcp":  # there the schema has no such type or target at all
        assert (
            call("remember", {"type": "proposal", "edit": "x", "target": "AGENTS.md"})[0] == "write_refused"
        )
        assert call("propose", {"type": "memory", "content": "x"})[0] == "write_refused"
        for target in ("Makefile", "../AGENTS.md", "/etc/passwd", "docs/AGENTS.md", "agents.md"):
            assert call("propose", {"target": target, "edit": "x"})[0] == "write_refused"
    assert place.bytes() == before


@WAYS
def test_what_a_person_said_is_never_overturned(place: Place, way: str) -> None:
    ref = place.cam("remember", RULE)["ref"]
    everywhere = place.cam("remember", "Always answer in English", "--scope", "global")["ref"]
    before = place.bytes(records=True)
    call = place.ways[way]
    for text, scope in (("Use npm, not pnpm", "project"), ("Use npm", "project-local")):
        code, said = call("remember", {"content": text, "scope": scope})
        assert code == "governance_refused"
        assert ref in said["message"]
    call("remember", {"content": "Use npm"})
    assert place.bytes(records=True) == before
    waiting = place.waiting()
    assert [item["text"] for item in waiting] == ["Use npm", "Use npm, not pnpm"]
    assert all(item["kind"] == "suppressed" and item["conflicts_with"] == [ref] for item in waiting)
    # What a person rejects does not wait again; what they accept is their word.
    for item in waiting:
        place.cam("review", "reject", item["id"])
    assert call("remember", {"content": "Use npm"})[0] == "governance_refused"
    assert place.waiting() == []
    assert place.cam("memory", "show", ref)["state"] == "active"
    place.cam("forget", everywhere, "--delete")


@WAYS
def test_what_a_person_took_out_does_not_come_back(place: Place, way: str) -> None:
    ref = place.cam("remember", "Deploys run on Fridays")["ref"]
    place.cam("forget", ref, "--delete")
    before = place.bytes(records=True)
    assert place.ways[way]("remember", {"content": "Deploys run on Fridays"})[0] == "governance_refused"
    assert place.bytes(records=True) == before
    assert [item["reason"] for item in place.waiting()] == ["agent-taken-out"]


@WAYS
def test_an_item_is_added_once_and_its_writer_is_known(place: Place, way: str) -> None:
    mine = place.cam("remember", RULE)["ref"]
    call = place.ways[way]
    before = place.bytes(records=True)
    code, again = call("remember", {"content": "use pnpm, never npm."})
    assert (code, again["ref"], again["is_new"]) == ("", mine, False)
    assert place.bytes(records=True) == before  # a person's record is not an agent's to touch
    item = {"type": "knowledge", "title": "Port of the API", "content": "It is 8080", "session": "s-1"}
    code, done = call("remember", item)
    assert (code, done["is_new"]) == ("", True)
    record = place.cam("memory", "show", done["ref"])
    assert (record["summary"], record["details"], record["type"]) == (
        "Port of the API", ["It is 8080"], "knowledge",
    )  # fmt: skip
    assert [(s["kind"], s["name"], s["session"]) for s in record["sources"]] == [("agent", "codex", "s-1")]
    assert place.cam("why", done["ref"])["events"][0]["actor"] == "codex"
    lines = (next(place.store.glob(f"projects/{place.repo.name}-*")) / "audit" / "sync-log.jsonl").read_text()
    assert [json.loads(line)["actor"] for line in lines.splitlines()] == ["user", "codex", "codex"]
    once = call("remember", item)[1]
    assert (once["ref"], once["is_new"]) == (done["ref"], False)


@WAYS
def test_dates_and_links_come_along_and_are_checked(place: Place, way: str) -> None:
    mine = place.cam("remember", RULE)["ref"]
    call = place.ways[way]
    before = place.bytes()
    item = {"content": "The freeze of the shop ends in March"}
    bad: list[tuple[dict[str, Any], str]] = [
        ({"valid_until": "soon"}, "invalid_input"),
        ({"valid_until": "<private>hunter2</private>x"}, "invalid_input"),
        ({"valid_from": "2027-03-02", "valid_until": "2027-03-01"}, "invalid_input"),
        ({"valid_from": 20270301}, "invalid_input"),
        ({"related": mine}, "invalid_input"),
        ({"related": ["tabs"]}, "invalid_input"),
        ({"related": [5]}, "invalid_input"),
        ({"related": [mine] * 21}, "invalid_input"),
        ({"related": ["project:active:commands:no-such-record-123456"]}, "not_found"),
    ]
    for more, code in bad:
        assert call("remember", item | more)[0] == code, more
    assert place.bytes() == before
    more = {"valid_from": "2027-01-31", "valid_until": "2027-03-01", "related": [mine, mine]}
    code, done = call("remember", item | more)
    assert code == ""
    record = place.cam("memory", "show", done["ref"])
    _, _, topic, name = mine.split(":")
    assert [record[key] for key in ("valid_from", "valid_until", "related")] == [
        "2027-01-31T00:00:00.000Z", "2027-03-01T23:59:59.999Z", [f"{topic}:{name}"],
    ]  # fmt: skip
    assert "related" not in place.cam("memory", "show", mine)  # a person's record is not an agent's to touch
    before = place.bytes(records=True)
    code, again = call("remember", item | {"valid_until": "2029-01-01", "related": [done["ref"]]})
    assert (code, again["is_new"]) == ("", False)
    assert list(again["warnings"]) == ["it is remembered already; its dates and links stay as they were"]
    assert place.bytes(records=True) == before


def test_what_was_said_on_a_channel_comes_in_its_envelope(place: Place) -> None:
    place.cam("remember", RULE)
    said = CaptureEnvelope(
        "hermes", "message", "2026-11-30T10:00:00Z", "The shop is frozen <private>hunter2</private>",
        valid_from="2026-12-01", valid_until="2026-12-24", session="channel-7",
    )  # fmt: skip
    memory = create("hermes", cwd=str(place.repo))
    before = place.bytes()
    with pytest.raises(CamError):
        memory.remember(said)
    assert place.bytes() == before
    record = memory.remember(said, allow_write=True).record
    assert (record.summary, record.valid_from, record.valid_until) == (
        "The shop is frozen", "2026-12-01T00:00:00.000Z", "2026-12-24T00:00:00.000Z",
    )  # fmt: skip
    assert [(s.name, s.session) for s in record.sources] == [("hermes", "channel-7")]
    assert b"hunter2" not in b"".join(place.bytes().values())


@WAYS
def test_dates_and_links_wait_with_what_waits(place: Place, way: str) -> None:
    place.cam("remember", RULE)
    other = place.cam("remember", "The shop is built by Jenkins")["ref"]
    item = {"title": "Use npm", "content": "for a while", "type": "idea", "related": [other]}
    assert place.ways[way]("remember", item | {"valid_until": "2027-03-01"})[0] == "governance_refused"
    (waiting,) = place.waiting()
    assert (waiting["type"], waiting["valid_until"]) == ("idea", "2027-03-01T23:59:59.999Z")
    ref = place.cam("review", "accept", waiting["id"])["applied"][0]["ref"]
    record = place.cam("memory", "show", ref)
    assert (record["type"], record["valid_until"], record["related"]) == (
        "idea", "2027-03-01T23:59:59.999Z", [":".join(other.split(":")[2:])],
    )  # fmt: skip


@WAYS
def test_private_spans_and_secrets_never_get_in(place: Place, way: str) -> None:
    place.cam("remember", RULE)
    before = place.bytes()
    call = place.ways[way]
    for item in (
        {"content": "<private>all of it</private>"},
        {"content": f"The token is {SECRET}"},
        {"title": "<private>t</private>", "content": "c", "type": "idea"},
        {"title": "t <private> a", "content": "b </private>", "type": "idea"},
    ):
        assert call("remember", item)[0] == "write_refused", item
    assert call("propose", {"target": "AGENTS.md", "edit": "<private>x</private>"})[0] == "write_refused"
    assert place.bytes() == before
    text = f"The build server is at ci.example <private>hunter2</private> with {SECRET}"
    code, done = call("remember", {"content": text})
    assert code == ""
    assert len(done["warnings"]) == 2
    code, _ = call(
        "propose",
        {
            "target": "AGENTS.md",
            "edit": f"Use ci.example <private>hunter2</private> {SECRET}",
            "rationale": SECRET,
        },
    )
    assert code == ""
    everything = b"".join(place.bytes().values())
    assert b"hunter2" not in everything
    assert SECRET.encode() not in everything


@WAYS
def test_a_proposal_waits_and_touches_nothing(place: Place, way: str) -> None:
    agents = place.repo / "AGENTS.md"
    agents.write_text("# Rules\n\n- Be kind\n")
    call = place.ways[way]
    item = {"target": "AGENTS.md", "edit": "- Run make lint", "rationale": "it failed twice"}
    assert [call("propose", item)[1]["is_new"] for _ in range(2)] == [True, False]
    assert agents.read_text() == "# Rules\n\n- Be kind\n"
    (waiting,) = place.waiting()
    assert (waiting["kind"], waiting["target"], waiting["rationale"]) == (
        "proposed",
        "AGENTS.md",
        item["rationale"],
    )
    seen = place.cam("review", "accept", waiting["id"])
    assert agents.read_text() == "# Rules\n\n- Be kind\n"
    subprocess.run(["git", "apply", "--check", "-"], cwd=place.repo, input=seen["diff"].encode(), check=True)
    assert place.cam("review", "accept", waiting["id"], "--apply")["applied"] is True
    assert agents.read_text() == "# Rules\n\n- Be kind\n- Run make lint\n"
    assert place.waiting() == []
    assert call("propose", item)[0] == "write_refused"  # it stands there


@WAYS
def test_a_proposal_may_not_shrink_or_erode(place: Place, way: str) -> None:
    agents = place.repo / "AGENTS.md"
    lines = [f"- Rule number {n}" for n in range(6)]
    agents.write_text("\n".join(lines) + "\n")
    place.cam("remember", RULE)
    before = place.bytes()
    call = place.ways[way]
    for old, edit in (
        ("\n".join(lines[1:3]), ""),
        ("\n".join(lines[:3]), "- One rule"),
        ("\n".join(lines[:4]), "a\nb\nc\nd"),
        ("\n".join(lines), "- Nothing"),
    ):  # fmt: skip
        item = {"target": "AGENTS.md", "edit": edit, "old": old}
        if way == "mcp" or edit:
            assert call("propose", item)[0] == "governance_refused", item
    agents.write_text("- The only rule\n")
    assert (
        call("propose", {"target": "AGENTS.md", "old": "- The only rule", "edit": "x"})[0]
        == "governance_refused"
    )
    assert place.bytes() == before
    assert call("propose", {"target": "AGENTS.md", "old": "only rule", "edit": "only rule, ever"})[0] == ""


@WAYS
def test_a_target_is_no_link(place: Place, way: str) -> None:
    outside = place.repo.parent / f"outside-{way}.md"
    outside.write_text("theirs\n")
    (place.repo / "CLAUDE.md").symlink_to(outside)
    (place.repo / ".github").symlink_to(place.repo.parent)
    (place.repo / "GEMINI.md").mkdir()
    place.cam("remember", RULE)
    before = place.bytes()
    for target in ("CLAUDE.md", ".github/copilot-instructions.md", "GEMINI.md"):
        assert place.ways[way]("propose", {"target": target, "edit": "x"})[0] == "write_refused"
    assert place.bytes() == before
    assert outside.read_text() == "theirs\n"


def test_a_search_is_answered_while_somebody_else_writes(place: Place, server: tuple[Wire, Path]) -> None:
    place.cam("remember", RULE)
    wire, _ = server
    meta = {"x-codex-turn-metadata": {"workspaces": {str(place.repo): {}}}}

    def call(number: int, name: str, arguments: dict[str, Any]) -> None:
        params = {"name": name, "arguments": arguments, "_meta": meta}
        wire.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})

    with MarkdownStore(StoreLayout(str(place.store))).locked():
        keys = {"actor": "codex", "allow_write": True}
        call(901, "remember", {"content": "The API listens on port 8080", **keys})
        call(902, "search_memories", {"query": "pnpm"})
        answer = wire.next()
        assert (answer["id"], answer["result"]["structuredContent"]["total"]) == (902, 1)
    answer = wire.next()
    assert (answer["id"], answer["result"]["isError"]) == (901, False)


def test_a_server_that_reads_has_no_tool_that_writes(place: Place) -> None:
    with Wire(place.repo) as wire:
        names = [tool["name"] for tool in wire.ask("tools/list")["result"]["tools"]]
        assert names == ["search_memories", "timeline_memories", "get_memory_details"]
        result = wire.call("remember", {"content": "x", "actor": "codex", "allow_write": True})
        assert result["isError"] is True


def test_all_tools_are_listed_in_4_kb(server: tuple[Wire, Path]) -> None:
    listed = server[0].ask("tools/list")["result"]
    assert len(json.dumps(listed).encode()) <= 4096
    hints = {tool["name"]: tool["annotations"]["readOnlyHint"] for tool in listed["tools"]}
    assert [name for name, reads in hints.items() if not reads] == ["remember", "propose"]


def test_the_same_write_is_the_same_whatever_the_way(place: Place) -> None:
    """One record, one history event, one audit line."""
    item = {"content": "The API listens on port 8080"}
    kept = []
    for way, call in place.ways.items():
        repo = place.repo
        for old in place.store.glob(f"projects/{repo.name}-*"):
            shutil.rmtree(old)
        shutil.rmtree(place.store / "cache", ignore_errors=True)
        code, done = call("remember", item)
        assert code == "", way
        project = next(place.store.glob(f"projects/{repo.name}-*"))
        history = (project / "project" / "memory-history.jsonl").read_text().splitlines()
        audit = (project / "audit" / "sync-log.jsonl").read_text().splitlines()
        assert len(history) == len(audit) == 1, way
        event, line = json.loads(history[0]), json.loads(audit[0])
        kept.append((done["ref"], event["kind"], event["actor"], line["kind"], line["actor"]))
    assert len(set(kept)) == 1


def test_the_same_question_has_the_same_answer_whatever_the_way(
    place: Place, server: tuple[Wire, Path]
) -> None:
    """The same refs in the same order: command line, MCP, adapter, and the bridge as it was installed."""
    for number in range(12):
        place.cam(
            "remember", f"Service {number} listens on port {8000 + number}", "--topic", f"t{number % 3}"
        )
    for scope, text in (("global", "A port is written in digits"), ("project-local", "My port here is 9")):
        place.cam("remember", text, "--scope", scope)
    gone = place.cam("remember", "The old port of the service was 7")["ref"]
    place.cam("memory", "archive", gone)
    place.cam("hooks", "install", "--bridge", "--scope", "user")
    bridge = place.store / "hooks" / "memory-recall.sh"
    for question in ("port of the service", "service 7", "digits", "old port 7", "nothing of the kind"):
        asked = place.cam("recall", "search", question, "--state", "auto", "--limit", "8")
        refs = [item["ref"] for item in asked["items"]]
        turn = {"x-codex-turn-metadata": {"workspaces": {str(place.repo): {}}}}
        mcp = server[0].call("search_memories", {"query": question, "state": "auto", "limit": 8}, _meta=turn)
        assert [item["ref"] for item in mcp["structuredContent"]["items"]] == refs
        done = subprocess.run(
            ["/bin/sh", str(bridge), "search", question, "--json"],
            cwd=place.repo,
            capture_output=True,
            check=True,
        )
        assert [item["ref"] for item in json.loads(done.stdout)["data"]["items"]] == refs
        assert [str(card.ref) for card in create("codex", cwd=str(place.repo)).search(question).cards][
            :8
        ] == refs
        assert bool(refs) == (question != "nothing of the kind")


def test_the_adapter_is_frozen_and_reads_as_the_command_line_does(place: Place) -> None:
    ref = place.cam("remember", RULE)["ref"]
    memory = create("claude", cwd=str(place.repo))
    with pytest.raises(AttributeError):
        memory.name = "codex"  # type: ignore[misc]
    assert [str(card.ref) for card in memory.search("pnpm").cards] == [ref]
    assert [item.record.summary for item in memory.get(ref, ref).items] == [RULE, RULE]
    assert memory.export(ref) == memory.get(ref)
    assert memory.timeline(ref).ref == ref
    before = place.bytes()
    assert memory.status() is not None
    assert place.bytes() == before
    for odd in (lambda: create("root"), lambda: memory.search(5), lambda: memory.get("x"),  # type: ignore[arg-type]
                lambda: memory.remember({"content": "x"}, allow_write=1)):  # type: ignore[arg-type]  # fmt: skip
        with pytest.raises(CamError) as caught:
            odd()
        assert caught.value.code == "invalid_input"
    assert run(["off", "--cwd", str(place.repo)]) == 0
    with pytest.raises(CamError):
        memory.search("pnpm")
