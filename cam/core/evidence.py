"""What one session says, in order, each with who said it and where it stands."""

from dataclasses import dataclass, field
from enum import StrEnum

from cam.core.problems import Problem


class Provenance(StrEnum):
    """Who said it. Only ``USER`` can make a rule."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    HARNESS = "harness"
    SUBAGENT = "subagent"


class Generation(StrEnum):
    """The three forms of a rollout file."""

    BARE = "bare"  # 0.20-0.29: items without an envelope
    ENVELOPE = "envelope"  # 0.36-0.145: {timestamp,type,payload}
    PAGINATED = "paginated"  # 0.148-0.171: the same with ordinals, text in response items alone


@dataclass(frozen=True, slots=True)
class RolloutMeta:
    """The first header of a rollout; later headers are a parent's, replayed.

    Attributes:
        session: ``payload.id``, never the parent's ``session_id``.
        path: the file.
        cwd: folder the session began in; None where the release does not say (0.20-0.29).
        started_at: ISO-8601 UTC.
        source: ``cli``, ``exec``, ``vscode`` … or ``subagent``.
        is_primary: a person's own session (user forks included); not a subagent, not Codex's own
            memory consolidation.
        parent: the session this one was forked or spawned from.
        base_session: with ``base_ordinal``: a fork that points at its base instead of replaying it.
        folders: other folders in which its turns ran, as far as that is known from an earlier reading.
    """

    session: str
    path: str
    generation: Generation
    cwd: str | None = None
    started_at: str = ""
    cli_version: str = ""
    source: str = ""
    is_primary: bool = True
    parent: str | None = None
    base_session: str | None = None
    base_ordinal: int | None = None
    git_commit: str | None = None
    git_branch: str | None = None
    git_remote: str | None = None
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One text as it was written.

    Attributes:
        who: whose words these are.
        text: the words; for an IDE-wrapped prompt the request alone.
        ordinal: for ``USER``: 1-based number of the user message in its session; else the number of the
            last one before it (0 before the first).
        line: 1-based line in the rollout, a hint.
        turn: the turn's id where the release writes one.
        cwd: folder of the turn.
        at: ISO-8601 UTC of the line, "" where the release writes none.
        kind: for ``HARNESS``: ``agents_md``, ``environment``, ``developer``, ``hook``, ``skill``,
            ``ide_context``, ``summary``, ``notice``; "" otherwise.
    """

    who: Provenance
    text: str
    ordinal: int = 0
    line: int = 0
    turn: str | None = None
    cwd: str | None = None
    at: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call and what came back.

    Attributes:
        name: the tool as Codex names it (``exec_command``, ``apply_patch``, an MCP tool …).
        command: the shell command as one line a person would type (``bash -lc`` unwrapped); None for
            tools that run none.
        input: the raw arguments, for tools without a command.
        output: what it printed, shortened to its head and tail.
        exit_code: None where it is not known (still running, or not a command).
        cwd: folder it ran in where known, else the turn's.
        files: paths that a patch touched.
        ordinal: number of the last user message before it.
    """

    name: str
    command: str | None = None
    input: str = ""
    output: str = ""
    exit_code: int | None = None
    cwd: str | None = None
    files: tuple[str, ...] = ()
    ordinal: int = 0
    line: int = 0
    turn: str | None = None
    at: str = ""


EvidenceItem = Message | ToolCall


@dataclass(frozen=True, slots=True)
class RolloutEvidence:
    """What one rollout says.

    Attributes:
        meta: its header.
        items: messages and tool calls as they happened; each thing once.
        size: bytes read, from the start of the file.
        skipped: what was not read, by reason (``torn``, ``too_long``, ``unknown:…``) and count.
        problems: what a person should know of.
    """

    meta: RolloutMeta
    items: tuple[EvidenceItem, ...] = ()
    size: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    @property
    def user_messages(self) -> tuple[Message, ...]:
        """What the person typed, in order."""
        return tuple(i for i in self.items if isinstance(i, Message) and i.who is Provenance.USER)
