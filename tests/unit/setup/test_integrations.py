"""Putting cam into Codex and taking it out again: all or nothing, and every byte of the user's as it was."""

import json
import os
import sys
import tomllib
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from cam.core.errors import CamError, IntegrityError, StalePlanError, StoreUnavailableError, WriteRefusedError
from cam.formats.codex_hooks import hook_key, our_hooks
from cam.setup.integrations.commit import forget_installation, read_manifest
from cam.setup.integrations.flow import carry_out, plan_install, plan_remove
from cam.setup.integrations.pieces import FORWARDED, GUIDANCE
from cam.setup.integrations.places import EVENTS, find_places
from cam.setup.integrations.result import STACK, Piece, Places
from cam.setup.integrations.uninstall import uninstall
from cam.store.identity import Project, resolve_project
from cam.system.environment import Environment
from cam.system.locking import hold

EVERYTHING = (*STACK, Piece.GUIDANCE, Piece.BRIDGE, Piece.TRUST)
NEW = (0, 171, 0)
LINT = {"type": "command", "command": "lint.sh"}


class Machine:
    """A home, a repository and a store, with spaces and letters of other scripts in their names."""

    def __init__(self, root: Path) -> None:
        self.home = root / "Ün höme"
        self.repo = root / "my repo 项目"
        self.codex = self.home / ".codex"
        self.store = str(self.home / ".codex-auto-memory")
        for folder in (self.codex, self.repo / ".git" / "objects", self.repo / ".git" / "refs"):
            folder.mkdir(parents=True)
        (self.repo / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.environment = Environment(
            str(self.home), str(self.repo), {"PATH": "/usr/bin", "CODEX_HOME": str(self.codex)}
        )
        project = resolve_project(str(self.repo), str(self.home))
        assert project is not None
        self.project: Project = project

    def places(self, scope: str = "project", surface: str = "runtime") -> Places:
        return find_places(self.environment, self.project, self.store, scope, surface)

    def install(self, scope: str = "project", pieces: tuple[Piece, ...] = EVERYTHING) -> list[str]:
        plan = plan_install(self.places(scope), self.store, pieces, NEW)
        carry_out(plan, self.store)
        return [f"{n.piece} {n.action}" for n in plan.notes]

    def remove(self, scope: str = "project", pieces: tuple[Piece, ...] = EVERYTHING) -> list[str]:
        plan = plan_remove(self.places(scope), self.store, pieces)
        carry_out(plan, self.store)
        return [f"{n.piece} {n.action}" for n in plan.notes]

    def tree(self) -> dict[str, tuple[int, bytes | str | None]]:
        """Everything but cam's own notes: mode, and bytes or link."""
        found: dict[str, tuple[int, bytes | str | None]] = {}
        for top in (self.home, self.repo):
            for path in top.rglob("*"):
                if "integrations" in path.parts or path.name == ".codex-auto-memory":
                    continue
                mode = path.lstat().st_mode
                what = (
                    os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
                )
                found[str(path)] = mode, what
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("scope", ["user", "project"])
def test_in_and_out_of_an_empty_place_leaves_nothing(machine: Machine, scope: str) -> None:
    before = machine.tree()
    machine.install(scope)
    places = machine.places(scope)
    for path in (places.hooks, places.config, places.trust, places.skill, places.guidance):
        assert os.path.isfile(path), path
    assert {h.event for h in our_hooks(Path(places.hooks).read_text(), places.hooks)} == set(EVENTS)
    assert all(a.endswith(" unchanged") for a in machine.install(scope))
    machine.remove(scope)
    assert machine.tree() == before
    assert read_manifest(machine.store) == {}


@pytest.mark.parametrize("name", ["AGENTS.md", ".codex", ".codex/config.toml", ".codex/hooks.json"])
def test_no_link_leads_out_of_the_repository(machine: Machine, name: str) -> None:
    outside = machine.home / "mine"
    if name == ".codex":
        outside.mkdir()
    else:
        write(outside, "mine\n" if name == "AGENTS.md" else "")
    (machine.repo / name).parent.mkdir(exist_ok=True)
    (machine.repo / name).symlink_to(outside)
    before = machine.tree()
    with pytest.raises(WriteRefusedError, match="is a link out of the project"):
        machine.install("project", (*STACK, Piece.GUIDANCE))
    assert machine.tree() == before


def test_a_link_inside_the_repository_is_followed(machine: Machine) -> None:
    write(machine.repo / "CLAUDE.md", "mine\n")
    (machine.repo / "AGENTS.md").symlink_to("CLAUDE.md")
    machine.install("project", (Piece.GUIDANCE,))
    assert GUIDANCE in (machine.repo / "CLAUDE.md").read_text()


def test_nothing_of_this_machine_is_in_files_that_may_be_committed(machine: Machine) -> None:
    machine.install("project")
    for path in machine.repo.rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert str(machine.home) not in text
            assert str(machine.repo) not in text
            assert sys.prefix not in text
            assert "--allow-write" not in text


def test_the_server_gets_what_it_needs_and_no_project(machine: Machine) -> None:
    machine.install("project", (Piece.MCP,))
    entry = tomllib.loads((machine.repo / ".codex/config.toml").read_text())["mcp_servers"][
        "codex_auto_memory"
    ]
    assert entry == {"command": "cam", "args": ["mcp", "serve"], "env_vars": list(FORWARDED)}


def rich(machine: Machine) -> None:
    """Files of a person who has everything already, each laid out in an odd way."""
    lines = [
        "# top",
        'model = "m" # mine',
        "",
        "[mcp_servers.other]",
        "command = 'x'",
        "",
        "[tui]",
        "x=1",
        "# end",
    ]
    groups = {"Stop": [{"hooks": [LINT]}], "SessionStart": [{"matcher": "x", "hooks": [LINT]}]}
    for folder in (machine.codex, machine.repo / ".codex"):
        write(folder / "config.toml", "\r\n".join(lines))
        write(folder / "hooks.json", json.dumps({"hooks": groups}))
    write(
        machine.repo / "AGENTS.md",
        "# Rules\r\n\r\n```\r\n<!-- cam:codex-agents-guidance:start -->\r\n```\r\nend",
    )
    write(machine.codex / "AGENTS.md", "mine")
    write(machine.codex / "skills" / "codex-auto-memory-recall" / "notes.md", "mine")
    os.chmod(machine.codex / "config.toml", 0o640)


@pytest.mark.parametrize("scope", ["user", "project"])
def test_files_of_the_users_are_as_before(machine: Machine, scope: str) -> None:
    rich(machine)
    before = machine.tree()
    machine.install(scope)
    config = (machine.codex / "config.toml").read_bytes()
    assert b"\n" not in config.replace(b"\r\n", b"")
    assert config.startswith(b"# top\r\n")
    machine.remove(scope)
    assert machine.tree() == before


def test_pieces_go_one_by_one_in_any_order(machine: Machine) -> None:
    rich(machine)
    before = machine.tree()
    machine.install("user")
    machine.install("project")
    for scope, piece in [
        ("project", Piece.MCP), ("user", Piece.HOOKS), ("project", Piece.GUIDANCE), ("user", Piece.MCP),
        ("project", Piece.HOOKS), ("user", Piece.SKILL), ("user", Piece.GUIDANCE), ("user", Piece.BRIDGE),
    ]:  # fmt: skip
        machine.remove(scope, (piece,))
    after = machine.tree()
    assert {p: after.get(p) for p in before if not p.endswith("config.toml")} == {
        p: v for p, v in before.items() if not p.endswith("config.toml")
    }
    for folder in (machine.codex, machine.repo / ".codex"):
        now = (folder / "config.toml").read_text()
        was = before[str(folder / "config.toml")][1]
        assert isinstance(was, bytes)
        assert tomllib.loads(now) == tomllib.loads(was.decode())


def test_what_others_write_meanwhile_stays(machine: Machine) -> None:
    rich(machine)
    machine.install("user")
    config, hooks = machine.codex / "config.toml", machine.codex / "hooks.json"
    with config.open("a", newline="") as file:
        file.write('\r\n[projects."/p"]\r\ntrust_level = "trusted"\r\n')
    document = json.loads(hooks.read_text())
    document["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "later.sh"}]})
    hooks.write_text(json.dumps(document))
    path = os.path.realpath(hooks)
    with config.open("a", newline="") as file:
        file.write(f'[hooks.state."{hook_key(path, "Stop", 2)}"]\r\ntrusted_hash = "theirs"\r\n')
    machine.remove("user")
    table = tomllib.loads(config.read_text())
    assert table["projects"] == {"/p": {"trust_level": "trusted"}}
    assert table["mcp_servers"].keys() == {"other"}
    # Their hook is the second now, and trusted still.
    assert table["hooks"]["state"] == {hook_key(path, "Stop", 1): {"trusted_hash": "theirs"}}
    assert [g["hooks"][0]["command"] for g in json.loads(hooks.read_text())["hooks"]["Stop"]] == [
        "lint.sh",
        "later.sh",
    ]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        (".codex/hooks.json", '{"hooks":\n{,}}', 2),
        (".codex/hooks.json", "\xff", 1),
        (".codex/config.toml", "a = 1\n[x\n", 2),
        (".codex/config.toml", "mcp_servers = 1\n", 1),
        ("AGENTS.md", "x\n<!-- cam:codex-agents-guidance:end -->\n", 2),
    ],
)
def test_invalid_files_are_refused_with_their_line_and_nothing_is_written(
    machine: Machine, name: str, text: str, line: int
) -> None:
    path = machine.repo / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode("latin-1" if text == "\xff" else "utf-8"))
    before = machine.tree()
    kind = WriteRefusedError if name == "AGENTS.md" else IntegrityError
    with pytest.raises(kind, match=rf"{name}:{line}: .*nothing was written"):
        machine.install()
    assert machine.tree() == before


