"""What the doctor finds in files; what it asks of Codex itself is tried on the real one."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from cam.cli.doctor import findings_of
from cam.context import open_context
from cam.formats.receipts import InjectionReceipt
from cam.setup.doctor import Severity
from cam.setup.integrations.doctor import Machine as Asked
from cam.setup.integrations.doctor import check_hooks, check_integrations, check_server
from cam.setup.integrations.result import STACK, Piece
from cam.store.layout import StoreLayout
from cam.store.receipts import add_receipt
from cam.system.files import make_folder
from tests.unit.setup.test_integrations import Machine, write


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def asked(machine: Machine) -> Asked:
    layout = StoreLayout(machine.store, machine.project.id, machine.project.worktree)
    return Asked(machine.environment, machine.project, layout, "", None)


def said(machine: Machine) -> dict[str, str]:
    """Texts by check, those of one check together."""
    found: dict[str, str] = {}
    for finding in check_integrations(asked(machine)).findings:
        found[finding.check] = found.get(finding.check, "") + f"{finding.severity.name} {finding.text}\n"
    return found


def test_nothing_installed_is_fine_and_names_the_way_in(machine: Machine) -> None:
    health = check_integrations(asked(machine))
    assert [(f.check, f.severity) for f in health.findings] == [("route", Severity.OK)]
    assert not health.installed
    assert "cam integrations install" in health.findings[0].advice
    assert check_hooks(asked(machine))[0].text == "not installed"
    assert check_server(asked(machine))[0].text == "not installed"


def test_it_writes_nothing(machine: Machine) -> None:
    machine.install("user", (*STACK, Piece.GUIDANCE))
    before = machine.tree()
    check_integrations(asked(machine))
    assert machine.tree() == before


def test_a_program_that_is_not_on_the_path_is_broken(machine: Machine) -> None:
    machine.install("project", (Piece.MCP,))
    found = said(machine)
    assert "CRITICAL" in found["mcp"]
    assert "there is no program 'cam'" in found["mcp"]
    assert "WARNING cam is not on PATH" in found["program"]


def test_older_pieces_are_named_and_can_be_renewed(machine: Machine) -> None:
    machine.install("user", (*STACK, Piece.GUIDANCE))
    places = machine.places("user")
    hooks = Path(places.hooks)
    hooks.write_text(hooks.read_text().replace('"timeout": 3', '"timeout": 4', 1))
    Path(places.skill).write_text("<!-- cam:asset-version 1 -->\n")
    guide = Path(places.guidance)
    guide.write_text(
        guide.read_text().replace("cam:asset guidance 2 sha256:", "cam:agents-guidance-version v1 ")
    )
    config = Path(places.config)
    config.write_text(config.read_text() + 'cwd = "/one/project"\n')
    health = check_integrations(asked(machine))
    assert {(p, scope) for p, scope, _ in health.stale} == {
        (Piece.HOOKS, "user"), (Piece.SKILL, "user"), (Piece.GUIDANCE, "user"), (Piece.MCP, "user"),
    }  # fmt: skip
    for piece, scope, _ in health.stale:
        machine.install(scope, (piece,))
    assert check_integrations(asked(machine)).stale == ()


def test_what_lets_agents_write_is_said(machine: Machine) -> None:
    text = '[mcp_servers.codex_auto_memory]\ncommand = "cam"\nargs = ["mcp", "serve", "--allow-write"]\n'
    write(machine.codex / "config.toml", text)
    assert "lets agents write" in said(machine)["mcp"]


@pytest.mark.parametrize("scope", ["user", "project"])
def test_only_the_server_that_cam_makes_is_started(
    machine: Machine, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cam.setup.integrations.doctor.find_spec", lambda _name: True)
    mark = machine.home / "ran"
    folder = machine.codex if scope == "user" else machine.repo / ".codex"
    for words in (["-c", f"touch '{mark}'"], [str(mark), "mcp", "serve"], 5, None):
        entry = f"args = {json.dumps(words)}\n" if words is not None else ""
        write(folder / "config.toml", f'[mcp_servers.codex_auto_memory]\ncommand = "/usr/bin/touch"\n{entry}')
        assert "changed by hand; it was not tried" in said(machine)["mcp"]
        assert not mark.exists()


def test_a_report_starts_no_program(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tmp_path / "m")
    mark = tmp_path / "ran"
    for name in ("codex", "cam"):
        write(tmp_path / "bin" / name, f"#!/bin/sh\ntouch '{mark}'\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    machine.install("project", (Piece.MCP, Piece.HOOKS))
    findings = findings_of(open_context(str(machine.repo)), asks=False)
    assert not mark.exists()
    assert any(f.check == "mcp" and f.text.endswith("it was not tried") for f in findings)
    assert any(f.check == "codex" and f.severity is Severity.OK for f in findings)


def test_guidance_that_codex_does_not_read(machine: Machine) -> None:
    machine.install("project", (Piece.GUIDANCE,))
    override = write(machine.repo / "AGENTS.override.md", "mine\n")
    assert "AGENTS.override.md instead of" in said(machine)["agents"]
    override.unlink()
    guide = machine.repo / "AGENTS.md"
    guide.write_text("x" * 40_000 + "\n" + guide.read_text())
    assert "more than the 32768 bytes" in said(machine)["agents"]


@pytest.mark.parametrize(
    ("name", "text", "check"),
    [
        ("hooks.json", '{"hooks": "cam hook stop"}', "hooks"),
        ("config.toml", "[mcp_servers.codex_auto_memory\n", "mcp"),
        ("AGENTS.md", "<!-- cam:codex-agents-guidance:start -->\n", "agents"),
    ],
)
def test_files_that_cannot_be_read_are_named(machine: Machine, name: str, text: str, check: str) -> None:
    write(machine.codex / name, text)
    assert f"WARNING {machine.codex / name}:1: " in said(machine)[check]


def test_hooks_that_never_fired_are_noticed(machine: Machine) -> None:
    machine.install("project", (Piece.HOOKS,))
    hooks = machine.repo / ".codex" / "hooks.json"
    os.utime(hooks, (1_700_000_000, 1_700_000_000))
    day = machine.codex / "sessions" / "2026" / "11" / "30"
    head = {"timestamp": "2026-11-30T10:00:00Z", "type": "session_meta"}
    payload = {"id": "s1", "timestamp": "2026-11-30T10:00:00Z", "cwd": str(machine.repo), "source": "cli"}
    write(day / "rollout-2026-11-30T10-00-00-s1.jsonl", json.dumps({**head, "payload": payload}) + "\n")
    version = (0, 135, 0)
    program = machine.home / "codex"
    write(program, "#!/bin/sh\nexit 1\n").chmod(0o755)
    found = check_hooks(replace(asked(machine), program=str(program), version=version))
    assert [f.text for f in found] == ["installed, but none fired in 1 session since"]
    layout = asked(machine).layout
    make_folder(layout.cache_file())
    add_receipt(layout, InjectionReceipt("s1", "session-hook"))
    quiet = "no session in this project since they were installed"
    found = check_hooks(replace(asked(machine), program=str(program), version=version))
    assert [f.text for f in found] == [quiet]  # it was wrapped
    old = {**payload, "id": "s2", "timestamp": "2023-11-01T10:00:00Z"}
    write(day / "rollout-2026-11-30T10-00-00-s2.jsonl", json.dumps({**head, "payload": old}) + "\n")
    found = check_hooks(replace(asked(machine), program=str(program), version=version))
    assert [f.text for f in found] == [quiet]  # it began before, and was resumed
    done = subprocess.run([str(program)], check=False)
    assert done.returncode == 1
