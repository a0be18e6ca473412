"""project.json: what the store remembers of a project's identity. Derived and disposable."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class KnownProject:
    """A project as it was seen last.

    Attributes:
        id: its folder's name in the store.
        root: top folder of its main worktree as far as that is known, "" if nothing is.
        common_dir: git's shared folder, "" outside git.
        remotes: addresses of its remotes, as git has them.
        first_commit: None where it is not known (shallow clones, no commit yet, outside git).
        worktrees: git folder of each worktree that was seen, by worktree id.
        absorbed: ids of projects whose memory was attached here.
        former_roots: folders that the project, or one that was attached, stood in before.
    """

    id: str
    root: str = ""
    common_dir: str = ""
    remotes: tuple[str, ...] = ()
    first_commit: str | None = None
    worktrees: Mapping[str, str] = field(default_factory=dict)
    absorbed: tuple[str, ...] = ()
    former_roots: tuple[str, ...] = ()


def render_project(project: KnownProject) -> bytes:
    """The file's bytes."""
    data = {
        "root": project.root,
        "common_dir": project.common_dir,
        "remotes": sorted(project.remotes),
        "first_commit": project.first_commit,
        "worktrees": dict(sorted(project.worktrees.items())),
        "absorbed": list(project.absorbed),
        "former_roots": list(project.former_roots),
    }
    return json.dumps(data, indent=1).encode() + b"\n"


def parse_project(data: bytes, name: str) -> KnownProject | None:
    """Read the file; None where it is not one.

    Args:
        data: its bytes.
        name: the project's id.
    """
    try:
        raw = json.loads(data)
        commit = raw.get("first_commit")
        worktrees = raw.get("worktrees", {})
        return KnownProject(
            name,
            _text(raw.get("root", "")),
            _text(raw.get("common_dir", "")),
            tuple(map(_text, raw.get("remotes", ()))),
            None if commit is None else _text(commit),
            {_text(key): _text(value) for key, value in worktrees.items()},
            tuple(map(_text, raw.get("absorbed", ()))),
            tuple(map(_text, raw.get("former_roots", ()))),
        )
    except (ValueError, TypeError, AttributeError):
        return None


def same_remote(address: str) -> str:
    """An address such that the forms under which one repository is reached are equal.

    ``git@host:a/b.git``, ``ssh://git@host/a/b`` and ``https://host/a/b/`` name the same; what has no host (a
    path) stays as it is but for a closing ``.git`` or slash.
    """
    text = address.strip().rstrip("/").removesuffix(".git").rstrip("/")
    url = re.match(r"[a-z][a-z0-9+.-]*://(?:[^@/]*@)?([^/:]*)(?::\d+)?/(.*)", text, re.IGNORECASE)
    short = None if url else re.match(r"(?:[^@/:]*@)?([^/:]{2,}):(?!//)(.*)", text)
    hit = url or short
    if hit is None or not hit.group(1):
        return text
    return f"{hit.group(1).lower()}/{hit.group(2).strip('/')}"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value