def test_a_read_only_file_is_left(machine: Machine) -> None:
    path = write(machine.repo / ".codex" / "config.toml", "a = 1\n")
    path.chmod(0o444)
    before = machine.tree()
    with pytest.raises(WriteRefusedError, match=r"config\.toml is read-only; nothing was written"):
        machine.install()
    assert machine.tree() == before


def test_links_are_written_through(machine: Machine, tmp_path: Path) -> None:
    real = write(tmp_path / "dotfiles" / "config.toml", "a = 1\n")
    agents = write(tmp_path / "dotfiles" / "AGENTS.md", "mine\n")
    (machine.codex / "config.toml").symlink_to(real)
    (machine.codex / "AGENTS.md").symlink_to("../../dotfiles/AGENTS.md")
    before = machine.tree()
    machine.install("user")
    assert (machine.codex / "config.toml").is_symlink()
    assert b"codex_auto_memory" in real.read_bytes()
    assert GUIDANCE in agents.read_text()
    machine.remove("user")
    assert machine.tree() == before
    assert (real.read_text(), agents.read_text()) == ("a = 1\n", "mine\n")


@pytest.mark.parametrize("kind", ["folder", "loop", "pipe"])
def test_what_is_no_file_is_refused(machine: Machine, kind: str) -> None:
    path = machine.codex / "hooks.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to("hooks.json")
    else:
        os.mkfifo(path)
    with pytest.raises(CamError, match=r"hooks\.json"):
        machine.install("user")
    assert sorted(p.name for p in machine.codex.iterdir()) == ["hooks.json"]


