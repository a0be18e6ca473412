"""Of which records sessions made use. Pure.

Everything follows from the receipts (what a session was told, asked for and cited) and from the audit log
(what the user said again): a record that had been told and was said again is one that did not help.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cam.core.evidence import Message, Provenance, RolloutEvidence, ToolCall
from cam.core.tokens import estimate_tokens
from cam.formats.receipts import InjectionReceipt
from cam.startup.frame import CLOSE, FITTING
from cam.store.receipts import Repeat

_REF = re.compile(
    r"\b(global|project|project-local):(?:active|archived):([a-z0-9-]{1,64}):([a-z0-9][a-z0-9._-]{0,99})"
)
_RECALL = re.compile(r"\bcam\b[^\n]{0,200}\b(?:recall|memory)\b")
_TOOL = re.compile(r"memor|recall|detail|timeline", re.IGNORECASE)
_REF_SPAN = 200
"""Characters at the end of a line in which its ref stands."""
_NOT_WORD = re.compile(r"[\W_]+")
_SHORTEST_CITATION = 12
"""Letters below which words that are the same are chance."""


@dataclass(frozen=True, slots=True)
class RecordUse:
    """Counts of sessions.

    Attributes:
        shown: that were told the record.
        recalled: in which the model asked for it.
        cited: in which the model named it or said it again.
        repeated: in which the user said it again though it had been told.
        last_shown: ISO-8601 UTC, "" for never.
        last_used: of the last session in which one of the other three happened.
        last_repeated: likewise.
    """

    shown: int = 0
    recalled: int = 0
    cited: int = 0
    repeated: int = 0
    last_shown: str = ""
    last_used: str = ""
    last_repeated: str = ""


def count_use(
    receipts: Iterable[InjectionReceipt], repeats: Iterable[Repeat], project: str, worktree: str
) -> dict[str, RecordUse]:
    """How often each record was of use, as seen from one worktree.

    Args:
        receipts: of all projects, oldest first.
        repeats: of this project.
        project: its id, "" where there is none.
        worktree: its id, "" likewise.

    Returns:
        By key; records of other projects and worktrees are left out.
    """
    events: dict[tuple[str, str, str], str] = {}
    shown_in: set[tuple[str, str]] = set()
    for receipt in receipts:
        rows = ("shown", receipt.refs), ("recalled", receipt.recalled), ("cited", receipt.cited)
        for kind, keys in rows:
            for key in keys:
                if _is_seen(key, receipt, project, worktree):
                    events[kind, receipt.session, key] = receipt.at
        if receipt.arrived:
            shown_in.update((receipt.session, key) for key in receipt.refs)
    for repeat in repeats:
        if (repeat.session, repeat.key) in shown_in:
            events["repeated", repeat.session, repeat.key] = repeat.at
    counts: dict[str, dict[str, list[str]]] = {}
    for (kind, _, key), at in events.items():
        counts.setdefault(key, {}).setdefault(kind, []).append(at)
    return {key: _use(kinds) for key, kinds in counts.items()}


def use_in(evidence: RolloutEvidence, lines: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the model asked for, and what of ``lines`` it named or said again; keys, each once.

    Args:
        evidence: one session.
        lines: texts of the records that were told, by key.
    """
    recalled: dict[str, None] = {}
    said: list[str] = []
    named: set[str] = set()
    for item in evidence.items:
        if isinstance(item, ToolCall):
            if _RECALL.search(item.command or "") or (item.command is None and _TOOL.search(item.name)):
                recalled |= dict.fromkeys(_keys(f"{item.command or ''}\n{item.input}"))
        elif isinstance(item, Message) and item.who is Provenance.ASSISTANT:
            said.append(_folded(item.text))
            named.update(_keys(item.text))
    spoken = "\n".join(said)
    cited = [
        key
        for key, line in lines.items()
        if key in named or (len(text := _folded(line)) >= _SHORTEST_CITATION and text in spoken)
    ]
    return tuple(recalled), tuple(cited)


def prompted_in(evidence: RolloutEvidence) -> tuple[tuple[str, ...], int]:
    """Keys of the records that prompts added, and the estimated tokens that they cost."""
    keys: dict[str, None] = {}
    tokens = 0
    for item in evidence.items:
        if isinstance(item, Message) and item.who is Provenance.HARNESS and FITTING in item.text:
            told = item.text.partition(FITTING)[2].partition(CLOSE)[0]
            keys |= dict.fromkeys(key for line in told.split("\n") for key in _keys(line[-_REF_SPAN:])[-1:])
            tokens += estimate_tokens(told)
    return tuple(keys), tokens


def repeated_since(use: Mapping[str, RecordUse], since: str) -> list[str]:
    """Keys of what the user had to repeat since then, the most often repeated first."""
    found = [key for key, each in use.items() if each.repeated and each.last_repeated >= since]
    return sorted(found, key=lambda key: (-use[key].repeated, key))


def _use(kinds: Mapping[str, Sequence[str]]) -> RecordUse:
    """Counts from the times at which each kind of use happened."""

    def last(*names: str) -> str:
        return max((at for name in names for at in kinds.get(name, ())), default="")

    counts = {name: len(kinds.get(name, ())) for name in ("shown", "recalled", "cited", "repeated")}
    return RecordUse(
        counts["shown"],
        counts["recalled"],
        counts["cited"],
        counts["repeated"],
        last_shown=last("shown"),
        last_used=last("recalled", "cited", "repeated"),
        last_repeated=last("repeated"),
    )


def _is_seen(key: str, receipt: InjectionReceipt, project: str, worktree: str) -> bool:
    scope = key.partition(":")[0]
    if scope == "global":
        return True
    return receipt.project == project and (scope == "project" or receipt.worktree == worktree)


def _keys(text: str) -> list[str]:
    return [f"{scope}:{topic}:{name.rstrip('.')}" for scope, topic, name in _REF.findall(text)]


def _folded(text: str) -> str:
    return _NOT_WORD.sub(" ", text.casefold()).strip()
