"""The MCP server as its clients see it: the SDK's own, and hostile ones."""

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from cam.cli.entry import main
from cam.hosts.mcp_server import choose_folder
from cam.hosts.mcp_tools import TOOLS
from tests.unit.hosts.wire import INITIALIZE, Wire

FACTS = ("Run the tests with make fast", "Deploy with make ship on Tuesdays", "提交信息用中文")


def cam(*words: str, cwd: Path) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "cam", *words, "--json"], cwd=cwd, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)["data"]


def repository(folder: Path, *facts: str) -> Path:
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for fact in facts:
        cam("remember", fact, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """Two repositories with memory, in a home that all tests here share."""
    root = tmp_path_factory.mktemp("mcp")
    before = dict(os.environ)
    os.environ["HOME"] = str(root / "home")
    try:
        yield repository(root / "shop", *FACTS), repository(root / "bank", "The ledger is append-only")
    finally:
        os.environ["HOME"] = before["HOME"]


@pytest.fixture
def shop(place: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(place[0].parent / "home"))
    return place[0]


def bytes_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "cache" not in path.parts
    }


@pytest.mark.enable_socket
def test_the_sdk_s_client_finds_what_the_command_line_finds(shop: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mcp import ClientSession, StdioServerParameters, stdio_client

    server = StdioServerParameters(
        command=sys.executable, args=["-m", "cam", "mcp", "serve"], cwd=str(shop), env=dict(os.environ)
    )

    async def ask() -> tuple[Any, Any, Any]:
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            greeting = await session.initialize()
            tools = await session.list_tools()
            found = await session.call_tool("search_memories", {"query": "how are tests run"})
            return greeting, tools, found

    greeting, tools, found = anyio.run(ask)
    assert greeting.server_info.name == "cam"
    assert greeting.instructions
    assert [tool.name for tool in tools.tools] == [tool.name for tool in TOOLS if not tool.writes]
    assert all(tool.annotations.read_only_hint for tool in tools.tools)
    asked = cam("recall", "search", "how are tests run", cwd=shop)
    assert [item["ref"] for item in found.structured_content["items"]] == [i["ref"] for i in asked["items"]]
    assert found.structured_content["total"] == asked["total"] > 0
    assert found.content[0].text.splitlines()[:2] == [FACTS[0], f"  {asked['items'][0]['ref']}"]


def test_what_is_listed_is_short_and_closed() -> None:
    listed = [{"name": t.name, "description": t.text, "inputSchema": t.schema()} for t in TOOLS]
    assert len(json.dumps(listed)) < 3500  # the rest of 4 KB is annotations
    for tool in listed:
        assert tool["inputSchema"]["additionalProperties"] is False


def test_reading_writes_nothing_and_leaves_no_process(shop: Path) -> None:
    store = Path(os.environ["HOME"]) / ".codex-auto-memory"
    before = bytes_below(store)
    with Wire(shop) as wire:
        listed = json.dumps(wire.ask("tools/list")["result"])
        assert len(listed.encode()) <= 4096
        wire.call("search_memories", {"query": "tests"})
        children = Path(f"/proc/{wire.process.pid}/task/{wire.process.pid}/children")
        if children.exists():
            assert children.read_text() == ""
        assert wire.close() == 0
    assert bytes_below(store) == before
    assert wire.stderr == ""


def test_wrong_arguments_are_said_in_one_line(shop: Path) -> None:
    with Wire(shop) as wire:
        for arguments in (
            {}, {"query": 5}, {"query": ""}, {"query": "x", "limit": 0}, {"query": "x", "limit": True},
            {"query": "x", "state": "gone"}, {"query": "x", "shell": "rm"}, {"query": "x " * 100},
            {"query": "x", "topic": "../etc"}, {"query": "x", "page": 0}, {"query": "x" * 3000},
        ):  # fmt: skip
            result = wire.call("search_memories", arguments)
            assert result["isError"] is True, arguments
            assert "\n" not in result["content"][0]["text"]
            assert result["content"][0]["text"].startswith("invalid_input: ")
        assert wire.call("drop_everything")["isError"] is True
        assert wire.call("search_memories", {"query": "tests", "scope": None})["isError"] is False


def test_each_call_finds_its_own_project(shop: Path) -> None:
    bank = shop.parent / "bank"
    turn = {"x-codex-turn-metadata": {"workspaces": {str(bank): {}}}}
    with Wire(shop.parent) as wire:
        found = wire.call("search_memories", {"query": "ledger"}, _meta=turn)
        assert found["structuredContent"]["project"] == str(bank)
        assert found["structuredContent"]["total"] == 1
    roots = {"roots": [{"uri": shop.as_uri()}, {"uri": "https://x.example"}]}
    with Wire(shop.parent, capabilities={"roots": {}}) as wire:
        for uri, fact in ((shop.as_uri(), "tests"), (bank.as_uri(), "ledger")):
            roots = {"roots": [{"uri": uri}, {"uri": "file:///nowhere"}]}
            wire.send({
                "jsonrpc": "2.0", "id": 70, "method": "tools/call",
                "params": {"name": "search_memories", "arguments": {"query": fact}},
            })  # fmt: skip
            asked = wire.next()
            assert asked["method"] == "roots/list"
            wire.send({"jsonrpc": "2.0", "id": asked["id"], "result": roots})
            assert wire.next()["result"]["structuredContent"]["total"] == 1
    with Wire(shop, "--cwd", str(bank)) as wire:
        assert wire.call("search_memories", {"query": "ledger"}, _meta={})["structuredContent"]["total"] == 1


def test_the_folder_of_a_call(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "src"
    inner.mkdir(parents=True)
    here = os.path.realpath(inner)
    repo, other = str(tmp_path / "repo"), str(tmp_path)

    def turn(*folders: str) -> dict[str, Any]:
        return {"x-codex-turn-metadata": {"workspaces": {key: {} for key in folders}}}

    assert choose_folder("/fixed", [repo], turn(repo), lambda: here) == "/fixed"
    assert choose_folder(None, [other, repo], turn("/x"), lambda: "/") == other
    assert choose_folder(None, [], turn(repo), lambda: "/") == repo
    assert choose_folder(None, [], turn(repo), lambda: here) == here
    assert choose_folder(None, [], turn("/does/not/exist"), lambda: here) == here
    for odd in (None, {"x-codex-turn-metadata": 5}, {"x-codex-turn-metadata": {"workspaces": ["a", 3]}}):
        assert choose_folder(None, [], odd, lambda: here) == here


def test_off_is_off(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAM_OFF", "1")
    with Wire(shop) as wire:
        result = wire.call("search_memories", {"query": "tests"})
        assert result["isError"] is True
        assert "CAM_OFF" in result["content"][0]["text"]
        assert FACTS[0] not in json.dumps(result)


def test_a_hostile_client_gets_errors_and_no_more(shop: Path) -> None:
    with Wire(shop) as wire:
        for frame, code in (
            (b"{\n", -32700), (b"\xff\xfe\n", -32700), (b'{"jsonrpc":"2.0"}\n', -32600), (b"[]\n", -32600),
            (b"[" * 100_000 + b"\n", -32700), (b'{"jsonrpc":"1.0","id":7,"method":"ping"}\n', -32600),
            (b"x" * (9 << 20) + b"\n", -32600), (b'{"id":[1],"method":3}\n', -32600),
            (b'{"jsonrpc":"2.0","id":8,"method":"ping","params":{"x":"\\ud800"}}\n', -32600),
        ):  # fmt: skip
            wire.raw(frame)
            assert wire.next()["error"]["code"] == code, frame[:40]
        wire.raw(b"\n\r\n")
        assert wire.ask("no/such/method")["error"]["code"] == -32601
        assert "error" in wire.ask("tools/call", {"name": 5})
        assert "error" in wire.ask("tools/call", {"name": "search_memories", "arguments": [1]})
        wire.send({"jsonrpc": "2.0", "id": 99, "result": {}})
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}})
        for _ in range(2):  # an id that is used again
            wire.send({"jsonrpc": "2.0", "id": 1, "method": "ping"})
            assert wire.next() == {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert wire.call("search_memories", {"query": "tests"})["structuredContent"]["total"] == 1
        assert _resident(wire.process.pid) < 300 << 20


def test_two_hundred_calls_at_once(shop: Path) -> None:
    calls = [
        {
            "jsonrpc": "2.0", "id": n, "method": "tools/call",
            "params": {"name": "search_memories", "arguments": {"query": "tests"}},
        }
        for n in range(1000, 1200)
    ]  # fmt: skip
    with Wire(shop) as wire:
        wire.raw(b"".join(json.dumps(call).encode() + b"\n" for call in calls))
        answers = [wire.next() for _ in calls]
        assert sorted(answer["id"] for answer in answers) == list(range(1000, 1200))
        assert all(answer["result"]["structuredContent"]["total"] == 1 for answer in answers)


def test_a_client_that_asks_and_never_reads_is_not_read_on(shop: Path) -> None:
    call = {
        "jsonrpc": "2.0", "id": 0, "method": "tools/call",
        "params": {"name": "search_memories", "arguments": {"query": "tests deploy"}},
    }  # fmt: skip
    frame = json.dumps(call).encode() + b"\n"
    with Wire(shop) as wire:
        assert wire.process.stdin is not None
        os.set_blocking(wire.process.stdin.fileno(), False)
        sent, full = 0, 0
        while full < 20 and sent < 20_000 * len(frame):
            try:
                sent += os.write(wire.process.stdin.fileno(), frame * 50)
                full = 0
            except BlockingIOError:
                full += 1
                _wait(0.05)
        assert full == 20  # the pipe stays full: nothing is piled up inside
        assert _resident(wire.process.pid) < 300 << 20


def test_all_that_was_sent_is_answered_though_the_input_ends_at_once(shop: Path) -> None:
    """As of ``printf … | cam mcp serve``: the slowest way to be asked once."""
    question = {"name": "search_memories", "arguments": {"query": "tests"}}
    asked = [
        {"id": "hello", "method": "initialize", "params": INITIALIZE},
        {"method": "notifications/initialized"},
        *({"id": n, "method": "tools/call", "params": question} for n in range(20)),
        {"id": 50, "method": "tools/list"},
        {"id": 51, "method": "no/such/method"},
        {"method": "notifications/cancelled", "params": {"requestId": 19}},
    ]
    frames = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in asked)
    done = subprocess.run(
        [sys.executable, "-m", "cam", "mcp", "serve"],
        cwd=shop, input=frames.encode()[:-1], capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    assert answers.keys() - {19} == {"hello", *range(19), 50, 51}
    assert all(answers[n]["result"]["structuredContent"]["total"] == 1 for n in range(19))
    assert done.stderr == b""


@pytest.mark.parametrize("how", ["stdin", "both"])
def test_a_client_that_vanishes_takes_the_server_along(shop: Path, how: str) -> None:
    with Wire(shop) as wire:
        assert wire.process.stdin is not None
        assert wire.process.stdout is not None
        wire.send({
            "jsonrpc": "2.0", "id": 5, "method": "tools/call",
            "params": {"name": "search_memories", "arguments": {"query": "tests"}},
        })  # fmt: skip
        if how == "both":
            wire.process.stdout.close()
        wire.process.stdin.close()
        wire.process.wait(timeout=20)


def test_a_missing_extra_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(["mcp", "serve"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "cam: mcp serve needs an extra: pip install 'codex-auto-memory[mcp]'\n"


def test_a_wrong_command_line_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--bogus"], ["--cwd"], ["--cwd", "/does/not/exist"], ["x"]):
        assert main(["mcp", "serve", *words]) == 4
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("cam: ")
        assert err.count("\n") == 1


def _resident(pid: int) -> int:
    pages = Path(f"/proc/{pid}/statm")
    return int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if pages.exists() else 0


def _wait(seconds: float) -> None:
    import select

    select.select([], [], [], seconds)
