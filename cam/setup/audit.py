"""cam audit: secrets and personal paths in the store, and on request in the repository and its history.

Every byte that is read is counted under its name, what is not read is named with the reason, and nothing is
changed.
"""

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from cam.core.errors import InvalidInputError
from cam.setup.scan import PERSONAL, Hit, Scanner
from cam.system.files import explain
from cam.system.git import Repository
from cam.system.git_objects import list_files, list_ignored, name_objects, read_objects, tree_names

MOST_FINDINGS = 2_000
"""Findings that are listed for one area; the others are counted."""

_CHUNK = 1 << 20

Progress = Callable[[str, int], None]
"""Told now and then what is being read, and how many pieces were."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One secret or personal path.

    Attributes:
        area: ``store``, ``repository`` or ``history``.
        kind: of the secret, or ``personal-path``.
        place: the file, or the object with the path it stood at; masked.
        line: 1-based, 0 where there are no lines or the name itself is meant.
        excerpt: the words around it, masked.
    """

    area: str
    kind: str
    place: str
    line: int
    excerpt: str


@dataclass(slots=True)
class Area:
    """What one part of the audit covered.

    Attributes:
        name: ``store``, ``repository`` or ``history``.
        place: its folder.
        covered: (name, bytes) of every file that was read; objects of git are counted by kind instead.
        objects: for the history: how many objects of each kind.
        size: bytes read, names not counted.
        binary: of the covered, what is no text: its printable runs were looked at.
        links: symbolic links: their targets' names were looked at, and they were not followed.
        left_out: (name, why) of what was not looked at.
        unread: (name, why) of what could not be read.
        expected: by file, personal paths where they belong: logs, caches, what is for this machine alone.
        findings: at most ``MOST_FINDINGS``.
        count: of all findings.
    """

    name: str
    place: str
    covered: list[tuple[str, int]] = field(default_factory=list)
    objects: dict[str, int] = field(default_factory=dict)
    size: int = 0
    binary: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    unread: list[tuple[str, str]] = field(default_factory=list)
    expected: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    count: int = 0


def audit_store(root: str, home: str, progress: Progress) -> Area:
    """The whole store: every project's records, history, logs and caches."""
    area, scanner = Area("store", root), Scanner(home)
    for name in _walk(area, root):
        _file(area, scanner, root, name, expects=_expects_paths(name), progress=progress)
    return area


def audit_repository(folder: str, repository: Repository | None, home: str, progress: Progress) -> Area:
    """The files of the worktree that are or could be committed; outside git every file of the folder.

    Raises:
        StoreUnavailableError: git cannot say which they are.
    """
    root = repository.root if repository else folder
    area, scanner = Area("repository", root), Scanner(home)
    if repository is None:
        names: Iterator[str] = _walk(area, root)
    elif repository.root == repository.common_dir:
        raise InvalidInputError(f"{root} is a bare repository and has no files; use --history")
    else:
        names = iter(list_files(root))
        area.left_out += [(scanner.mask(name), "ignored by git") for name in list_ignored(root)]
    for name in names:
        _file(area, scanner, root, name, expects=False, progress=progress)
    return area


