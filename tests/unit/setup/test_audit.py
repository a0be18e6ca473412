"""cam audit: whatever way a secret lies there it is found, whatever is not looked at is named."""

import os
import subprocess
import tracemalloc
from pathlib import Path

import pytest

from cam.core.errors import InvalidInputError, StoreUnavailableError
from cam.core.personal import find_personal_paths
from cam.setup.audit import Area, audit_history, audit_repository, audit_store
from cam.setup.scan import Scanner
from cam.system.git import Repository, find_repository

TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
HOME = "/home/zoe"


def quiet(what: str, count: int) -> None:
    """Nobody watches."""


def git(repo: Path, *words: str) -> None:
    who = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"]
    subprocess.run(["git", *who, *words], cwd=repo, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "README.md").write_text("# Shop\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "start")
    return folder


def repository(folder: Path) -> Repository:
    found = find_repository(str(folder))
    assert found is not None
    return found


def kinds(area: Area) -> list[tuple[str, str, int]]:
    return [(f.kind, f.place, f.line) for f in area.findings]


def shown(area: Area) -> str:
    return repr(
        (area.findings, area.covered, area.binary, area.links, area.left_out, area.unread, area.expected)
    )


# -- the store


def test_every_byte_of_the_store_is_read(tmp_path: Path) -> None:
    files = {
        "global/preferences.md": b"# Preferences\n",
        "global/memory-history.jsonl": b'{"x":1}\n' * 3,
        "projects/shop-1/project/notes.md": f"## The key\n\nis {TOKEN}\n".encode(),
        "cache/index.sqlite": b"SQLite\0" + b"\1\2" * 9_000 + TOKEN.encode() + b"\0\0",
        "empty": b"",
    }
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    area = audit_store(str(tmp_path), HOME, quiet)
    assert dict(area.covered) == {name: len(data) for name, data in files.items()}
    assert area.size == sum(map(len, files.values()))
    assert area.binary == ["cache/index.sqlite"]
    assert kinds(area) == [
        ("github-token", "cache/index.sqlite", 0),
        ("github-token", "projects/shop-1/project/notes.md", 3),
    ]
    assert TOKEN not in shown(area)


def test_personal_paths_count_where_they_travel(tmp_path: Path) -> None:
    text = "The venv is in /home/alice/venvs/shop\n"
    for name in (
        "global/a.md",
        "projects/p/project/b.md",
        "projects/p/locals/w/c.md",
        "projects/p/audit/sync-log.jsonl",
        "cache/runs/1/run.json",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    area = audit_store(str(tmp_path), HOME, quiet)
    assert [f.place for f in area.findings] == ["global/a.md", "projects/p/project/b.md"]
    assert sorted(area.expected) == [
        "cache/runs/1/run.json", "projects/p/audit/sync-log.jsonl", "projects/p/locals/w/c.md",
    ]  # fmt: skip
    assert "alice" not in shown(area)
    assert area.findings[0].excerpt == "The venv is in /home/[masked]/venvs/shop"


def test_a_store_that_is_not_there_is_clean(tmp_path: Path) -> None:
    area = audit_store(str(tmp_path / "none"), HOME, quiet)
    assert (area.count, area.covered, area.unread) == (0, [], [])


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "pipe").parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(f"/home/alice/{TOKEN}")
    area = audit_store(str(tmp_path), HOME, quiet)
    assert area.left_out == [("pipe", "no regular file")]
    assert area.links == ["link"]
    assert [f.kind for f in area.findings] == ["github-token"]
    assert TOKEN not in shown(area)


# -- the repository


def test_files_that_are_or_could_be_committed(repo: Path) -> None:
    (repo / ".gitignore").write_text(".env\nbuild/\n")
    (repo / ".env").write_text(f"TOKEN={TOKEN}\n")
    (repo / "build").mkdir()
    (repo / "build" / "x").write_text("x")
    (repo / "new.py").write_text(f'a = 1\nkey = "{TOKEN}"\n')
    (repo / f"{TOKEN}.txt").write_text("x")
    (repo / "gone.txt").write_text("x")
    git(repo, "add", "gone.txt")
    (repo / "gone.txt").unlink()
    area = audit_repository(str(repo), repository(repo), HOME, quiet)
    assert kinds(area) == [("github-token", "[masked].txt", 0), ("github-token", "new.py", 2)]
    assert {name for name, _ in area.covered} == {"README.md", ".gitignore", "[masked].txt", "new.py"}
    assert sorted(area.left_out) == [
        (".env", "ignored by git"),
        ("build/", "ignored by git"),
        ("gone.txt", "gone from the folder, still in git's index"),
    ]
    assert TOKEN not in shown(area)


def test_a_folder_outside_git_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_text(f"password = {TOKEN}")
    area = audit_repository(str(tmp_path), None, HOME, quiet)
    assert [name for name, _ in area.covered] == ["a/b.txt"]
    assert area.count == 1


def test_other_encodings(repo: Path) -> None:
    for encoding in ("utf-16", "latin-1", "utf-8-sig"):
        (repo / f"{encoding}.txt").write_bytes(f"Schlüssel\r\n{TOKEN}\r\n".encode(encoding))
    area = audit_repository(str(repo), repository(repo), HOME, quiet)
    assert [line for _, _, line in kinds(area)] == [2, 2, 2]
    assert area.binary == []


def test_a_bare_repository_has_no_files(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "b.git")
    with pytest.raises(InvalidInputError):
        audit_repository(str(tmp_path / "b.git"), repository(tmp_path / "b.git"), HOME, quiet)


# -- its history


def test_what_was_ever_committed_is_found(repo: Path) -> None:
    (repo / "config.py").write_text(f'one = 1\nkey = "{TOKEN}"\n')
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "add")
    git(repo, "rm", "-q", "config.py")
    git(repo, "commit", "-q", "-m", f"take {TOKEN} out, see /Users/alice/notes")
    area = audit_history(repository(repo), HOME, quiet)
    found = {(kind, place.partition(" ")[2] or place, line) for kind, place, line in kinds(area)}
    assert ("github-token", "config.py", 2) in found
    assert ("github-token", "commit", 6) in found
    assert ("personal-path", "commit", 6) in found
    assert ("github-token", "logs/HEAD", 3) in found  # git's own files as well
    assert area.objects == {"blob": 2, "commit": 3, "tree": 2}
    out = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch-check=%(objectsize)"],
        cwd=repo, capture_output=True, check=True, text=True,
    ).stdout  # fmt: skip
    assert area.size - sum(size for _, size in area.covered) == sum(map(int, out.split()))
    assert TOKEN not in shown(area)


