"""What is built: reproducible, with every asset, its commit, and no dependency that nobody imports."""

import ast
import hashlib
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import metadata, packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {name: rows for name, rows in PROJECT["optional-dependencies"].items() if name not in ("dev", "all")}


def name_of(requirement: str) -> str:
    return re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0].lower()


DECLARED = {
    name_of(row) for row in (*PROJECT["dependencies"], *(row for rows in EXTRAS.values() for row in rows))
}


def imported() -> Iterator[str]:
    """Top-level names that the package imports."""
    for path in sorted((ROOT / "cam").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                yield from (alias.name.partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                yield node.module.partition(".")[0]
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "importlib.import_module":
                yield from (word.value for word in node.args if isinstance(word, ast.Constant))


def test_what_is_declared_is_imported_and_the_other_way_round() -> None:
    providers = packages_distributions() | {"mcp_types": ["mcp"]}  # a part of it that is released apart
    used = {
        provider.lower()
        for name in imported()
        if name != "cam" and name not in sys.stdlib_module_names
        for provider in providers.get(name, [name])[:1]
    }
    assert used == DECLARED


def test_licences_are_listed_and_permissive() -> None:
    listed = dict(
        re.findall(
            r"^\| `([^`]+)` \| ([^|]+?) \|", (ROOT / "docs" / "licences.md").read_text("utf-8"), re.MULTILINE
        )
    )
    assert {name.lower() for name in listed} == DECLARED
    for name, licence in listed.items():
        fields = metadata(name)
        told = " ".join(
            (fields.get_all("Classifier") or [])
            + [fields.get("License-Expression") or fields.get("License") or ""]
        )
        assert licence.split(",")[0].removesuffix(" License") in told, (name, licence, told[:200])
        assert "GPL" not in licence


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The wheel from the checkout, built twice, and the one from the sdist."""
    built = []
    for number in range(2):
        folder = tmp_path_factory.mktemp(f"dist-{number}")
        built.append(build(ROOT, folder, "wheel"))
    unpacked = tmp_path_factory.mktemp("sdist")
    sdist = build(ROOT, unpacked, "sdist")
    subprocess.run(["tar", "-xzf", sdist, "-C", unpacked], check=True)
    (source,) = (path for path in unpacked.iterdir() if path.is_dir())
    return [*built, build(source, unpacked, "wheel")]


def build(source: Path, folder: Path, kind: str) -> Path:
    line = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    done = subprocess.run(line, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl" if kind == "wheel" else "*.tar.gz"))


def test_the_same_commit_gives_the_same_bytes_and_the_sdist_the_same_wheel(wheels: list[Path]) -> None:
    assert len({hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels}) == 1


def test_every_file_of_the_package_is_in_the_wheel(wheels: list[Path]) -> None:
    names = set(zipfile.ZipFile(wheels[0]).namelist())
    own = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "cam").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert own - names == set()
    docs = {f"cam/docs/{path.name}" for path in (ROOT / "docs").iterdir()}
    assert {name for name in names if name.startswith("cam/")} - own == {"cam/commit.txt", *docs}


def test_the_installed_wheel_runs_and_knows_its_commit(wheels: list[Path], tmp_path: Path) -> None:
    target = tmp_path / "site"
    line = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
    ]
    subprocess.run([*line, str(wheels[0])], check=True, capture_output=True)

    def cam(*words: str) -> str:
        # The package from the wheel, what it depends on from here.
        script = (
            f"import sys; sys.path.insert(0, {str(target)!r})\nimport cam.__main__ as m; sys.exit(m.main())"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    head = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False
    )
    told = cam("--version").strip()
    assert told.startswith(f"cam {PROJECT['version']}")
    assert head.returncode or told.endswith(f"({head.stdout.strip()})")
    cam("remember", "The wheel holds its language data: 部署")
    assert "部署" in cam("recall", "search", "部署")
    assert cam("help", "recall").startswith("Usage: cam recall")
    assert cam("help", "continuity").startswith("WHERE THE LAST SESSION STOPPED")
    assert cam("complete", "mem").startswith("memory\t")
    assert cam("report").strip().endswith(".html")
