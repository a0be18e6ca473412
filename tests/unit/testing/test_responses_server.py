"""The loopback model: what it answers, what it keeps."""

import json
import os
import selectors
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from cam.testing.responses_server import (
    DEFAULT_ANSWER,
    KEY_VARIABLE,
    Answer,
    Call,
    Fail,
    Request,
    ResponsesServer,
    Run,
    Say,
    codex_config,
    read_script,
    write_codex_config,
)


def post(base_url: str, **request: Any) -> list[dict[str, Any]]:
    """The events of one answer."""
    body = json.dumps(request).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{base_url}/responses", body), timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def item(events: list[dict[str, Any]]) -> dict[str, Any]:
    [done] = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert isinstance(done, dict)
    return done


def test_answers_in_order_and_then_the_default() -> None:
    with ResponsesServer(["one", Say("zwei ü", total_tokens=9000), Call("tool", {"a": 1})]) as server:
        events = post(server.base_url, input=[])
        assert [event["type"] for event in events] == [
            "response.created",
            "response.output_item.added",
            "response.output_text.delta",
            "response.output_item.done",
            "response.completed",
        ]
        assert item(events)["content"] == [{"type": "output_text", "text": "one"}]
        events = post(server.base_url, input=[])
        assert item(events)["content"][0]["text"] == "zwei ü"
        assert events[-1]["response"]["usage"]["total_tokens"] == 9000
        call = item(post(server.base_url, input=[]))
        assert (call["type"], call["name"], json.loads(call["arguments"])) == (
            "function_call",
            "tool",
            {"a": 1},
        )
        assert item(post(server.base_url, input=[]))["content"][0]["text"] == DEFAULT_ANSWER
        assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("tools", "name", "arguments"),
    [
        (["x", "exec_command"], "exec_command", {"cmd": "ls"}),
        (["shell_command"], "shell_command", {"command": "ls"}),
        (["shell"], "shell", {"command": ["sh", "-c", "ls"]}),
    ],
)
def test_a_command_goes_through_the_tool_on_offer(
    tools: list[str], name: str, arguments: dict[str, Any]
) -> None:
    with ResponsesServer([Run("ls")]) as server:
        call = item(post(server.base_url, input=[], tools=[{"name": tool} for tool in tools]))
    assert (call["name"], json.loads(call["arguments"])) == (name, arguments)


def test_scripted_failure_and_what_else_is_asked() -> None:
    with ResponsesServer([Fail(503)]) as server:
        with pytest.raises(urllib.error.HTTPError) as error:
            post(server.base_url, input=[])
        error.value.close()
        assert error.value.code == 503
        with urllib.request.urlopen(f"{server.base_url}/models?x=1", timeout=5) as answer:
            assert json.loads(answer.read()) == {"data": [], "models": []}


def test_a_script_may_look_at_the_request() -> None:
    def echo(request: Request) -> Answer:
        return str(request["input"][0]["content"])

    with ResponsesServer(echo) as server:
        assert item(post(server.base_url, input=[{"content": "hi"}]))["content"][0]["text"] == "hi"


def test_codex_own_requests_use_up_no_answer() -> None:
    with ResponsesServer(["one"]) as server:
        assert item(post(server.base_url, input=[], tools=[]))["content"][0]["text"] == DEFAULT_ANSWER
        assert item(post(server.base_url, input=[], tools=[{}]))["content"][0]["text"] == "one"


def test_what_the_model_was_shown() -> None:
    shown = [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "a"}, {"type": "image"}],
        },
        {"type": "message", "role": "user", "content": "b"},
        {"type": "function_call", "name": "x"},
        {"type": "function_call_output", "output": "c"},
        {"type": "function_call_output", "output": [{"text": "d"}]},
    ]
    with ResponsesServer() as server:
        post(server.base_url, input=shown)
        post(server.base_url, input=[])
        assert server.model_input_texts(0) == ["a", "b", "c", "d"]
        assert server.model_input_texts() == []


def test_the_config_names_the_server(tmp_path: Path) -> None:
    path = write_codex_config(
        str(tmp_path / "home"), "http://127.0.0.1:1/v1", top='x = "1"', tables='[projects."/r"]\ny = 2'
    )
    config = tomllib.loads(Path(path).read_text())
    assert config["model_providers"]["loop"]["base_url"] == "http://127.0.0.1:1/v1"
    assert config["model_providers"]["loop"]["env_key"] == KEY_VARIABLE
    assert (config["x"], config["projects"]["/r"]["y"]) == ("1", 2)
    assert "loop" in codex_config("u")


def test_answers_as_json() -> None:
    assert read_script(["a", {"say": "b"}, {"run": "ls", "say": "c"}, {"call": "t"}, {"fail": 500}]) == [
        "a",
        Say("b"),
        Run("ls"),
        Say("c"),
        Call("t", {}),
        Fail(500),
    ]
    with pytest.raises(ValueError, match="an answer is"):
        read_script([{"speak": "x"}])


def test_as_a_program(tmp_path: Path) -> None:
    answers, port, requests = tmp_path / "answers.json", tmp_path / "port", tmp_path / "requests.jsonl"
    answers.write_text('["from the file"]')
    words = ["--port-file", str(port), "--answers", str(answers), "--requests-file", str(requests)]
    with subprocess.Popen(
        [sys.executable, "-m", "cam.testing.responses_server", *words], stdout=subprocess.PIPE
    ) as process:
        try:
            # The program says on its standard output that it listens.
            assert process.stdout is not None
            with selectors.DefaultSelector() as selector:
                selector.register(process.stdout, selectors.EVENT_READ)
                assert selector.select(10)
            url = f"http://127.0.0.1:{int(port.read_text())}/v1"
            assert process.stdout.readline().decode().strip() == url
            assert item(post(url, input=[{"content": "ü"}]))["content"][0]["text"] == "from the file"
        finally:
            process.terminate()
    assert json.loads(requests.read_text()) == {"input": [{"content": "ü"}]}
    assert sorted(os.listdir(tmp_path)) == ["answers.json", "port", "requests.jsonl"]
