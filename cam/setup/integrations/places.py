"""Where each piece goes, by scope and surface, and how cam is called from there."""

import os
import shutil
import sys

from cam.core.errors import InvalidInputError
from cam.setup.integrations.result import SURFACES, Places
from cam.store.identity import Project
from cam.system.environment import Environment

SKILL = "codex-auto-memory-recall"

EVENTS = ("SessionStart", "SessionEnd", "Stop", "PreCompact")
"""Events that do something for everybody."""

PROMPT = "UserPromptSubmit"
"""Does something where the person wants it to."""


def find_places(
    environment: Environment,
    project: Project | None,
    store: str,
    scope: str,
    surface: str,
    *,
    prompts: bool = False,
) -> Places:
    """The places of an installation.

    Args:
        environment: of this process.
        project: None in ``$HOME`` and ``/``.
        store: the store's folder.
        scope: ``user`` or ``project``.
        surface: where the skill goes, one of ``SURFACES``.
        prompts: whether each prompt adds what is about it (``prompt_recall``).

    Raises:
        InvalidInputError: no such scope or surface, or a project's where there is no project.
    """
    if scope not in ("user", "project"):
        raise InvalidInputError(f"no scope {scope!r}; there are user and project")
    if surface not in SURFACES:
        raise InvalidInputError(f"no skill surface {surface!r}; there are {', '.join(SURFACES)}")
    if project is None and (scope == "project" or surface == "official-project"):
        raise InvalidInputError(
            "there is no project here (the home folder and / have none); go into a project's folder, "
            "or use --scope user"
        )
    home, codex = environment.home, environment.codex_home
    root = project.root if project is not None else home
    folder = os.path.join(root, ".codex") if scope == "project" else codex
    shared, own = ("cam",), launcher(environment)
    skills = {
        "runtime": os.path.join(codex, "skills"),
        "official-user": os.path.join(home, ".agents", "skills"),
        "official-project": os.path.join(root, ".agents", "skills"),
    }
    return Places(
        scope,
        hooks=os.path.join(folder, "hooks.json"),
        config=os.path.join(folder, "config.toml"),
        trust=os.path.join(codex, "config.toml"),
        guidance=os.path.join(root if scope == "project" else codex, "AGENTS.md"),
        skill=os.path.join(skills[surface], SKILL, "SKILL.md"),
        bridge=os.path.join(store, "hooks"),
        words=shared if scope == "project" else own,
        skill_words=shared if surface == "official-project" else own,
        bridge_words=own,
        events=(*EVENTS, PROMPT) if prompts else EVENTS,
        root=root if scope == "project" or surface == "official-project" else "",
    )


def launcher(environment: Environment) -> tuple[str, ...]:
    """How this very cam is started from anywhere: a path that outlives an upgrade, where there is one."""
    own = os.path.join(os.path.dirname(sys.executable), "cam")
    found = shutil.which("cam", path=environment.variables.get("PATH", os.defpath))
    if found is not None and os.path.realpath(found) == os.path.realpath(own):
        return (os.path.abspath(found),)
    return (own,) if os.access(own, os.X_OK) else (sys.executable, "-I", "-m", "cam")
