"""Which repository is which: learn it after a session, recognise one that moved, attach its memory."""

import os
from dataclasses import dataclass, replace

from cam.core.errors import CamError, InvalidInputError, NotFoundError
from cam.formats.project_file import KnownProject, same_remote
from cam.store.identity import Project, resolve_project
from cam.store.projects import (
    Attached,
    adopt_worktree,
    attach,
    count_of,
    has_memory,
    known_projects,
    local_records,
    project_folder,
    project_ids,
    purge,
    read_project,
    renamed_worktrees,
    write_project,
)
from cam.system.git import Repository, find_repository, first_commit, is_shallow, remotes


@dataclass(frozen=True, slots=True)
class WorktreeRow:
    """A worktree of a project.

    Attributes:
        id: its id.
        place: ``here``, ``gone`` or ``unknown``: whether it still is where it was.
        records: how many records are its alone.
    """

    id: str
    place: str
    records: int = 0


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """A project of the store, as ``cam project`` shows it.

    Attributes:
        known: what is known of its identity.
        active: records of its own scopes that hold.
        archived: those that do not hold any more.
        is_current: whether the command ran in it.
        worktrees: those that are known or have memory of their own; told of one project alone.
    """

    known: KnownProject
    active: int
    archived: int
    is_current: bool = False
    worktrees: tuple[WorktreeRow, ...] = ()

    @property
    def place(self) -> str:
        """``here``, ``gone`` or ``unknown``: whether its folder still is where it was."""
        if not self.known.root:
            return "unknown"
        return "here" if os.path.isdir(self.known.root) else "gone"


def note_project(root: str, project: Project | None) -> None:
    """Remember root, remotes and first commit of a project that the store has; trouble is nobody's business.

    For after a session or sync: it may start one git process, once per project.
    """
    if project is None:
        return
    try:
        if project.id in project_ids(root):
            before = read_project(root, project.id)
            write_project(root, describe(project, before))
    except (CamError, OSError):
        return  # derived: the next session tries again


def note_place(root: str, project: Project | None) -> None:
    """Remember where a project and its worktree stand, once, without a process: their ids come from there.

    For after a command that writes. So a repository that moves before its first session is known again.
    """
    if project is None or project.id not in project_ids(root):
        return
    try:
        before = read_project(root, project.id)
        if project.worktree not in before.worktrees:
            write_project(root, describe(project, before, ask_git=False))
    except (CamError, OSError):
        return  # derived: the next one tries again


def describe(project: Project, before: KnownProject | None = None, *, ask_git: bool = True) -> KnownProject:
    """What identifies a project.

    Args:
        project: as resolved.
        before: what was known; its first commit is taken for granted, and its worktrees are kept.
        ask_git: whether git may be asked for the first commit.
    """
    before = before or KnownProject(project.id)
    repository = find_repository(project.root) if project.is_git else None
    if repository is None:
        worktrees = {**before.worktrees, project.worktree: ""}
        return replace(before, root=project.root, worktrees=worktrees)
    root = _main_root(repository) or (before.root if os.path.isdir(before.root) else project.root)
    return replace(
        before,
        root=root,
        common_dir=repository.common_dir,
        remotes=tuple(sorted(remotes(repository))),
        first_commit=before.first_commit or (first_commit(repository) if ask_git else None),
        worktrees={**before.worktrees, project.worktree: repository.git_dir},
    )


def _main_root(repository: Repository) -> str:
    """Where the main worktree stands, also seen from a linked one; "" for a bare repository."""
    if repository.git_dir == repository.common_dir:
        return repository.root
    folder, name = os.path.split(repository.common_dir)
    return folder if name == ".git" else ""


def recognise(root: str, project: Project | None) -> KnownProject | None:
    """The one project of the store that this one was before it moved; None where that is not certain.

    Asked only where the current project remembers nothing. It is the same repository when remote and first
    commit agree (the remote alone where a clone is shallow); without remotes, when the first commit agrees
    and the former folder is gone; or when a folder that has memory became a repository. Names never count.
    """
    if project is None:
        return None
    names = project_ids(root)
    if not names or has_memory(root, project.id):
        return None
    others = [o for o in known_projects(root) if o.id != project.id and has_memory(root, o.id)]
    others = [o for o in others if o.root or o.remotes]
    if not others:
        return None
    repository = find_repository(project.root) if project.is_git else None
    if repository is None:
        return None
    here = describe(project)
    same = [other for other in others if _is_same(here, other, repository)]
    return same[0] if len(same) == 1 else None


def list_projects(root: str, project: Project | None) -> tuple[ProjectRow, ...]:
    """Every project of the store, the current one first."""
    current = project.id if project else None
    rows = [
        ProjectRow(known, *count_of(root, known.id), known.id == current) for known in known_projects(root)
    ]
    return tuple(sorted(rows, key=lambda row: (not row.is_current, row.known.id)))


