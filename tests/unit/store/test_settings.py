"""Which layer wins, and what each may set."""

import os
import subprocess
from pathlib import Path

import pytest

from cam.core.settings import SETTINGS, Settings
from cam.store.identity import resolve_project
from cam.store.settings import load_settings
from cam.system.environment import read_environment
from tests.unit.cli.run import run


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


def load(repo: Path, flags: dict[str, str] | None = None) -> Settings:
    environment = read_environment(str(repo))
    return load_settings(environment, resolve_project(str(repo), environment.home), flags)


def put(layer: str, repo: Path, text: str) -> str:
    home = Path(os.environ["HOME"])
    path = {
        "user": home / ".config" / "codex-auto-memory" / "config.yaml",
        "user.json": home / ".config" / "codex-auto-memory" / "config.json",
        "project": repo / "codex-auto-memory.yaml",
        "project.json": repo / "codex-auto-memory.json",
        "local": repo / ".codex-auto-memory.local.yaml",
    }[layer]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


LAYERS = ["default", "user", "project", "local", "environment", "flag"]


@pytest.mark.parametrize("strongest", LAYERS)
def test_the_later_layer_wins(repo: Path, monkeypatch: pytest.MonkeyPatch, strongest: str) -> None:
    values = {"default": 200, "user": 11, "project": 12, "local": 13, "environment": 14, "flag": 15}
    flags = {}
    source = "default"
    for layer in LAYERS[1 : LAYERS.index(strongest) + 1]:
        if layer == "environment":
            monkeypatch.setenv("CAM_MAX_STARTUP_LINES", "14")
            source = "CAM_MAX_STARTUP_LINES"
        elif layer == "flag":
            flags = {"max_startup_lines": "15"}
            source = "flag"
        else:
            source = put(layer, repo, f"# a comment\nmax_startup_lines: {values[layer]}\n") + ":2"
    settings = load(repo, flags)
    assert settings["max_startup_lines"] == values[strongest]
    assert settings.sources["max_startup_lines"] == source
    assert settings.warnings == ()


SHARED = {
    "recall_index",
    "enabled", "default_scope", "max_startup_lines", "max_startup_tokens", "session_continuity",
    "max_session_continuity_lines", "session_continuity_path_style",
}  # fmt: skip
SAMPLE = {
    "enabled": ("false", False), "memory_dir": ("/evil", "/evil"), "codex_binary": ("./evil", "./evil"),
    "default_scope": ("global", "global"), "max_startup_lines": ("7", 7), "max_startup_tokens": ("99", 99),
    "off_folders": ("[/evil]", ("/evil",)),
    "session_continuity": ("manual", "manual"), "max_session_continuity_lines": ("9", 9),
    "session_continuity_path_style": ("claude", "claude"),
    "extractor": ("codex", "codex"), "extractor_seconds": ("9", 9),
    "health_sync_days": ("9", 9), "health_recall_hours": ("9", 9), "health_waiting": ("9", 9),
    "health_log_mb": ("9", 9), "prompt_recall": ("true", True), "recall_index": ("\"off\"", "off"),
}  # fmt: skip


@pytest.mark.parametrize("name", [s.name for s in SETTINGS])
@pytest.mark.parametrize("layer", ["user", "project", "local"])
def test_who_may_set_what(repo: Path, layer: str, name: str) -> None:
    text, value = SAMPLE[name]
    path = put(layer, repo, f"{name}: {text}\n")
    settings = load(repo)
    if layer != "project" or name in SHARED:
        assert settings[name] == value
        assert settings.warnings == ()
    else:
        assert settings.sources[name] == "default"
        assert settings.warnings[0].startswith(
            f"{path}:1: {name} may not be set by a file that the repository"
        )


@pytest.mark.parametrize("text", ["memory_dir: /evil\n", "codex_binary: ./evil\n", "max_startup_lines: 3\n"])
def test_a_tracked_local_file_could_be_anybodys(repo: Path, text: str) -> None:
    put("local", repo, text)
    subprocess.run(["git", "add", "-f", ".codex-auto-memory.local.yaml"], cwd=repo, check=True)
    settings = load(repo)
    assert set(settings.sources.values()) == {"default"}
    assert "git tracks this file" in settings.warnings[0]


@pytest.mark.parametrize(("text", "says"), [
    ("max_startup_lines: many\n", ":1: max_startup_lines must be a whole number from 1 to 400; 200 holds"),
    ("max_startup_lines: 0\n", ":1: max_startup_lines must be"),
    ("max_startup_lines: true\n", ":1: max_startup_lines must be"),
    ("\nenabled: maybe\n", ":2: enabled must be true or false; true holds"),
    ("memory_dir: relative/path\n", ":1: memory_dir must be an absolute path"),
    ("nonsense: 1\n", ":1: there is no setting 'nonsense'"),
    ("- a\n- b\n", ":1: settings are 'name: value' lines"),
    ("a: b: c\n", ":1: the file cannot be read"),
    ("x: [1\n", "the file cannot be read"),
    ("\x00", "the file cannot be read"),
])  # fmt: skip
def test_a_bad_value_is_one_clear_message_and_the_default_holds(repo: Path, text: str, says: str) -> None:
    path = put("user", repo, text)
    settings = load(repo)
    assert len(settings.warnings) == 1
    assert settings.warnings[0].startswith(path)
    assert says in settings.warnings[0]
    assert settings.values == {s.name: s.default for s in SETTINGS}


def test_the_predecessors_files_are_read(repo: Path) -> None:
    put("user.json", repo, '{"maxStartupLines": 33, "extractorMode": "codex", "autoMemoryEnabled": false}')
    put("project.json", repo, '{"defaultScope": "project-local", "sessionContinuityAutoLoad": true}')
    settings = load(repo)
    assert (settings["max_startup_lines"], settings["enabled"], settings["default_scope"]) == (
        33, False, "project-local",
    )  # fmt: skip
    assert settings.warnings == ()


