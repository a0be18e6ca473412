"""What an installation is made of: pieces, files, and what would happen to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Piece(StrEnum):
    """One way in which cam is at home in a host."""

    HOOKS = "hooks"
    TRUST = "trust"
    MCP = "mcp"
    SKILL = "skill"
    GUIDANCE = "guidance"
    BRIDGE = "bridge"


STACK = (Piece.HOOKS, Piece.MCP, Piece.SKILL)
"""What ``cam integrations install`` puts in."""

SURFACES = ("runtime", "official-user", "official-project")
"""Where a skill may live."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the pieces go.

    Attributes:
        scope: ``user`` or ``project``.
        hooks: the hooks file.
        config: the configuration file that names the MCP server.
        trust: the user's configuration file, which holds what the user trusts.
        guidance: the instruction file.
        skill: the skill's file.
        bridge: folder of the bridge's files.
        words: how cam is called in files of the scope; of one that may be committed the bare name.
        skill_words: the same in the skill.
        bridge_words: the same in the bridge.
        events: Codex's names of the events that do something.
        root: the project's folder, which none of its files may lead out of; "" where none is worked in.
    """

    scope: str
    hooks: str
    config: str
    trust: str
    guidance: str
    skill: str
    bridge: str
    words: tuple[str, ...]
    skill_words: tuple[str, ...]
    bridge_words: tuple[str, ...]
    events: tuple[str, ...]
    root: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What happens to one piece.

    Attributes:
        piece: which.
        action: ``created``, ``updated``, ``unchanged``, ``removed``, ``absent`` or ``left``.
        path: its file.
        text: more about it, "" for nothing.
    """

    piece: Piece
    action: str
    path: str
    text: str = ""


Texts = Mapping[str, str | None]
"""Files by path as a piece finds them: their text, None where there is none."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a piece makes of the files.

    Attributes:
        texts: the files it changes; None for a file that goes.
        notes: what that means.
    """

    texts: Texts
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after.

    Attributes:
        path: as it was named.
        target: the file itself, links resolved.
        before: its bytes, None where there was none.
        after: its bytes, None where it goes.
        mode: permission bits of the file that is written.
        pieces: what in it is cam's afterwards; trust with the file whose hooks it is about.
        base: its bytes as they were without cam, None where there was no file.
    """

    path: str
    target: str
    before: bytes | None
    after: bytes | None
    mode: int
    pieces: tuple[str, ...] = ()
    base: bytes | None = None


@dataclass(frozen=True, slots=True)
class IntegrationPlan:
    """What is to be done, and nothing done yet.

    Attributes:
        places: where.
        changes: files that change, in the order in which they are written.
        notes: one or more per piece.
    """

    places: Places
    changes: tuple[FileChange, ...]
    notes: tuple[Note, ...]