def audit_history(repository: Repository, home: str, progress: Progress) -> Area:
    """Every object of git's database, reachable or not, and git's own files beside it.

    Raises:
        StoreUnavailableError: git cannot read them.
    """
    git_dir = repository.common_dir
    area, scanner = Area("history", git_dir), Scanner(home)
    for name in _walk(area, git_dir, of_git=True):
        _file(area, scanner, git_dir, name, expects=False, progress=progress)
    hits: list[tuple[str, str, Hit]] = []
    for number, item in enumerate(read_objects(git_dir)):
        area.objects[item.kind] = area.objects.get(item.kind, 0) + 1
        if item.kind == "tree":
            data = b"".join(item.chunks)
            area.size += len(data)
            found = [h for name in tree_names(data, len(item.id) // 2) for h in scanner.scan_text(name)]
        else:
            found, size, is_binary = scanner.scan(item.chunks)
            area.size += size
            if is_binary:
                area.binary.append(item.id)
        area.count += len(found)
        hits += [(item.id, item.kind, h) for h in found[: max(0, MOST_FINDINGS - len(hits))]]
        if number % 256 == 0:
            progress("objects", number)
    wanted = {name for name, kind, _ in hits if kind in ("blob", "tree")} | set(area.binary)
    paths = name_objects(git_dir, wanted) if wanted else {}
    area.binary = [_place(n, paths.get(n), scanner) for n in area.binary]
    area.findings += [
        Finding("history", h.kind, _place(name, paths.get(name) or kind, scanner), h.line, h.excerpt)
        for name, kind, h in hits
    ]
    for name, why in (
        ("shallow", "a shallow clone: older commits are not here"),
        ("objects/info/alternates", "objects of another repository are read with it"),
    ):
        if os.path.exists(os.path.join(git_dir, name)):
            area.left_out.append((name, why))
    return area


def _place(name: str, path: str | None, scanner: Scanner) -> str:
    return f"{name[:12]} {scanner.mask(path)}" if path else name[:12]


def _expects_paths(name: str) -> bool:
    """Whether a file of the store holds personal paths by its nature.

    Logs and caches name sessions' files; what is for one worktree is about this machine. Markdown of the
    other scopes is told in sessions wherever the store is taken along.
    """
    return not name.endswith(".md") or "/locals/" in f"/{name}" or name.startswith("cache/")


def _file(area: Area, scanner: Scanner, root: str, name: str, *, expects: bool, progress: Progress) -> None:
    """One entry of a folder: its name, and its content where it has one."""
    shown = scanner.mask(name)
    hits = [Hit(h.kind, 0, h.excerpt) for h in scanner.scan_text(name)]
    try:
        hits += _content(area, scanner, os.path.join(root, name), shown)
    except FileNotFoundError:
        area.left_out.append((shown, "gone from the folder, still in git's index"))
    except OSError as error:
        area.unread.append((shown, explain(error, shown)))
    if expects:
        count = sum(h.kind == PERSONAL for h in hits)
        hits = [h for h in hits if h.kind != PERSONAL]
        if count:
            area.expected[shown] = count
    area.count += len(hits)
    room = max(0, MOST_FINDINGS - len(area.findings))
    area.findings += [Finding(area.name, h.kind, shown, h.line, h.excerpt) for h in hits[:room]]
    if len(area.covered) % 64 == 0:
        progress("files", len(area.covered))


def _content(area: Area, scanner: Scanner, path: str, shown: str) -> list[Hit]:
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        area.links.append(shown)
        return scanner.scan_text(os.readlink(path))
    if not stat.S_ISREG(mode):
        why = "a repository of its own: run cam audit there" if stat.S_ISDIR(mode) else "no regular file"
        area.left_out.append((shown, why))
        return []
    hits, size, is_binary = scanner.scan(_chunks(path))
    area.covered.append((shown, size))
    area.size += size
    if is_binary:
        area.binary.append(shown)
    return hits


def _chunks(path: str) -> Iterator[bytes]:
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _walk(area: Area, root: str, *, of_git: bool = False) -> Iterator[str]:
    """Names of everything below ``root`` that is no folder, sorted; a folder that cannot be read is named.

    Args:
        area: where that is noted.
        root: the folder.
        of_git: whether it is git's own, whose objects are read in another way.
    """
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            entries = sorted(os.scandir(os.path.join(root, folder)), key=lambda e: e.name)
        except FileNotFoundError:
            continue
        except OSError as error:
            area.unread.append((folder or ".", explain(error)))
            continue
        folders = []
        for entry in entries:
            name = os.path.join(folder, entry.name)
            if of_git and entry.name == "objects" and folder.split("/")[0] in ("", "modules"):
                if folder:
                    area.left_out.append((name, "objects of a submodule: run cam audit there"))
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(name)
            else:
                yield name
        waiting += reversed(folders)
