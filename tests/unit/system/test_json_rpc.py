"""A question to a program that speaks JSON-RPC: what it started ends with it."""

from pathlib import Path

from cam.system.json_rpc import ask_mcp_server
from tests.processes import has_ended


def test_the_child_of_a_launcher_ends_too(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    program = tmp_path / "launcher"
    program.write_text(
        f"#!/bin/sh\nsleep 600 >/dev/null </dev/null & echo $! > '{note}'\n"
        """echo '{"id": 1, "result": {"tools": []}}'\nwait\n"""
    )
    program.chmod(0o755)
    assert ask_mcp_server([str(program)], [("tools/list", {})], str(tmp_path)) == [{"tools": []}]
    assert has_ended(int(note.read_text()), 10)