def show_project(root: str, name: str, project: Project | None) -> ProjectRow:
    """One project.

    Raises:
        NotFoundError: there is none of that id.
    """
    project_folder(root, name)
    is_current = project is not None and project.id == name
    known = read_project(root, name)
    local = local_records(root, name)
    worktrees = tuple(
        WorktreeRow(worktree, _place(known, worktree), len(local.get(worktree, ())))
        for worktree in {**known.worktrees, **local}
    )
    return ProjectRow(known, *count_of(root, name), is_current, worktrees)


def find_project(root: str, text: str) -> str:
    """The id that ``text`` names: an id, or the folder in which a project stood.

    Raises:
        NotFoundError: neither.
        InvalidInputError: several projects stood in that folder.
    """
    if text in project_ids(root):
        return text
    known = known_projects(root) if os.sep in text else ()
    found = [project.id for project in known if project.root == _real(text)]
    if len(found) > 1:
        raise InvalidInputError(f"several projects stood in {text}: {', '.join(found)}; name one by its id")
    if not found:
        raise NotFoundError(f"the store has no project {text!r}; 'cam project list' names them")
    return found[0]


def move_project(root: str, old: str, project: Project | None) -> Attached:
    """Attach the memory of ``old`` to ``project``; a repeat does nothing.

    Where ``old`` is a worktree of the project that is no more, its records go to the one that is here.

    Raises:
        InvalidInputError: there is no project here, or the worktree still stands.
        NotFoundError: there is no project ``old``.
    """
    if project is None:
        raise InvalidInputError(
            "there is no project here (the home folder and / have none); go into the repository, or --to DIR"
        )
    before = read_project(root, project.id)
    if old not in project_ids(root) and old in local_records(root, project.id):
        return _move_worktree(root, old, project)
    is_attached = old in before.absorbed or (os.sep in old and _real(old) in before.former_roots)
    if is_attached and old not in project_ids(root):
        return Attached(old, project.id)
    name = find_project(root, old) if old != project.id else old
    if name == project.id:
        return Attached(name, name)
    here = describe(project, before)
    return attach(root, name, here, renamed_worktrees(root, name, here))


def _move_worktree(root: str, old: str, project: Project) -> Attached:
    here = describe(project, read_project(root, project.id))
    if old == project.worktree:
        return Attached(old, old)
    if _place(here, old) == "here":
        raise InvalidInputError(
            f"the worktree {old} still stands; 'cam memory move REF --scope project' in it"
        )
    return adopt_worktree(root, here, old, project.worktree)


def _place(known: KnownProject, worktree: str) -> str:
    """Whether a worktree still is where it was: git keeps a folder for it, which names where it stands."""
    git_dir = known.worktrees.get(worktree, "")
    if not git_dir:
        return "unknown"
    try:
        with open(os.path.join(git_dir, "gitdir"), encoding="utf-8", errors="surrogateescape") as file:
            place = os.path.join(git_dir, file.read(4096).strip())  # git may write it relative
        return "here" if os.path.exists(place) else "gone"
    except OSError:
        return "here" if os.path.isdir(git_dir) else "gone"


def merge_projects(root: str, old: str, new: str) -> Attached:
    """Attach the memory of ``old`` to another project of the store.

    Raises:
        InvalidInputError: both are the same.
        NotFoundError: one of them is not there.
    """
    target = find_project(root, new)
    here = read_project(root, target)
    name = old if old in here.absorbed and old not in project_ids(root) else find_project(root, old)
    return attach(root, name, here, renamed_worktrees(root, name, here))


def purge_project(root: str, name: str) -> None:
    """Take a project out of the store for good.

    Raises:
        NotFoundError: there is none of that id.
    """
    purge(root, name)


def project_at(folder: str, home: str) -> Project | None:
    """The project of a folder.

    Raises:
        InvalidInputError: it is none.
    """
    if not os.path.isdir(folder):
        raise InvalidInputError(f"there is no folder {folder}")
    return resolve_project(folder, home)


def _real(path: str) -> str:
    return os.path.realpath(os.path.expanduser(path))


def _is_same(here: KnownProject, other: KnownProject, repository: Repository) -> bool:
    if other.root == here.root and not other.common_dir:
        return True  # the folder became a repository
    shared = set(map(same_remote, here.remotes)) & set(map(same_remote, other.remotes))
    if here.first_commit and other.first_commit:
        if here.first_commit != other.first_commit:
            return False
        is_gone = bool(other.root) and not os.path.isdir(other.root)
        return bool(shared) or (is_gone and not here.remotes and not other.remotes)
    return bool(shared) and (is_shallow(repository) or other.first_commit is None)
