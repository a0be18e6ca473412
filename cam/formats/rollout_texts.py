"""Whose words a part of a message are.

From 0.150 on Codex says it for each part (``content_item_kinds``, from 0.171 with ``content_item_metadata``).
Older files are read by the marks that Codex puts around what it adds: fixed tags, a fixed heading before
AGENTS.md, the heading that editors put before the person's own request.
"""

import re
from typing import Any, NamedTuple

TYPED = "typed"
"""The person's own words, known for sure."""
OPEN = "open"
"""Nothing says that these are not the person's own words."""
HARNESS = "harness"
"""Put there by Codex, a hook or a client."""


class Piece(NamedTuple):
    """One part of a message, or of a part.

    Attributes:
        who: TYPED, OPEN or HARNESS.
        kind: as in ``Message.kind``, for HARNESS.
    """

    who: str
    text: str
    kind: str = ""


_TAGS = {
    "environment_context": "environment",
    "user_instructions": "agents_md",
    "INSTRUCTIONS": "agents_md",
    "skill": "skill",
    "skills_instructions": "skill",
    "hook_prompt": "hook",
    "hook_context": "hook",
    "turn_aborted": "notice",
    "subagent_notification": "notice",
    "user_shell_command": "notice",
    "user_action": "notice",
    "goal_context": "notice",
    "model_switch": "notice",
    "collaboration_mode": "developer",
    "permissions": "developer",
    "permissions_instructions": "developer",
    "personality_spec": "developer",
    "apps_instructions": "developer",
    "plugins_instructions": "developer",
}
_TAG = re.compile(r"\s*<([A-Za-z][\w-]{0,60})(?:\s[^<>]{0,2000})?>")
_IMAGE_TAG = re.compile(r"\s*</?image(?:\s[^<>]{0,2000})?>\s*")
_AGENTS = re.compile(r"\s*# AGENTS\.md instructions\b")
_AGENTS_END = "</INSTRUCTIONS>"
_STDIN = "\n\n<stdin>\n"  # what `exec` puts behind the prompt when something is piped in
_STDIN_END = "</stdin>"
_REQUEST = re.compile(r"^## My request for [^\n:]{1,40}:[ \t]*", re.MULTILINE)
_SUMMARIES = (
    "Another language model started to solve this problem and produced a summary",
    "You were originally given instructions from a user over one or more turns.",
)
_KINDS = {
    "agents_md": "agents_md",
    "environments": "environment",
    "environment": "environment",
    "hooks": "hook",
    "hook": "hook",
    "host_skills": "skill",
    "skills": "skill",
    "skill": "skill",
    "compaction": "summary",
    "permissions": "developer",
}


def parts_of(payload: dict[str, Any]) -> list[tuple[str, str | None, dict[str, Any]]]:
    """Texts of a message's content, each with what Codex says of it: (text, kind or None, provenance)."""
    content = payload.get("content")
    if isinstance(content, str):
        return [(content, None, {})]
    if not isinstance(content, list):
        return []
    said = payload.get("internal_chat_message_metadata_passthrough")
    said = said if isinstance(said, dict) else {}
    kinds, notes = said.get("content_item_kinds"), said.get("content_item_metadata")
    kinds = kinds if isinstance(kinds, list) and len(kinds) == len(content) else [None] * len(content)
    notes = notes if isinstance(notes, list) and len(notes) == len(content) else [None] * len(content)
    parts = []
    for part, kind, note in zip(content, kinds, notes, strict=True):
        text = text_of(part)
        if text is None:
            continue
        provenance = note.get("provenance") if isinstance(note, dict) else None
        parts.append(
            (
                text,
                kind if isinstance(kind, str) and kind != "unknown" else None,
                provenance if isinstance(provenance, dict) else {},
            )
        )
    return parts


