"""Agents at the command line: what their environment shows, and what stays a person's to do."""

import json
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cam.system.environment import AGENT_VARIABLES
from tests.unit.cli.run import run


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    monkeypatch.chdir(folder)
    assert run(["remember", "Use pnpm, never npm"]) == 0
    return folder


def store_bytes(home: Path) -> dict[str, bytes]:
    store = home / ".codex-auto-memory"
    return {
        str(path.relative_to(store)): path.read_bytes() for path in sorted(store.rglob("*")) if path.is_file()
    }


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = run(words)
    return code, capsys.readouterr().err


@pytest.mark.parametrize("variable", AGENT_VARIABLES)
def test_an_agent_without_its_keys_writes_nothing(
    repo: Path, own_home: Path, variable: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    before = store_bytes(own_home)
    monkeypatch.setenv(variable, "1")
    for words in (
        ["remember", "x is y"],
        ["remember", "x is y", "--actor", "codex"],
        ["remember", "x is y", "--allow-write"],
        ["propose", "x", "--target", "AGENTS.md"],
    ):
        code, err = said(capsys, *words)
        assert code == 5
        assert err.count("\n") == 1
    assert store_bytes(own_home) == before
    code, _ = said(capsys, "remember", "The API is at 8080", "--actor", "codex", "--allow-write")
    assert code == 0


def test_what_is_a_person_s_is_refused_to_an_agent_and_names_the_way(
    repo: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(["memory", "list", "--json"]) == 0
    ref = json.loads(capsys.readouterr().out)["data"]["entries"][0]["id"]
    ref = f"project:active:preferences:{ref}"
    (repo / "facts.json").write_text("[]")
    before = store_bytes(own_home)
    monkeypatch.setenv("CODEX_THREAD_ID", "1")
    for line in (
        f"forget {ref}", f"forget {ref} --delete", f"forget {ref} --erase", "undo", f"memory pin {ref}",
        f"memory edit {ref} --summary y", f"memory archive {ref}", f"memory move {ref} --scope global",
        f"memory merge {ref} {ref}", "memory import facts.json", "review accept abc", "review reject abc",
        "review accept abc --apply", "project merge a b", "project move a", "project purge a --yes",
        "store restore-ts", "gc --yes", "off", "on", "config set enabled false",
    ):  # fmt: skip
        code, err = said(capsys, *line.split())
        assert code == 5, line
        assert "MCP" in err, line
    assert store_bytes(own_home) == before
    for line in (
        f"forget {ref} --dry-run",
        "recall search pnpm",
        "memory list",
        "review",
        "gc",
        f"why {ref}",
    ):
        assert run(line.split()) == 0, line


def test_what_cam_leaves_to_itself_is_no_agent_s_doing(
    repo: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrapper that an agent started saves and learns in the background all the same."""
    monkeypatch.setenv("CODEX_THREAD_ID", "1")
    code = "import sys; from cam.system.background import start_cam; start_cam(sys.argv[1], sys.argv[2:])"
    words = [sys.executable, "-c", code, str(repo), "remember", "Deploy with make ship"]
    subprocess.run(words, check=True)
    end = time.monotonic() + 30
    kept = b""
    while b"make ship" not in kept and time.monotonic() < end:
        select.select([], [], [], 0.05)
        kept = b"".join(data for name, data in store_bytes(own_home).items() if name.endswith(".md"))
    assert b"make ship" in kept


def test_a_store_that_a_sandbox_keeps_closed_names_the_mcp_way(
    repo: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = own_home / ".codex-auto-memory"
    monkeypatch.setenv("CODEX_THREAD_ID", "1")
    lock = store / ".lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()  # stands in the way for root too
    code, err = said(capsys, "remember", "The API is at 8080", "--actor", "codex", "--allow-write")
    assert code in (1, 4)
    assert err.count("\n") == 1
    if code == 1:
        assert "cam mcp serve --allow-write" in err


def test_one_item_from_a_word_a_file_or_stdin(
    repo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = ["--actor", "claude", "--allow-write"]
    (tmp_path / "item.json").write_text('{"content": "The queue is at 5672"}')
    (tmp_path / "big.json").write_text(json.dumps({"content": "x" * 262_200}))
    (tmp_path / "latin.json").write_bytes(b'{"content": "\xe9"}')
    assert run(["remember", '{"content": "The API is at 8080"}', *keys]) == 0
    assert run(["remember", "--file", str(tmp_path / "item.json"), *keys]) == 0
    done = subprocess.run(
        [sys.executable, "-m", "cam", "remember", "--file", "-", *keys],
        input='{"content": "The cache is at 6379"}', text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    for words, code in (
        (["--file", str(tmp_path / "big.json")], 4), (["--file", str(tmp_path / "latin.json")], 4),
        (["--file", "/does/not/exist"], 4), (["x", "--file", str(tmp_path / "item.json")], 4), ([], 4),
        (['{"content": "a", "content": "b"}'], 4), (['{"content": NaN}'], 4), (['{"content": "a"'], 4),
        (['{"content": "a"}', "--scope", "global"], 4), (["[1]"], 5), (["null", "--file", "-"], 4),
    ):  # fmt: skip
        assert said(capsys, "remember", *words, *keys)[0] == code, words


def test_a_change_is_applied_only_as_it_was_seen(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agents = repo / "AGENTS.md"
    agents.write_bytes(b"# Rules\r\n\r\n- Be kind")
    assert (
        run(["propose", "--target", "AGENTS.md", "--actor", "codex", "--allow-write", "--", "- Be brief"])
        == 0
    )
    capsys.readouterr()
    run(["review", "list", "--json"])
    (item,) = json.loads(capsys.readouterr().out)["data"]["waiting"]
    agents.write_bytes(b"# Rules\r\n\r\n- Be kind\r\n- Be quick\r\n")  # meanwhile
    assert said(capsys, "review", "accept", item["id"], "--apply")[0] == 5
    assert said(capsys, "review", "accept", item["id"], "--apply", "--seen", "abc")[0] == 5
    assert run(["review", "accept", item["id"], "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["data"]
    assert shown["applied"] is False
    assert agents.read_bytes() == b"# Rules\r\n\r\n- Be kind\r\n- Be quick\r\n"
    assert said(capsys, "review", "accept", item["id"], "--apply", "--seen", shown["seen"])[0] == 0
    assert agents.read_bytes() == b"# Rules\r\n\r\n- Be kind\r\n- Be quick\r\n- Be brief\r\n"
    assert said(capsys, "review", "accept", item["id"], "--apply")[0] == 5  # it is decided


def test_a_file_that_is_not_there_is_made_as_git_would_make_it(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = repo / ".github" / "copilot-instructions.md"
    keys = ["--actor", "codex", "--allow-write"]
    assert run(["propose", "[docs] Be brief", "--target", ".github/copilot-instructions.md", *keys]) == 0
    capsys.readouterr()
    run(["review", "list", "--json"])
    (item,) = json.loads(capsys.readouterr().out)["data"]["waiting"]
    assert not target.parent.exists()
    assert run(["review", "accept", item["id"], "--apply"]) == 0
    assert target.read_text() == "[docs] Be brief\n"
    assert target.stat().st_mode & 0o777 == 0o644
    assert target.parent.stat().st_mode & 0o700 == 0o700


def test_a_fact_is_not_applied_and_a_change_is_no_record(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = ["--actor", "codex", "--allow-write"]
    assert said(capsys, "remember", "Use npm", *keys)[0] == 5
    assert run(["propose", "Be brief", "--target", "CLAUDE.md", *keys]) == 0
    capsys.readouterr()
    run(["review", "list", "--json"])
    waiting = {i["kind"]: i["id"] for i in json.loads(capsys.readouterr().out)["data"]["waiting"]}
    assert said(capsys, "review", "accept", waiting["suppressed"], "--apply")[0] == 4
    assert said(capsys, "review", "reject", waiting["proposed"])[0] == 0
    assert said(capsys, "review", "accept", waiting["proposed"], "--apply")[0] == 5
    assert said(capsys, "review", "accept", waiting["suppressed"])[0] == 0  # as the person's own word
    capsys.readouterr()
    run(["memory", "list", "--json"])
    assert [e["summary"] for e in json.loads(capsys.readouterr().out)["data"]["entries"]] == ["Use npm"]