def test_empty_variables_are_unset(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAM_HOME", "")
    assert load(repo).sources["memory_dir"] == "default"


def compiled() -> Path:
    return Path(os.environ["HOME"]) / ".cache" / "codex-auto-memory" / "settings.json"


def test_a_settled_file_is_read_as_yaml_once(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the cache holds, what is answered is what the file says."""
    monkeypatch.setattr("cam.store.settings_cache.RACY", 0)  # times tell changes apart here
    path = put("user", repo, "# mine\nmax_startup_lines: 31\noff_folders: [/a, /b]\n")
    first = load(repo)
    assert (first["max_startup_lines"], first["off_folders"]) == (31, ("/a", "/b"))
    assert compiled().stat().st_mode & 0o777 == 0o600
    assert load(repo) == first
    # What is kept is used: nothing but the cache says 44.
    kept = compiled().read_text()
    compiled().write_text(kept.replace('"max_startup_lines":31', '"max_startup_lines":44'))
    assert load(repo)["max_startup_lines"] == 44
    status = os.stat(path)
    Path(path).write_text("# mine\nmax_startup_lines: 32\noff_folders: [/a, /b]\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert load(repo)["max_startup_lines"] == 32, "same size and mtime"
    other = Path(path).with_name("other")
    other.write_text("# mine\nmax_startup_lines: 33\noff_folders: [/a, /b]\n")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    os.replace(other, path)
    assert load(repo)["max_startup_lines"] == 33, "another file of the same name"
    Path(path).unlink()
    assert load(repo)["max_startup_lines"] == 200


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"rules": 1}', "\udcff", '{"rules":[],"files":{"a":1}}']
)
def test_a_cache_that_is_none_is_no_matter(repo: Path, monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    monkeypatch.setattr("cam.store.settings_cache.RACY", 0)
    put("user", repo, "max_startup_lines: 31\n")
    load(repo)
    compiled().write_bytes(content.encode("utf-8", "surrogateescape"))
    assert load(repo)["max_startup_lines"] == 31
    compiled().unlink()
    compiled().mkdir()
    assert load(repo)["max_startup_lines"] == 31


def test_what_json_cannot_carry_is_read_each_time(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cam.store.settings_cache.RACY", 0)
    put("user", repo, "max_startup_lines: 31\nsince: 2026-01-02\nmany: {1: 2}\n")
    first = load(repo)
    assert not compiled().exists()
    assert load(repo) == first


def test_a_file_just_written_is_not_kept(repo: Path) -> None:
    put("user", repo, "max_startup_lines: 31\n")
    assert load(repo)["max_startup_lines"] == 31
    assert not compiled().exists()


def linked(repo: Path, text: str) -> tuple[Path, Path]:
    """The user's settings file as a link into a folder of dotfiles: the link, and what it leads to."""
    link = Path(put("user", repo, "# here\n"))
    kept = repo.with_name("dotfiles") / "cam.yaml"
    kept.parent.mkdir()
    kept.write_text(text, encoding="utf-8")
    link.unlink()
    link.symlink_to(kept)
    return link, kept


def test_the_users_file_may_be_a_link(repo: Path) -> None:
    link, kept = linked(repo, "max_startup_lines: 50\n")
    for lines in (50, 60):  # what it leads to is looked at, not the link
        kept.write_text(f"max_startup_lines: {lines}\n")
        settings = load(repo)
        assert (settings["max_startup_lines"], settings.warnings) == (lines, ())
    kept.unlink()
    assert [w for w in load(repo).warnings if str(link) in w and f"leads to {kept}" in w]
    link.unlink()
    link.symlink_to(repo)
    assert [w for w in load(repo).warnings if "no regular file" in w]


def test_a_repositorys_link_is_not_followed(repo: Path) -> None:
    _, kept = linked(repo, "max_startup_lines: 50\n")
    Path(put("project", repo, "")).unlink()
    (repo / "codex-auto-memory.yaml").symlink_to(kept)
    settings = load(repo)
    assert "config.yaml" in settings.sources["max_startup_lines"]
    assert [w for w in settings.warnings if "codex-auto-memory.yaml: this is no regular file" in w]


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_link_is_written_through(repo: Path, mode: int, capsys: pytest.CaptureFixture[str]) -> None:
    link, kept = linked(repo, "# mine\nmax_startup_lines: 50\n")
    kept.chmod(mode)
    assert run(["--cwd", str(repo), "config", "set", "max_startup_lines", "70"]) == 0
    assert f"{link} is a link; {kept} was changed" in capsys.readouterr().err
    assert link.is_symlink()
    assert kept.read_text() == "# mine\nmax_startup_lines: 70\n"
    assert kept.stat().st_mode & 0o777 == mode
    kept.unlink()
    assert run(["--cwd", str(repo), "config", "set", "max_startup_lines", "80"]) == 4
    assert f"leads to {kept}, and nothing is there" in capsys.readouterr().err
    assert link.is_symlink()
    assert not kept.exists()


def test_config_get_says_what_could_not_be_taken(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, kept = linked(repo, "")
    kept.unlink()
    assert run(["--cwd", str(repo), "config", "get", "max_startup_lines"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "200\n"
    assert "nothing is there" in shown.err


def test_a_shared_file_stays_shared(repo: Path) -> None:
    path = Path(put("project", repo, "max_startup_lines: 50\n"))
    path.chmod(0o644)
    assert run(["--cwd", str(repo), "config", "set", "max_startup_lines", "70", "--in", "project"]) == 0
    assert path.stat().st_mode & 0o777 == 0o644
