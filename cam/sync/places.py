"""Which project a session, or one turn of it, belongs to: the folder decides, and nothing is guessed.

A folder that stands is asked for its project. One that is gone belongs to the project that stands, or stood,
around it; else the session's git remote decides if one project alone has it; else nobody knows.
"""

import os
from collections.abc import Iterable

from cam.core.evidence import Message, RolloutEvidence, RolloutMeta
from cam.formats.project_file import KnownProject, same_remote
from cam.store.identity import Project, resolve_project
from cam.store.projects import known_projects
from cam.system.git import find_repository, remotes


class Places:
    """Answers for one store; each folder is looked at once.

    Args:
        root: the store.
        home: the user's home folder.
        here: the project that is worked in; the store need not know it yet.
    """

    def __init__(self, root: str, home: str, here: Project | None = None) -> None:
        self._root = root
        self._home = home
        self._here = here
        self._folders: dict[str, Project | None] = {}
        self._store: tuple[KnownProject, ...] | None = None

    def of_session(self, meta: RolloutMeta) -> Project | None:
        """The project a session began in; None where it has none (``$HOME``) or nobody knows."""
        if meta.cwd is not None:
            found = self.of_folder(meta.cwd)
            if found is not None or os.path.isdir(meta.cwd):
                return found
        return self._by_remote(meta.git_remote)

    def is_unknown(self, meta: RolloutMeta) -> bool:
        """Whether the session has no place because its folder is gone, not because the folder has none."""
        return self.of_session(meta) is None and not (meta.cwd is not None and os.path.isdir(meta.cwd))

    def of_folder(self, folder: str) -> Project | None:
        """The project of a folder, also of one that is gone."""
        if folder not in self._folders:
            here = resolve_project(folder, self._home) if os.path.isdir(folder) else self._former(folder)
            self._folders[folder] = here
        return self._folders[folder]

    def all_of(self, meta: RolloutMeta, folders: Iterable[str] = ()) -> dict[str, Project]:
        """Every project that turns of a session ran in, as far as known, by id; of worktrees the first."""
        found = [self.of_session(meta), *(self.of_folder(f) for f in (*meta.folders, *folders))]
        projects: dict[str, Project] = {}
        for project in found:
            if project is not None:
                projects.setdefault(project.id, project)
        return projects

    def part_of(self, evidence: RolloutEvidence, project: Project) -> RolloutEvidence:
        """The evidence without what ran in another project."""
        own = self.of_session(evidence.meta)
        at_home = own is not None and own.id == project.id

        def holds(folder: str | None) -> bool:
            if folder is None or not os.path.isabs(folder):
                return at_home
            found = self.of_folder(folder)
            if found is None and folder == evidence.meta.cwd:
                found = own  # gone: what places the session places its turns
            return found is not None and found.id == project.id

        items = tuple(item for item in evidence.items if holds(item.cwd))
        if len(items) == len(evidence.items):
            return evidence
        return RolloutEvidence(evidence.meta, items, evidence.size, evidence.skipped, evidence.problems)

    def _former(self, folder: str) -> Project | None:
        """The project that stands or stood around a folder that is gone; the innermost, if it is one."""
        best: dict[str, KnownProject] = {}
        longest = -1
        for known in self._known():
            for root in (known.root, *known.former_roots):
                inside = root and (folder == root or folder.startswith(root.rstrip("/") + "/"))
                if inside and len(root) > longest:
                    best, longest = {known.id: known}, len(root)
                elif inside and len(root) == longest:
                    best[known.id] = known
        return self._project(next(iter(best.values()))) if len(best) == 1 else None

    def _by_remote(self, address: str | None) -> Project | None:
        if address is None:
            return None
        wanted = same_remote(address)
        having = [k for k in self._known() if wanted in map(same_remote, k.remotes)]
        return self._project(having[0]) if len(having) == 1 else None

    def _known(self) -> tuple[KnownProject, ...]:
        if self._store is None:
            found = {known.id: known for known in known_projects(self._root)}
            here = self._here
            if here is not None:
                repository = find_repository(here.root) if here.is_git else None
                before = found.get(here.id) or KnownProject(here.id)
                found[here.id] = KnownProject(
                    here.id,
                    before.root or here.root,
                    remotes=tuple(remotes(repository)) if repository else before.remotes,
                    former_roots=(*before.former_roots, here.root),
                )
            self._store = tuple(found.values())
        return self._store

    def _project(self, known: KnownProject) -> Project:
        if self._here is not None and known.id == self._here.id:
            return self._here
        here = resolve_project(known.root, self._home) if known.root and os.path.isdir(known.root) else None
        if here is not None and here.id == known.id:
            return here
        worktree = next(iter(known.worktrees), known.id)
        return Project(known.id, worktree, known.root, is_git=bool(known.common_dir))


def folders_of(evidence: RolloutEvidence) -> set[str]:
    """Folders in which turns of a session ran."""
    return {i.cwd for i in evidence.items if isinstance(i, Message) and i.cwd is not None}