def test_an_older_one_is_renewed_and_one_changed_by_hand_is_left(machine: Machine) -> None:
    machine.install()
    places = machine.places()
    skill, guide = Path(places.skill), Path(places.guidance)
    skill.write_text("<!-- cam:asset-version retrieval-contract-v1 -->\nold\n")
    guide.write_text(guide.read_text().replace("Do not quote", "Never quote"))
    hooks = Path(places.hooks)
    hooks.write_text(
        hooks.read_text()
        .replace('"timeout": 3,', '"timeout": 1,')
        .replace('"timeout": 3\n', '"timeout": 1\n')
    )
    config = Path(places.config)
    config.write_text(
        '[mcp_servers.codex_auto_memory]\ncommand = "cam"\nargs = ["mcp", "serve"]\ncwd = "/old"\nx = 1\n'
    )
    notes = machine.install()
    assert {"skill updated", "guidance left", "hooks updated", "mcp updated"} <= set(notes)
    entry = tomllib.loads(config.read_text())["mcp_servers"]["codex_auto_memory"]
    assert "cwd" not in entry
    assert entry["x"] == 1
    skill.write_text(skill.read_text() + "mine\n")
    assert "skill left" in machine.install()
    assert "skill left" in machine.remove()
    assert skill.read_text().endswith("mine\n")


def test_an_entry_that_allows_more_is_the_persons_own(machine: Machine) -> None:
    text = '[mcp_servers.codex_auto_memory]\ncommand = "cam"\nargs = ["mcp", "serve", "--allow-write"]\n'
    write(machine.repo / ".codex/config.toml", text)
    assert "mcp left" in machine.install()
    assert (machine.repo / ".codex/config.toml").read_text() == text


def test_trust_is_only_of_what_cam_would_write(machine: Machine) -> None:
    machine.install("project", (Piece.HOOKS,))
    hooks = machine.repo / ".codex/hooks.json"
    hooks.write_text(hooks.read_text().replace("cam hook stop || exit 0", "evil; cam hook stop || exit 0"))
    plan = plan_install(machine.places(), machine.store, (Piece.TRUST,), NEW)
    carry_out(plan, machine.store)
    state = tomllib.loads((machine.codex / "config.toml").read_text())["hooks"]["state"]
    assert len(state) == len(EVENTS) - 1
    assert not any(":stop:" in key for key in state)


def test_a_plan_that_went_stale_writes_nothing(machine: Machine) -> None:
    rich(machine)
    plan = plan_install(machine.places(), machine.store, EVERYTHING, NEW)
    write(machine.repo / "AGENTS.md", "changed")
    before = machine.tree()
    with pytest.raises(StalePlanError):
        carry_out(plan, machine.store)
    assert machine.tree() == before


