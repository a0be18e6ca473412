"""Agents use memory: real Codex calling the MCP server in a session, and cam in its sandboxed shell."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from test_main_loop import CAM, cam, tree
from tui import ENTER

from cam.testing.responses_server import Answer, Call, Request, Run, input_texts

pytestmark = pytest.mark.e2e

RELEASES = ["0.150.0", "0.171.0"]
EXPORTED = re.compile(r'"at": "[^"]*", *\s')
FACTS = ("Run the tests with make fast", "Tests of the shop need Redis", "Deploy on Tuesdays")


def server_flag(*arguments: str) -> str:
    """Codex's flag that makes the server known for one run; without ``required`` it does not wait for it."""
    words = json.dumps(["mcp", "serve", *arguments])
    return f"mcp_servers.cam={{command={json.dumps(CAM)},args={words},required=true,startup_timeout_sec=30}}"


def tool(name: str, arguments: dict[str, Any]) -> Call:
    return Call(name, arguments, namespace="mcp__cam")


def outputs(last: Request) -> list[str]:
    """What the model was told in a request that its calls gave, in order."""
    return ["\n".join(input_texts({"input": [item]})) for item in last["input"] if "output" in item]


def answered(text: str) -> dict[str, Any]:
    """The object that a tool's output holds."""
    return dict(json.loads(text[text.index("{") :]))


def tools_of(request: Request) -> list[str]:
    """Names of the tools of the server that a request offers."""
    spaces = [t for t in request.get("tools", ()) if t.get("name") == "mcp__cam"]
    return [each["name"] for space in spaces for each in space["tools"]]


def has_tools(request: Request) -> bool:
    """Whether a request is the session's own: under ``exec`` Codex asks for other things without tools."""
    return bool(request.get("tools"))


def in_turn(
    *steps: Answer | Callable[[Request], Answer], counts: Callable[[Request], object] = has_tools
) -> Callable[[Request], Answer]:
    """A script of answers to the requests that count, some of them made from what was asked."""
    left = iter(steps)

    def answer(request: Request) -> Answer:
        step = next(left, "OK.") if counts(request) else "OK."
        return step(request) if callable(step) else step

    return answer


def first_ref(request: Request) -> Answer:
    """Ask for the details of the first card."""
    text = input_texts({"input": [i for i in request["input"] if "output" in i]})[-1]
    return tool("get_memory_details", {"refs": [answered(text)["items"][0]["ref"]]})


@pytest.mark.parametrize("version", RELEASES)
def test_the_model_finds_what_the_command_line_finds(sandbox: Any, version: str) -> None:
    box = sandbox(version, in_turn(tool("search_memories", {"query": "how are tests run"}), first_ref))
    for fact in FACTS:
        cam(box, "remember", fact)
    store = box.home / ".codex-auto-memory"
    before = tree(store, without=("cache",))
    done = box.run("exec", "-c", server_flag(), "How are tests run?")
    assert done.returncode == 0
    assert tools_of(box.server.requests[0]) == ["get_memory_details", "search_memories", "timeline_memories"]
    found, details = map(answered, outputs(box.server.requests[-1]))
    asked = json.loads(cam(box, "recall", "search", "how are tests run", "--json").stdout)["data"]
    assert [item["ref"] for item in found["items"]] == [item["ref"] for item in asked["items"]]
    assert found["project"] == str(box.repo)
    assert details["items"][0]["ref"] == asked["items"][0]["ref"]
    assert details["items"][0]["summary"] == asked["items"][0]["summary"]
    assert tree(store, without=("cache",)) == before
    assert box.leftovers() == []


@pytest.mark.parametrize("version", RELEASES)
def test_the_model_finds_it_in_the_tui(sandbox: Any, version: str) -> None:
    steps = (tool("search_memories", {"query": "how are tests run"}), first_ref, "Run make fast.")
    box = sandbox(version, in_turn(*steps, counts=tools_of))  # a title is asked for with other tools
    for fact in FACTS:
        cam(box, "remember", fact)
    store = box.home / ".codex-auto-memory"
    before = tree(store, without=("cache",))
    box.trust()
    with box.tui("-c", server_flag()) as tui:
        tui.wait_for("›")
        shown = tui.submit("Say how tests are run", "Run make fast.")
        assert "search_memories" in shown
        tui.send("/quit")
        tui.wait_for("/quit")
        tui.send(ENTER)
        tui.wait_exit()
    told = next(r for r in reversed(box.server.requests) if any("output" in i for i in r["input"]))
    asked = json.loads(cam(box, "recall", "search", "how are tests run", "--json").stdout)["data"]
    found, details = (answered(text) for text in outputs(told))
    assert [item["ref"] for item in found["items"]] == [item["ref"] for item in asked["items"]]
    assert details["items"][0]["summary"] == FACTS[0]
    assert tree(store, without=("cache",)) == before


