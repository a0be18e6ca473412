"""Instruction files are found as Codex and other agents find them, and never touched."""

from pathlib import Path

from cam.setup.continuity_check import check_instructions
from cam.setup.instruction_files import fallback_names, instruction_files
from cam.store.identity import Project


def test_the_chain_as_codex_resolves_it(tmp_path: Path) -> None:
    home, codex, root = tmp_path / "home", tmp_path / "home/.codex", tmp_path / "repo"
    here = root / "a/b"
    for folder in (codex, home / ".claude", here / "c", root / "node_modules/x", root / "z"):
        folder.mkdir(parents=True)
    for path in (
        codex / "AGENTS.md", home / ".claude/CLAUDE.md", root / "AGENTS.md", root / "CLAUDE.md",
        root / "a/AGENTS.md", root / "a/AGENTS.override.md", here / "GUIDE.md", here / "c/AGENTS.md",
        root / "z/AGENTS.md", root / "node_modules/x/AGENTS.md", here / "GEMINI.md",
    ):  # fmt: skip
        path.write_text("x")
    (here / "AGENTS.md").write_text("")
    (codex / "config.toml").write_text('project_doc_fallback_filenames = ["GUIDE.md"]\n')
    project = Project("p", "p", str(root), is_git=True)
    found = instruction_files(str(here), project, str(home), str(codex), fallback_names(str(codex)))
    rows = [(f.path.removeprefix(f"{tmp_path}/"), f.level, f.agent, f.is_read) for f in found]
    assert rows == [
        ("home/.codex/AGENTS.md", "user", "codex", True),
        ("home/.claude/CLAUDE.md", "user", "claude", True),
        ("repo/AGENTS.md", "project", "codex", True),
        ("repo/CLAUDE.md", "project", "claude", True),
        ("repo/a/AGENTS.override.md", "project", "codex", True),
        ("repo/a/AGENTS.md", "project", "codex", False),
        ("repo/a/b/AGENTS.md", "project", "codex", False),
        ("repo/a/b/GUIDE.md", "project", "codex", True),
        ("repo/a/b/GEMINI.md", "project", "gemini", True),
        ("repo/a/b/c/AGENTS.md", "nested", "codex", False),
    ]
    assert "repo/a/AGENTS.override.md" in check_instructions(found).text


def test_without_a_project_the_folder_alone_counts(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("x")
    here = tmp_path / "sub"
    here.mkdir()
    assert instruction_files(str(here), None, str(tmp_path / "h"), str(tmp_path / "c")) == ()
    assert check_instructions(()).text == "no AGENTS.md that Codex reads"


def test_broken_settings_name_nothing(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("= broken")
    assert fallback_names(str(tmp_path)) == ()
    assert fallback_names(str(tmp_path / "none")) == ()