def test_a_skill_that_another_place_needs_stays(machine: Machine) -> None:
    machine.install("user")
    machine.install("project")
    assert "skill left" in machine.remove("project")
    assert os.path.isfile(machine.places().skill)
    assert "skill removed" in machine.remove("user")


def test_a_hook_for_prompts_only_where_it_is_wanted(machine: Machine) -> None:
    wanted = find_places(
        machine.environment, machine.project, machine.store, "project", "runtime", prompts=True
    )
    carry_out(plan_install(wanted, machine.store, (Piece.HOOKS,)), machine.store)
    assert {h.event for h in our_hooks(Path(wanted.hooks).read_text(), "f")} == {*EVENTS, "UserPromptSubmit"}
    assert machine.install("project", (Piece.HOOKS,)) == ["hooks unchanged"]
    machine.remove("project", (Piece.HOOKS,))
    assert not os.path.exists(wanted.hooks)


def test_uninstall_finds_every_place(machine: Machine, tmp_path: Path) -> None:
    rich(machine)
    before = machine.tree()
    machine.install("user")
    machine.install("project")
    elsewhere = Environment(str(machine.home), str(tmp_path), machine.environment.variables)
    assert len(uninstall(elsewhere, None, machine.store, dry_run=True)) >= 2
    uninstall(elsewhere, None, machine.store, dry_run=False)
    after = machine.tree()
    assert after.keys() == before.keys()
    assert not os.path.exists(os.path.join(machine.store, "integrations"))
    assert {p for p in before if before[p] != after[p]} <= {str(machine.codex / "config.toml")}


def fault(machine: Machine, work: Callable[[], list[str]], at: int, how: str) -> int:
    """Let the file operation number ``at`` fail, or the process end there: 99; 7 if ``work`` gave up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads that the child does not use
        child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    count, code = 0, 98

    def audit(event: str, args: tuple[object, ...]) -> None:
        nonlocal count
        watched = ("open", "os.rename", "os.remove", "os.mkdir", "os.chmod", "os.rmdir", "cam.rename")
        if event in watched and str(machine.home.parent) in str(args[0]):
            count += 1
            if count == at:
                if how == "die":
                    os._exit(99)
                raise OSError(28, "no space left")

    try:
        sys.addaudithook(audit)
        work()
        code = 0
    except (CamError, OSError):
        code = 7
    finally:
        os._exit(code)


def older(machine: Machine) -> None:
    """Everything as an older cam had put it in: skill, hooks and server are other than today's."""
    machine.install()
    places = machine.places()
    Path(places.skill).write_text("<!-- cam:asset-version retrieval-contract-v1 -->\nold\n")
    hooks, config = Path(places.hooks), Path(places.config)
    hooks.write_text(hooks.read_text().replace('"timeout": 3', '"timeout": 1'))
    table = b"[mcp_servers.codex_auto_memory]"
    config.write_bytes(config.read_bytes().replace(table, table + b'\r\ncwd = "/old"'))


@pytest.mark.parametrize("how", ["die", "fail"])
@pytest.mark.parametrize("verb", ["install", "upgrade", "remove"])
def test_a_fault_at_any_file_operation_leaves_all_or_nothing(tmp_path: Path, verb: str, how: str) -> None:
    at, code = 0, -1
    ends: set[bool] = set()
    while code:
        at += 1
        root = tmp_path / str(at)
        root.mkdir()
        machine = Machine(root)
        rich(machine)
        if verb == "upgrade":
            older(machine)
        elif verb == "remove":
            machine.install()
        before = machine.tree()
        work = machine.remove if verb == "remove" else machine.install
        code = fault(machine, work, at, how)
        if code == 99:  # the next one takes back what was left half-done
            plan_install(machine.places("user"), machine.store, (Piece.BRIDGE,))
        assert code in (0, 7, 99)
        after = machine.tree()
        ends.add(after == before)
        if after != before:
            assert code != 7, at
            notes = work()
            assert all(a.endswith((" unchanged", " absent")) for a in notes), (at, code, notes)
    assert ends == {True, False}
    assert at > 20


def test_who_installs_is_not_waited_for_without_end(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cam.setup.integrations.commit.LOCK_SECONDS", 0.05)
    machine.install("user", (Piece.SKILL,))
    machine.remove("user", (Piece.SKILL,))
    lock = Path(machine.store, "integrations", "lock")
    with hold(str(lock), 1.0):
        for work in (forget_installation, lambda _store: machine.install("user")):
            with pytest.raises(StoreUnavailableError, match="another cam"):
                work(machine.store)
        assert lock.exists()
    forget_installation(machine.store)
    assert not lock.parent.exists()
