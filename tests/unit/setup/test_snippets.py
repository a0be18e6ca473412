"""What to paste is what each host documents; the bridge asks the same question as the program."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cam.core.errors import InvalidInputError
from cam.core.records import MemoryScope
from cam.formats.managed_block import find_block
from cam.memory.flow import remember
from cam.setup.integrations.assets import BRIDGE_FILES, VERSIONS, asset_text
from cam.setup.integrations.flow import carry_out, plan_install
from cam.setup.integrations.pieces import GUIDANCE
from cam.setup.integrations.places import find_places
from cam.setup.integrations.result import Piece
from cam.setup.integrations.snippets import HOSTS, snippet

STDIO = {
    "type": "object",
    "required": ["command"],
    "additionalProperties": False,
    "properties": {
        "command": {"type": "string"},
        "args": {"type": "array", "items": {"type": "string"}},
        "env": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
GEMINI = {
    **STDIO,
    "properties": {**STDIO["properties"], "trust": {"type": "boolean"}, "cwd": {"type": "string"}},
}  # type: ignore[dict-item]
"""As the hosts document a server that speaks over standard streams."""


def servers(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["mcpServers"],
        "additionalProperties": False,
        "properties": {"mcpServers": {"type": "object", "additionalProperties": entry, "minProperties": 1}},
    }


@pytest.mark.parametrize(
    ("host", "schema"), [("claude", servers(STDIO)), ("gemini", servers(GEMINI)), ("generic", STDIO)]
)
def test_snippets_fit_the_hosts_own_schema(host: str, schema: dict[str, Any]) -> None:
    made = snippet(host)
    jsonschema.validate(json.loads(made.text), schema)
    assert not made.guidance


def test_the_snippet_for_codex_comes_with_guidance() -> None:
    made = snippet("codex")
    assert tomllib.loads(made.text)["mcp_servers"]["codex_auto_memory"]["args"] == ["mcp", "serve"]
    assert find_block(made.guidance, GUIDANCE, "AGENTS.md") is not None


def test_nothing_to_paste_names_this_machine_or_lets_agents_write() -> None:
    for host in HOSTS:
        text = snippet(host).text + snippet(host).guidance
        assert os.environ["HOME"] not in text
        assert sys.prefix not in text
        assert "--allow-write" not in text
    with pytest.raises(InvalidInputError, match="codex, claude, gemini, generic"):
        snippet("bogus")


def test_every_asset_is_there_and_stamped() -> None:
    for name in VERSIONS:
        text = asset_text(name, ("cam",))
        assert f"cam:asset {name.replace('.', '-')} {VERSIONS[name]} sha256:" in text
        assert "{cam}" not in text
        assert "{stamp}" not in text


def test_the_skill_has_a_head_that_hosts_read() -> None:
    head, _, body = asset_text("skill", ("cam",)).removeprefix("---\n").partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields.keys() == {"name", "description"}
    assert fields["name"] == "codex-auto-memory-recall"
    assert len(fields["description"]) <= 1024
    assert len(body.splitlines()) < 60


def test_the_bridge_gives_the_programs_own_answers(tmp_path: Path) -> None:
    from cam.context import open_context

    repo = tmp_path / "my repo"
    repo.mkdir()
    context = open_context(str(repo))
    for text in ("Run tests with make check", "Tests need postgres", "Deploy tests on Tuesdays"):
        remember(context.store, text, (), MemoryScope.PROJECT, None)
    root = context.layout.root
    places = find_places(context.environment, context.project, root, "user", "runtime")
    carry_out(plan_install(places, root, (Piece.BRIDGE,)), root)

    def run(*words: str, cwd: Path = tmp_path) -> dict[str, Any]:
        env = {**os.environ, "CAM_PROJECT_ROOT": str(repo)}
        done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout)["data"]
        return found

    cam = [sys.executable, "-m", "cam", "recall"]
    asked = run(*cam, "search", "tests", "--state", "auto", "--limit", "8", "--json", cwd=repo)
    assert len(asked["items"]) == 3
    assert run(f"{places.bridge}/memory-search.sh", "tests", "--json") == asked
    assert run("sh", f"{places.bridge}/memory-recall.sh", "search", "tests", "--json") == asked
    ref = asked["items"][0]["ref"]
    assert run(f"{places.bridge}/memory-details.sh", ref, "--json") == run(
        *cam, "details", ref, "--json", cwd=repo
    )
    timeline = run(*cam, "timeline", ref, "--json", cwd=repo)
    assert run(f"{places.bridge}/memory-timeline.sh", ref, "--json") == timeline
    assert len(run(f"{places.bridge}/memory-search.sh", "tests", "--limit", "1", "--json")["items"]) == 1
    usage = subprocess.run(
        [f"{places.bridge}/memory-recall.sh", "drop"], capture_output=True, text=True, check=False
    )
    assert (usage.returncode, usage.stdout) == (4, "")
    assert {Path(name).suffix for name in BRIDGE_FILES} == {".sh", ".md"}
