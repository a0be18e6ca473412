"""One memory on two machines, with the real git: no conflict, no loss, and nothing comes in unseen."""

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from cam.cli.entry import main
from cam.core.errors import InvalidInputError, NotFoundError, StoreUnavailableError, WriteRefusedError
from cam.core.records import MemoryRecord, MemoryScope, MemoryState
from cam.formats.project_file import KnownProject
from cam.memory.edits import edit
from cam.memory.erase import erase
from cam.memory.flow import change, forget, happened, remember, told_of, undo
from cam.memory.log import log
from cam.memory.machines import Synced, keep_in_git, sync_machines
from cam.memory.wish import Wish
from cam.render.history import story_data
from cam.store.layout import StoreLayout
from cam.store.machine import ELSEWHERE, machine_name
from cam.store.memory_store import MarkdownStore
from cam.store.projects import attach
from cam.store.verify import verify

PROJECT, GLOBAL = MemoryScope.PROJECT, MemoryScope.GLOBAL
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@y", *words],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


class Machine:
    """A store of its own."""

    def __init__(self, folder: Path, hub: Path) -> None:
        self.store = MarkdownStore(StoreLayout(str(folder), "shop-1", "shop-1"))
        self.root, self.hub = folder, hub

    def say(self, text: str, scope: MemoryScope = PROJECT) -> MemoryRecord:
        return remember(self.store, text, (), scope, "workflow").record

    def sync(self) -> Synced:
        done = sync_machines(self.store, str(self.hub))
        assert verify(str(self.root)).problems == ()
        return done

    def texts(self) -> set[str]:
        return {r.summary for r in self.store.snapshot().records if r.state is MemoryState.ACTIVE}

    def drop(self, text: str) -> None:
        found = [r.ref for r in self.store.snapshot().records if r.summary == text]
        forget(self.store, found, delete=True)

    def files(self) -> dict[str, bytes]:
        paths = [p for p in self.root.rglob("*.md") if not {"cache", ".git", "backup"} & set(p.parts)]
        return {str(p.relative_to(self.root)): p.read_bytes() for p in paths}


@pytest.fixture
def hub(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "--bare", "hub.git")
    return tmp_path / "hub.git"


@pytest.fixture
def pair(tmp_path: Path, hub: Path) -> tuple[Machine, Machine]:
    one, two = Machine(tmp_path / "one", hub), Machine(tmp_path / "two", hub)
    one.say("Deploys run on Tuesdays")
    keep_in_git(one.store)
    one.sync()
    keep_in_git(two.store)
    two.sync()
    return one, two


def settle(one: Machine, two: Machine) -> None:
    for machine in (one, two, one, two):
        machine.sync()
    assert one.files() == two.files()
    assert not one.sync().sent


