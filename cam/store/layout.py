"""Where everything of the store lives (docs/file-format.md); names only, nothing is touched here."""

import os
from dataclasses import dataclass

from cam.core.errors import InvalidInputError
from cam.core.records import MemoryScope, MemoryState


@dataclass(frozen=True, slots=True)
class StoreLayout:
    """Paths of one store as one project sees it.

    Attributes:
        root: the store's folder.
        project: the project's id, None where there is no project scope ($HOME and /).
        worktree: the worktree's id, None likewise.
    """

    root: str
    project: str | None = None
    worktree: str | None = None

    @property
    def scopes(self) -> tuple[MemoryScope, ...]:
        """Scopes that exist here, most general first."""
        return tuple(MemoryScope) if self.project else (MemoryScope.GLOBAL,)

    @property
    def project_folder(self) -> str:
        """The project's part of the store.

        Raises:
            InvalidInputError: there is no project here.
        """
        if not self.project or not self.worktree:
            raise InvalidInputError(
                "there is no project here (the home folder and / have none); "
                "go into a project's folder, or use --scope global"
            )
        return os.path.join(self.root, "projects", self.project)

    def scope_folder(self, scope: MemoryScope) -> str:
        """Folder of a scope.

        Raises:
            InvalidInputError: a project's scope where there is no project.
        """
        if scope is MemoryScope.GLOBAL:
            return os.path.join(self.root, "global")
        if scope is MemoryScope.PROJECT:
            return os.path.join(self.project_folder, "project")
        return os.path.join(self.project_folder, "locals", str(self.worktree))

    def topics_folder(self, scope: MemoryScope, state: MemoryState) -> str:
        """Folder of a scope's topic files in one state."""
        folder = self.scope_folder(scope)
        return folder if state is MemoryState.ACTIVE else os.path.join(folder, "archive")

    def topic_file(self, scope: MemoryScope, state: MemoryState, topic: str) -> str:
        """A topic file."""
        return os.path.join(self.topics_folder(scope, state), f"{topic}.md")

    def index_file(self, scope: MemoryScope, state: MemoryState = MemoryState.ACTIVE) -> str:
        """MEMORY.md, or ARCHIVE.md."""
        name = "MEMORY.md" if state is MemoryState.ACTIVE else "ARCHIVE.md"
        return os.path.join(self.topics_folder(scope, state), name)

    def history_file(self, scope: MemoryScope) -> str:
        """The scope's history."""
        return os.path.join(self.scope_folder(scope), "memory-history.jsonl")

    @property
    def audit_folder(self) -> str:
        """Audit log, processed sessions and recovery markers of the project (of the store outside one)."""
        return os.path.join(
            self.project_folder if self.project else os.path.join(self.root, "global"), "audit"
        )

    @property
    def audit_file(self) -> str:
        """The audit log."""
        return os.path.join(self.audit_folder, "sync-log.jsonl")

    @property
    def processed_file(self) -> str:
        """Which sessions were read, and how far."""
        return os.path.join(self.audit_folder, "processed.jsonl")

    @property
    def off_file(self) -> str:
        """Its presence switches cam off for the project."""
        return os.path.join(self.project_folder, "off")

    @property
    def journal_folder(self) -> str:
        """Transactions on their way."""
        return os.path.join(self.root, "journal")

    @property
    def lock_file(self) -> str:
        """Held while the store is written."""
        return os.path.join(self.root, ".lock")

    def cache_file(self, *parts: str) -> str:
        """Something derived and disposable."""
        return os.path.join(self.root, "cache", *parts)