def text_of(part: object) -> str | None:
    """The text of one content part (``input_text``, ``output_text``, ``Text`` …); None for the others."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    name, text = part.get("type"), part.get("text")
    return text if isinstance(text, str) and isinstance(name, str) and name.lower().endswith("text") else None


def user_pieces(text: str, kind: str | None = None, provenance: dict[str, Any] | None = None) -> list[Piece]:
    """Split a part that stands in the user's role.

    Args:
        text: the part.
        kind: Codex's own word for it, where the release writes one.
        provenance: Codex's own note on it, where the release writes one.
    """
    if not text.strip():
        return []
    source = (provenance or {}).get("type")
    if kind is not None or isinstance(source, str):
        theirs = source == "user" if isinstance(source, str) else (kind or "").startswith("user")
        if not theirs or (kind is not None and not kind.startswith("user")):
            return [Piece(HARNESS, text, _kind_of(kind, provenance or {}))]
        return _request(text, TYPED)
    return _marked(text)


def developer_piece(text: str, kind: str | None = None, provenance: dict[str, Any] | None = None) -> Piece:
    """A part in the developer's role: never a person's."""
    if kind is not None or provenance:
        return Piece(HARNESS, text, _kind_of(kind, provenance or {}, other="developer"))
    tag = _TAG.match(text)
    name = _TAGS.get(tag[1], "developer") if tag else "developer"
    return Piece(HARNESS, text, name)


def cwd_in(text: str) -> str | None:
    """The folder that an environment text names."""
    found = re.search(r"<cwd>([^<]{1,4096})</cwd>", text)
    return found[1].strip() if found else None


def in_one_tag(text: str) -> bool:
    """Whether the whole text stands in one pair of tags, as Codex wraps what it adds."""
    tag = _TAG.match(text)
    return tag is not None and text.rstrip().endswith(f"</{tag[1]}>")


def is_warning(text: str) -> bool:
    """Whether the text has the form in which Codex warns the model in the user's role."""
    return text.startswith("Warning: ")


def _marked(text: str) -> list[Piece]:
    """Split by marks: what Codex put in front, then the person's words."""
    pieces: list[Piece] = []
    rest = text
    for _ in range(16):
        if not rest.strip():
            return pieces
        kind, end = _block(rest)
        if kind is None:
            return [*pieces, *_request(rest, OPEN)]
        pieces.append(Piece(HARNESS, rest[:end].strip("\n"), kind))
        rest = rest[end:].strip("\n")
    return [*pieces, Piece(HARNESS, rest, "notice")]


def _block(text: str) -> tuple[str | None, int]:
    """Kind and end of the block of Codex's that the text begins with; (None, 0) for other texts.

    The block ends at the **last** of its closing tags: a file that holds such a tag cannot end its own
    quotation and have what follows taken for the person's words.
    """
    if text.lstrip().startswith(_SUMMARIES):
        return "summary", len(text)
    if _AGENTS.match(text):
        closing, kind = _AGENTS_END, "agents_md"
    else:
        tag = _TAG.match(text)
        if tag is None:
            return None, 0
        closing, kind = f"</{tag[1]}>", _TAGS.get(tag[1], "")
        if not kind:
            return None, 0
    at = text.rfind(closing)
    if at < 0:
        return kind, len(text)
    return kind, at + len(closing)


def _request(text: str, who: str) -> list[Piece]:
    """Take the person's request out of what an editor wrapped around it.

    The **last** heading counts: text selected in the editor stands before it and may hold such a heading too.
    """
    if _IMAGE_TAG.fullmatch(text):
        return [Piece(HARNESS, text, "notice")]
    at = text.find(_STDIN)
    if at > 0 and text.rstrip().endswith(_STDIN_END):
        return [*_request(text[:at], who), Piece(HARNESS, text[at:].strip("\n"), "notice")]
    if not text.lstrip().startswith("# "):
        return [Piece(who, text)]
    last = None
    for found in _REQUEST.finditer(text):
        last = found
    if last is None:
        return [Piece(who, text)]
    request = text[last.end() :].strip()
    around = Piece(HARNESS, text[: last.start()].rstrip(), "ide_context")
    return [around, Piece(who, request)] if request else [around]


def _kind_of(kind: str | None, provenance: dict[str, Any], other: str = "notice") -> str:
    """Our word for Codex's own kinds (``agents_md``, ``hooks.additional_context`` …)."""
    if provenance.get("hook") is True:
        return "hook"
    if provenance.get("type") == "skills":
        return "skill"
    return _KINDS.get((kind or "").split(".", 1)[0], other)