def test_independent_changes_never_conflict(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    assert two.texts() == {"Deploys run on Tuesdays"}
    one.say("Lint before you push")
    two.say("Ask Ada about the cache")
    two.say("Answer in German", GLOBAL)
    two.drop("Deploys run on Tuesdays")
    settle(one, two)
    assert (
        one.texts() == two.texts() == {"Lint before you push", "Ask Ada about the cache", "Answer in German"}
    )


def test_two_stores_that_grew_apart(tmp_path: Path, hub: Path) -> None:
    one, two = Machine(tmp_path / "one", hub), Machine(tmp_path / "two", hub)
    for machine, text in ((one, "Lint first"), (two, "Test last")):
        machine.say(text)
        machine.say("Deploys run on Tuesdays")
        keep_in_git(machine.store)
    settle(one, two)
    assert one.texts() == {"Lint first", "Test last", "Deploys run on Tuesdays"}


def test_one_record_changed_on_both_keeps_both_texts(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    for machine, text in ((one, "Deploys run on Mondays"), (two, "Deploys run on Fridays")):
        ref = machine.store.snapshot().records[0].ref
        change(machine.store, "edit", partial(edit, wish=Wish(text)), ref)
    settle(one, two)
    assert one.texts() == {"Deploys run on Mondays", "Deploys run on Fridays"}


def test_what_was_changed_outlives_what_was_deleted(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    ref = one.store.snapshot().records[0].ref
    change(one.store, "edit", partial(edit, wish=Wish("Deploys run on Mondays")), ref)
    two.drop("Deploys run on Tuesdays")
    settle(one, two)
    assert one.texts() == {"Deploys run on Mondays"}


def test_own_text_of_both_stays(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    for machine, text in ((one, "Ask first."), (two, "Be brief.")):
        for name in ("MEMORY.md", "workflow.md"):
            path = machine.root / "projects/shop-1/project" / name
            path.write_text(
                f"{text}\n{path.read_text()}" if name == "workflow.md" else f"{path.read_text()}{text}\n"
            )
    settle(one, two)
    assert set(one.store.person_notes(PROJECT).split("\n")) == {"Ask first.", "Be brief."}
    assert b"Ask first." in one.files()["projects/shop-1/project/workflow.md"]
    assert b"Be brief." in one.files()["projects/shop-1/project/workflow.md"]


def test_what_comes_can_be_undone_and_a_stale_save_loses_nothing(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    path = two.root / "projects/shop-1/project/workflow.md"
    old = path.read_text()
    one.say("Lint before you push")
    one.sync()
    two.sync()
    assert '"kind":"git"' in Path(two.store.layout.audit_file).read_text().splitlines()[-1]
    path.write_text(f"{old}\n## By hand\n")
    assert two.texts() == {"Deploys run on Tuesdays", "Lint before you push", "By hand"}
    two.say("Ask Ada")
    assert two.texts() == {"Deploys run on Tuesdays", "Lint before you push", "By hand", "Ask Ada"}
    undo(two.store)
    assert two.texts() == {"Deploys run on Tuesdays", "Lint before you push", "By hand"}
    arrival = next(e for e in log(happened(two.store)) if e.origin)
    undo(two.store, arrival.transaction)
    assert two.texts() == {"Deploys run on Tuesdays", "By hand"}


def test_undo_leaves_what_another_machine_did(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    name = machine_name(str(one.root))
    assert name not in ("", machine_name(str(two.root)))
    two.say("Ask Ada")
    one.say("Lint before you push")
    one.say("Answer in German", GLOBAL)
    one.sync()
    two.sync()
    newest = log(happened(two.store))[0]
    assert newest.origin == name
    assert {lesson.record.summary for lesson in newest.lessons if lesson.record} == {
        "Lint before you push", "Answer in German",
    }  # fmt: skip
    assert [entry.origin for entry in log(happened(two.store))[1:]] == ["", ELSEWHERE]  # own; the first sync
    (done,) = undo(two.store)
    assert [c.before.summary for c in done.changes if c.before] == ["Ask Ada"]
    assert [change for change, _ in done.passed] == [newest.transaction]
    with pytest.raises(NotFoundError, match=f"arrived from {name} .cam undo {newest.transaction}"):
        undo(two.store)
    two.sync()
    one.sync()
    # What went back and forth is told once where it was said, and taken back there alone.
    assert [e.origin for e in log(happened(one.store))] == ["", "", ""]
    (done,) = undo(one.store)
    assert [c.before.summary for c in done.changes if c.before] == ["Answer in German"]
    lint = next(r.ref for r in two.store.snapshot().records if "Lint" in r.text)
    told = story_data(told_of(two.store, lint))["events"]
    assert [(step["actor"], step["machine"]) for step in told] == [("user", name), ("git", None)]
    undo(two.store, newest.transaction)
    assert two.texts() == {"Deploys run on Tuesdays"}
    settle(one, two)
    assert one.texts() == {"Deploys run on Tuesdays"}  # who names it takes it back everywhere


def test_what_was_written_before_the_store_was_shared_stays_its_writers(tmp_path: Path, hub: Path) -> None:
    one, two = Machine(tmp_path / "one", hub), Machine(tmp_path / "two", hub)
    one.say("Lint first")
    two.say("Test last")
    for machine in (one, two):
        keep_in_git(machine.store)
    settle(one, two)
    for machine, text in ((one, "Lint first"), (two, "Test last")):
        (done,) = undo(machine.store)
        assert [c.before.summary for c in done.changes if c.before] == [text]
        with pytest.raises(NotFoundError, match="arrived from "):
            undo(machine.store)


def test_what_logs_in_is_told_nowhere(pair: tuple[Machine, Machine]) -> None:
    one, _ = pair
    with pytest.raises(StoreUnavailableError) as refused:
        sync_machines(one.store, "https://ada:hunter2secret@127.0.0.1:9/x.git")
    assert "hunter2secret" not in str(refused.value)


def test_secrets_are_cut_and_erased_texts_stay_away(pair: tuple[Machine, Machine], tmp_path: Path) -> None:
    one, two = pair
    two.say("The port of the shop is 5001")
    two.sync()
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "-b", "main", str(one.hub), str(clone))
    topic = clone / "projects/shop-1/project/workflow.md"
    topic.write_text(
        f"Above: {TOKEN}\n{topic.read_text()}\n## Use {TOKEN} to deploy\n\n## <private>x</private>\n- y\n\n"
        f"## \n<!-- cam:record broken {TOKEN} -->\n"
    )
    (clone / "projects/shop-1/project/MEMORY.md").write_text(f"Key: {TOKEN}\n<private>mine</private>\n")
    with (clone / "projects/shop-1/project/memory-history.jsonl").open("a") as log:
        log.write(f'{{"at":"2026-11-30T10:00:00.000Z","x":"{TOKEN}"}}\nno json\n')
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", "from elsewhere")
    git(clone, "push", "-q", "origin", "HEAD:main")
    done = sync_machines(one.store, None)
    assert done.masked == 2
    texts = one.texts()
    assert "The port of the shop is 5001" in texts
    assert any(t.startswith("Use [") and t.endswith("to deploy") for t in texts)
    held = [
        p
        for p in one.root.rglob("*")
        if p.is_file() and ".git" not in p.parts and TOKEN.encode() in p.read_bytes()
    ]
    assert held == []
    assert b"mine" not in one.files()["projects/shop-1/project/MEMORY.md"]


def test_an_erased_text_does_not_come_back(pair: tuple[Machine, Machine], tmp_path: Path) -> None:
    one, two = pair
    two.say("The staging host is called zephyr42")
    two.sync()
    aside = Machine(tmp_path / "aside", one.hub)
    aside.say("The staging host is called zephyr42")
    erase(aside.store, [aside.store.snapshot().records[0].ref], "/nowhere")
    keep_in_git(aside.store)
    assert sync_machines(aside.store, str(aside.hub)).refused == 1
    assert "The staging host is called zephyr42" not in aside.texts()
    with pytest.raises(WriteRefusedError, match="filter-repo"):
        erase(two.store, [r.ref for r in two.store.snapshot().records if "zephyr42" in r.text], "/nowhere")


def test_a_hostile_repository_writes_nothing_elsewhere(pair: tuple[Machine, Machine], tmp_path: Path) -> None:
    one, _ = pair
    victim = tmp_path / "victim"
    victim.write_text("mine")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "-b", "main", str(one.hub), str(clone))
    folder = clone / "projects/shop-1/project"
    (folder / "link.md").symlink_to(victim)
    (folder / "No Topic.md").write_text("## x\n")
    (clone / "cam").mkdir()
    (clone / "cam/__init__.py").write_text("raise SystemExit('run')")
    (clone / "cam/__main__.py").write_text("raise SystemExit('run')")
    (clone / "cache").mkdir()
    (clone / "cache/evil").write_text("x")
    with (folder / "workflow.md").open("a") as file:
        file.write("\n## Theirs\n")
    git(clone, "add", "-A", "-f")
    git(clone, "commit", "-q", "-m", "evil")
    git(clone, "push", "-q", "origin", "HEAD:main")
    one.say("Ours")
    one.sync()
    assert one.texts() == {"Deploys run on Tuesdays", "Ours", "Theirs"}
    assert victim.read_text() == "mine"
    assert not (one.root / "cam").exists()
    assert not (one.root / "cache/evil").exists()
    assert not (one.root / "projects/shop-1/project/link.md").exists()
    assert not (one.root / "projects/shop-1/project/No Topic.md").exists()


def test_a_plain_git_merge_goes_record_by_record(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    one.say("Lint before you push")
    one.sync()
    two.say("Ask Ada about the cache")
    git(two.root, "pull", "-q", "--no-rebase", "--no-edit", str(two.hub), "main")
    assert two.texts() == {"Deploys run on Tuesdays", "Lint before you push", "Ask Ada about the cache"}
    two.say("Goes on")
    assert verify(str(two.root)).problems == ()


def test_what_is_tied_to_one_machine_stays_there(pair: tuple[Machine, Machine]) -> None:
    pair[0].sync()
    for machine in pair:
        # As an older cam left it: no line for it in .gitignore, and the file committed.
        (machine.root / "integrations").mkdir()
        (machine.root / "integrations/installed.json").write_text(f"{machine.root.name} {TOKEN}")
        (machine.root / ".gitignore").write_text("/cache/\n/journal/\n.lock*\n")
        git(machine.root, "add", "-A")
        git(machine.root, "commit", "-q", "-m", "all of it")
        (machine.root / "notes.txt").write_text("a person's own")
    one, two = pair
    git(one.root, "push", "-q", str(one.hub), "HEAD:main")  # the other one's is in conflict with it
    two.say("Lint first")
    settle(two, one)
    assert one.texts() == {"Deploys run on Tuesdays", "Lint first"}
    for machine in pair:
        assert (machine.root / "integrations/installed.json").read_text().startswith(machine.root.name)
        assert (machine.root / "notes.txt").exists()
        tracked = git(machine.root, "ls-files").split()
        assert not [name for name in tracked if name.startswith(("integrations", "notes"))]
    assert TOKEN not in git(one.hub, "grep", "-h", "-e", "", "main")


def test_a_file_that_is_not_the_stores_is_left_in_the_repository(
    pair: tuple[Machine, Machine], tmp_path: Path
) -> None:
    one, two = pair
    clone = tmp_path / "clone"
    for text in ("Read me", "Read me again"):
        if not clone.exists():
            git(tmp_path, "clone", "-q", "-b", "main", str(one.hub), str(clone))
        git(clone, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
        (clone / "README.md").write_text(text)
        git(clone, "add", "README.md")
        git(clone, "commit", "-q", "-m", "readme")
        git(clone, "push", "-q", "origin", "HEAD:main")
        for machine in (one, two):
            machine.say(f"{machine.root.name} after {text}")
        settle(one, two)
        assert git(one.hub, "show", "main:README.md") == text
        assert not (one.root / "README.md").exists()


def test_off_until_init_and_nowhere_until_told(
    tmp_path: Path, hub: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = Machine(tmp_path / "one", hub)
    machine.say("Lint first")
    assert not (machine.root / ".git").exists()
    with pytest.raises(InvalidInputError, match="cam store git init"):
        sync_machines(machine.store, None)
    assert keep_in_git(machine.store)
    assert not keep_in_git(machine.store)
    with pytest.raises(InvalidInputError, match="--to"):
        sync_machines(machine.store, None)
    with pytest.raises(InvalidInputError):
        sync_machines(machine.store, "--upload-pack=touch x")
    ref = machine.say("Test last").ref
    assert git(machine.root, "log", "--format=%s").splitlines()[0] == f"add {ref}"
    assert git(machine.root, "status", "--porcelain") == ""
    tracked = git(machine.root, "ls-files").split()
    assert not [name for name in tracked if name.startswith(("cache", "journal", ".lock"))]
    assert os.listdir(hub / "refs/heads") == []
    monkeypatch.setenv("CAM_HOME", str(machine.root))
    line = ["--cwd", str(tmp_path), "store", "git", "sync", "--to", str(tmp_path / "nothing.git")]
    assert main(line) == 1
    assert "cam: git ls-remote: fatal: " in capsys.readouterr().err
    assert machine.texts() == {"Lint first", "Test last"}


EDITOR = """\
import os, sys, time
open(sys.argv[1] + ".open", "w").close()
while not os.path.exists(sys.argv[1] + ".close"):
    time.sleep(0.01)
"""


def test_a_commit_whose_editor_is_open_keeps_its_lock(pair: tuple[Machine, Machine], tmp_path: Path) -> None:
    one, _ = pair
    one.say("Deploys run on Tuesdays")
    one.sync()
    script = tmp_path / "editor.py"
    script.write_text(EDITOR)
    words = ["git", "-c", "user.name=x", "-c", "user.email=x@y", "commit", "--allow-empty", "-a"]
    path = one.root / "projects/shop-1/project/workflow.md"
    path.write_text(path.read_text() + "\n## Ask Ada\n")
    editor = {"GIT_EDITOR": f'"{sys.executable}" "{script}"'}
    person = subprocess.Popen(words, cwd=one.root, env=os.environ | editor, stdout=subprocess.DEVNULL)
    message, lock = one.root / ".git/COMMIT_EDITMSG", one.root / ".git/index.lock"
    try:
        wait_for(Path(f"{message}.open"), person)
        assert lock.exists()
        os.utime(lock, (1, 1))  # it is open for long
        one.say("Lint before you push")  # goes with the next commit
        assert lock.exists()
        with pytest.raises(StoreUnavailableError, match=r"index\.lock: another git is at work in the store"):
            one.sync()
        assert lock.exists()
    finally:
        message.write_text("By hand\n")
        Path(f"{message}.close").touch()
        assert person.wait(30) == 0
    one.sync()
    assert "By hand" in git(one.root, "log", "--format=%s")


@pytest.mark.parametrize("name", ["index.lock", "config.lock"])
def test_what_a_killed_git_left_locked(pair: tuple[Machine, Machine], name: str) -> None:
    one, _ = pair
    one.say("Deploys run on Tuesdays")
    one.sync()
    lock = one.root / ".git" / name
    lock.touch()
    one.say("Lint before you push")
    with pytest.raises(
        StoreUnavailableError, match=rf"{name}: another git is at work .* take that file away"
    ):
        one.sync()
    os.utime(lock, (1, 1))
    one.sync()
    assert not lock.exists()


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    """Until the file is there; it comes at once, or never."""
    deadline = time.monotonic() + 30
    while not path.exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_move_is_sent_and_so_is_its_undo(pair: tuple[Machine, Machine]) -> None:
    one, two = pair
    other = MarkdownStore(StoreLayout(str(one.root), "till-2", "till-2"))
    remember(other, "Lint first", (), PROJECT, "workflow")
    settle(one, two)
    before = one.files()
    taken = attach(str(one.root), "shop-1", KnownProject("till-2"), {})
    assert git(one.root, "status", "--porcelain") == ""
    one.sync()
    two.sync()
    one.sync()  # it brings what the other machine noted of a project that is no more
    assert one.files() == two.files()
    assert not any("shop-1" in name for name in one.files())
    undo(other, os.path.basename(taken.copy))
    assert git(one.root, "status", "--porcelain") == ""
    settle(one, two)
    assert one.files() == before
    noted = [event.transaction for event in one.store.history(PROJECT)]
    assert len(noted) == len(set(noted)) == 4  # said here; there arrived, gone with the move, and back