def test_what_no_commit_leads_to_is_found_too(repo: Path) -> None:
    subprocess.run(
        ["git", "hash-object", "-w", "--stdin"],
        cwd=repo,
        input=TOKEN.encode(),
        check=True,
        capture_output=True,
    )
    area = audit_history(repository(repo), HOME, quiet)
    assert [f.kind for f in area.findings] == ["github-token"]


def test_packed_objects_tags_and_names_of_files(repo: Path) -> None:
    (repo / f"{TOKEN}.txt").write_text("x")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "more")
    git(repo, "tag", "-a", "v1", "-m", f"key {TOKEN}")
    git(repo, "gc", "-q")
    area = audit_history(repository(repo), HOME, quiet)
    assert area.objects == {"blob": 2, "commit": 2, "tree": 2, "tag": 1}
    assert {f.place.partition(" ")[2] for f in area.findings} >= {"tree", "tag"}
    assert TOKEN not in shown(area)


def test_a_shallow_clone_says_so(repo: Path, tmp_path: Path) -> None:
    git(repo, "commit", "-q", "--allow-empty", "-m", "two")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "clone")
    area = audit_history(repository(tmp_path / "clone"), HOME, quiet)
    assert area.left_out == [("shallow", "a shallow clone: older commits are not here")]


def test_a_broken_repository_is_an_error(repo: Path) -> None:
    for path in (repo / ".git" / "objects").glob("??/*"):
        path.chmod(0o600)
        path.write_bytes(b"broken")
    with pytest.raises(StoreUnavailableError):
        audit_history(repository(repo), HOME, quiet)