@pytest.mark.parametrize("version", RELEASES)
def test_a_write_of_the_model_needs_its_grant(sandbox: Any, version: str) -> None:
    item = {"content": "The API listens on port 8080", "actor": "codex"}
    seen: list[dict[str, str]] = []
    box = sandbox(version)
    store = box.home / ".codex-auto-memory"

    def look(_: Request) -> Answer:
        seen.append(tree(store, without=("cache",)))
        return tool("remember", {**item, "allow_write": True})

    box.server._script = in_turn(tool("remember", item), look)
    cam(box, "remember", FACTS[0])
    before = tree(store, without=("cache",))
    flags = ["-c", server_flag("--allow-write"), "-s", "read-only"]  # the server runs outside the sandbox
    assert box.run("exec", *flags, "Remember the port.").returncode == 0
    assert {"propose", "remember"} < set(tools_of(box.server.requests[0]))
    refused, kept = outputs(box.server.requests[-1])
    assert "write_refused" in refused
    assert seen == [before]
    ref = answered(kept)["ref"]
    shown = json.loads(cam(box, "memory", "show", ref, "--json").stdout)["data"]
    (source,) = shown["sources"]
    assert (source["kind"], source["name"], source["session"]) == ("agent", "codex", box.session_id())


@pytest.mark.parametrize("mode", ["read-only", "workspace-write"])
def test_recall_in_the_sandbox_answers_the_same_and_nothing_is_written(sandbox: Any, mode: str) -> None:
    keys = "--actor codex --allow-write"
    commands = [
        "recall search 'how are tests run' --json", "recall details REF --json", "recall timeline REF --json",
        "recall export REF --format json", "recall status --json",
        "memory list --json", "memory show REF --json", "review list --json", "why REF --json", "log --json",
        "session load --json",
    ]  # fmt: skip
    box = sandbox("0.171.0")
    for fact in FACTS:
        ref = json.loads(cam(box, "remember", fact, "--json").stdout)["data"]
        ref = f"{ref['scope']}:active:{ref['topic']}:{ref['id']}"
    lines = [f"{CAM} {line}".replace("REF", ref) for line in commands]
    lines += [f"{CAM} remember 'The API listens on port 8080' {keys} 2>&1", f"{CAM} remember x 2>&1; echo $?"]
    lines.append("touch $HOME/closed && echo open")
    parts = [lines[:5], lines[5:]]  # Codex cuts an output short at some 10 KB
    box.server._script = in_turn(*(Run("; echo; echo ====; ".join(part)) for part in parts))
    outside = [box.run("-c", line, program="/bin/sh").stdout.strip() for line in lines[: len(commands)]]
    before = tree(box.home)
    # The test's home lies below /tmp, which the sandbox would leave open.
    closed = "sandbox_workspace_write.exclude_slash_tmp=true"
    assert box.run("exec", "-s", mode, "-c", closed, "Look.").returncode == 0
    told = (text[text.index("Output:\n") + 8 :] for text in outputs(box.server.requests[-1]))
    *inside, write, bare, probe = (part.strip() for text in told for part in text.split("===="))
    if probe.endswith("open"):
        pytest.skip("Codex's sandbox does not work on this machine")
    inside, outside = ([EXPORTED.sub("", text) for text in texts] for texts in (inside, outside))
    assert inside == outside
    assert tree(box.home) == before
    assert write.count("\n") == 0
    assert "cam mcp serve --allow-write" in write
    assert bare.splitlines()[-1] == "5"
    assert "MCP" in bare


def test_a_write_in_an_open_shell_needs_its_keys(sandbox: Any) -> None:
    lines = [f"{CAM} remember 'The API is at 8080'; echo $?", f"{CAM} undo; echo $?",
             f"{CAM} remember 'The API is at 8080' --actor codex --allow-write; echo $?"]  # fmt: skip
    box = sandbox("0.171.0", [Run(" ; ".join(f"({line}) 2>&1" for line in lines))])
    cam(box, "remember", FACTS[0])
    assert box.run("exec", "--dangerously-bypass-approvals-and-sandbox", "Write.").returncode == 0
    said = outputs(box.server.requests[-1])[0].split("Output:\n")[-1].splitlines()
    assert [line for line in said if line.isdigit()] == ["5", "5", "0"]