def test_the_environment_does_not_lead_elsewhere(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert audit_history(repository(repo), HOME, quiet).objects["commit"] == 1


# -- reading


@pytest.mark.parametrize("at", [0, 4_090, 63_500, 65_530, 8_190, 1_048_560, 2_000_000])
@pytest.mark.parametrize("fill", [b"x ", b"x\n", b"\0\1"])
def test_a_secret_across_any_border_is_found(at: int, fill: bytes) -> None:
    data = bytearray(fill * 1_100_000)
    secret = f" {TOKEN} ".encode()
    data[at : at + len(secret)] = secret
    chunks = [bytes(data[a : a + 1_048_576]) for a in range(0, len(data), 1_048_576)]
    hits, size, _ = Scanner(HOME).scan(iter(chunks))
    assert {h.kind for h in hits} == {"github-token"}
    assert size == len(data)


def test_a_clean_line_is_not_read_twice_and_a_dirty_one_is() -> None:
    scanner = Scanner(HOME)
    text = f"first line\npassword = {TOKEN}\nlast line\n".encode()
    assert [len(scanner.scan([text])[0]) for _ in range(3)] == [1, 1, 1]


def test_memory_does_not_grow_with_the_file() -> None:
    tracemalloc.start()
    chunk = b"".join(b"line number %d is like no other\n" % n for n in range(2_000))
    Scanner(HOME).scan(chunk.replace(b"like", b"%d" % n) for n in range(60))  # 4 MB, 120,000 lines
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24_000_000


# -- personal paths

PERSONAL_PATHS = [
    "/home/alice/x", "/Users/bob.smith", "C:\\Users\\carol\\x", "C:\\\\Users\\\\carol\\\\x",
    "/mnt/c/Users/eve/x", "file:///home/frank/x", "file:///C:/Users/kim/x", "(/home/grace/x)",
    "x=/home/heidi/a", "/var/home/ivan/x",
    "`/home/张伟/x`", "/c/Users/lee/x", "PATH=/usr/bin:/home/mia/bin",
]  # fmt: skip
NOT_PERSONAL = [
    "/home/user/x", "https://example.com/home/alice/x", "/home/$USER/x", "~/x", "/home/<you>/",
    "/home/runner/work", "/home/settings", "$HOME/home/x/", "/root/x", "/Users/Shared", "/Users/{name}/x",
    "/home/", "src/home/x/y", "at home/alice/x", "%USERPROFILE%\\x", "/users/7/orders",
]  # fmt: skip


@pytest.mark.parametrize("text", PERSONAL_PATHS)
def test_a_path_that_names_a_person(text: str) -> None:
    (path,) = find_personal_paths(text)
    assert text[path.start : path.end] not in ("home", "Users")


def test_each_path_of_a_long_text_is_found() -> None:
    text = ""
    for gap in (0, 1, 80, 160, 240, 241, 5_000):
        text += "".join(f" {path}\n{'no home ' * 3}{'.' * gap}" for path in (*PERSONAL_PATHS, *NOT_PERSONAL))
    alone = [name for line in text.split("\n") for name in _names(line)]
    assert len(alone) == 7 * len(PERSONAL_PATHS)
    assert _names(text) == alone


def _names(text: str) -> list[str]:
    return [text[path.start : path.end] for path in find_personal_paths(text)]


@pytest.mark.parametrize("text", NOT_PERSONAL)
def test_a_path_that_names_nobody(text: str) -> None:
    assert find_personal_paths(text) == []


def test_an_unusual_home_counts_for_its_owner() -> None:
    assert len(find_personal_paths("in /data/people/zoe/x", "/data/people/zoe")) == 1
    assert find_personal_paths("in /data/people/zoe/x", HOME) == []
