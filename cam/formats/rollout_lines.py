r"""One line of a rollout: which record it is, and its JSON where somebody reads it.

A line begins with an envelope that names the record::

    {"timestamp":"…","ordinal":7,"type":"response_item","payload":{"type":"message",…}}

Half of the bytes of real sessions are records that nobody here reads (token counts, encrypted reasoning,
settings). ``glance`` knows them by that prefix, and they are never parsed. A prefix in any other form is
parsed like the rest, so a changed key order costs time and never data. The other half is told apart into what
must be read and what is of interest as long as it is recent: answers, calls and their outputs.
"""

import importlib
import itertools
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

_PREFIX = rb'\{"timestamp":"[^"\\]{0,40}+",(?:"ordinal":\d{1,15}+,)?"type":"'
_ENVELOPE = re.compile(_PREFIX + rb'([^"]{1,40}+"(?:,"payload":\{(?:"type":"[^"]{1,40}+")?)?)')
_ENVELOPE_IN_JUNK = re.compile(_PREFIX + rb'[a-z_]{1,40}"')
_TIME = re.compile(rb'\{"timestamp":"([^"\\]{0,40})"')
_ORDINAL = re.compile(rb'\{"timestamp":"[^"\\]{0,40}","ordinal":(\d{1,15}),')
_ITEM = re.compile(
    rb'(?:,"[^"]{1,40}+":(?:"[^"\\]{0,200}+"|null|\d{1,20}+))*+,"item":\{"type":"([A-Za-z_]{1,40}+)"'
)
_BARE_UNREAD = (b'{"record_type":"state"', b'{"type":"reasoning"')
_CONTEXT = re.compile(
    rb'(?:"(?!cwd")[^"]{1,40}+":(?:"[^"\\]{0,200}+"|\[\]|null|true|false|\d{1,20}+),)*+"cwd":"([^"\\]{1,4096}+)"'
)
_PAYLOAD = b'"payload":{'
_TURN = b'"turn_id":"'
_A_CONTEXT = b'"type":"turn_context","payload":{'
_BLOB = re.compile(rb'(?:"|;base64,)[A-Za-z0-9+/_-]{4096,}={0,2}(?=["\\])')
_BLOB_FROM = 8192
_ENDS = (b"}}\n", b"}}", b"}}\r\n")
_BLOB_PROBE = 2048
_AGAIN = b'{"timestamp":"'
_BARE_ITEM = re.compile(
    rb'\{"(?:type":"(?:message|function_call|function_call_output|local_shell_call|custom_tool_call'
    rb'|custom_tool_call_output|reasoning)"|record_type":")'
)
_MOST_PIECES = 1000

UNREAD_RECORDS = frozenset(
    {"token_usage_record", "world_state", "ghost_snapshot", "inter_agent_communication"}
)
"""Records that say nothing of what anyone said or did."""

UNREAD_RESPONSE_ITEMS = frozenset(
    {
        "reasoning", "ghost_snapshot", "web_search_call", "image_generation_call", "compaction",
        "compaction_summary", "context_compaction", "tool_search_call", "tool_search_output",
        "agent_message", "additional_tools", "other",
    }
)  # fmt: skip

UNREAD_EVENTS = frozenset(
    {
        "token_count", "agent_reasoning", "agent_reasoning_raw_content",
        "agent_reasoning_section_break", "agent_reasoning_delta", "agent_message_delta",
        "agent_message_content_delta", "reasoning_content_delta", "exec_command_begin",
        "exec_command_output_delta", "mcp_tool_call_begin", "patch_apply_begin",
        "patch_apply_updated", "web_search_begin", "web_search_end", "item_started",
        "thread_settings_applied", "thread_name_updated", "thread_rolled_back",
        "thread_goal_updated", "context_compacted", "background_event", "stream_error", "turn_diff",
        "plan_update", "plan_delta", "session_configured", "shutdown_complete",
        "undo_started", "undo_completed",
        "hook_started", "hook_completed", "image_generation_begin", "image_generation_end",
        "view_image_tool_call", "deprecation_notice", "warning", "error", "model_reroute",
        "guardian_assessment", "mcp_startup_update", "mcp_startup_complete", "terminal_interaction",
        "collab_agent_spawn_begin", "collab_agent_spawn_end", "collab_agent_interaction_begin",
        "collab_agent_interaction_end", "collab_waiting_begin", "collab_waiting_end",
        "collab_close_begin", "collab_close_end", "collab_resume_begin", "collab_resume_end",
        "exec_approval_request", "apply_patch_approval_request", "dynamic_tool_call_request",
        "dynamic_tool_call_response", "sub_agent_activity",
    }
)  # fmt: skip

_READ_RESPONSE_ITEMS = {"message": "message"} | dict.fromkeys(
    (
        "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
        "local_shell_call", "local_shell_call_output",
    ),
    "tool",
)  # fmt: skip
_READ_EVENTS = {"item_completed": "item", "agent_message": "answer"} | dict.fromkeys(
    ("exec_command_end", "patch_apply_end", "mcp_tool_call_end"), "tool"
)
_READ_ITEMS = {"AgentMessage": "answer"} | dict.fromkeys(
    ("CommandExecution", "FileChange", "McpToolCall"), "tool"
)
_ASSISTANT = b'"role":"assistant"'
_KINDS: dict[bytes, str] = {}

TURN_STARTS = ("task_started", "turn_started")
TURN_ENDS = ("task_complete", "turn_complete", "turn_aborted")

UNREAD_ITEMS = frozenset(
    {
        "Reasoning", "WebSearch", "Plan", "ContextCompaction", "CollabAgentToolCall", "ImageView",
        "ImageGeneration", "HookPrompt", "SubAgentActivity", "Sleep",
    }
)  # fmt: skip


Line = tuple[int, str, int, int]
"""A line that is not passed over: its number in the file, its kind, where in its block it begins and ends."""


class Block(NamedTuple):
    """Lines, told apart.

    Attributes:
        data: the lines.
        last: number of the last of them.
        unread: bytes of those that nobody reads.
        read: the others.
        must: those of them that must be read however old they are, and a ``gap`` of no bytes where others
            stood between them.
        unsure: places in ``read`` of the lines of no known kind.
        offset: where the block begins in the file.
    """

    data: bytes
    last: int
    unread: int
    read: list[Line]
    must: list[Line]
    unsure: list[int]
    offset: int = 0


def sort_lines(  # noqa: C901 - one loop over every line: calls would cost as much as the work
    block: bytes, before: int = 0, offset: int = 0, *, all_of_them: bool = False
) -> Block:
    """What the lines of a block are, by their prefix.

    Kinds: ``start``, ``end`` or ``context`` of a turn; ``answer`` or ``tool``: what the assistant said or
    did; "" where the JSON must be parsed to know, as for a person's words; ``unread`` where nobody reads it.
    A line that does not end like a whole record, or that holds a second one, is never recognised.

    Args:
        block: whole lines.
        before: number of the line before them.
        offset: where the block begins in the file.
        all_of_them: return the unread ones too.
    """
    find, match, known = block.find, _ENVELOPE.match, _KINDS.get
    ends = []
    end = find(b"\n") + 1
    while end:
        ends.append(end)
        end = find(b"\n", end) + 1
    if not ends or ends[-1] != len(block):
        ends.append(len(block))
    alone = block.count(_AGAIN) == len(ends)  # each line begins with one, so none holds another
    read: list[Line] = []
    must: list[Line] = []
    unsure: list[int] = []
    unread = at = 0
    number = before
    for end in ends:
        number += 1
        kind = ""
        found = match(block, at)
        if found is not None and (alone or find(_AGAIN, at + 1, end) < 0):
            prefix = found[1]
            kind = known(prefix) or _kind(prefix)
            if block[end - 3 : end] != b"}}\n" and not block.endswith(_ENDS, at, end):
                kind = ""
            elif kind == "message" or kind == "item":  # noqa: PLR1714 - the quickest way to ask
                kind = _kind_inside(kind, block, found.end(), end)
        elif found is None:
            kind = _bare_kind(block[at:end])
        if kind == "unread" and not all_of_them:
            unread += end - at
        else:
            line = number, kind, at, end
            read.append(line)
            if kind != "answer" and kind != "tool":  # noqa: PLR1714
                must.append(line)
                if not kind:
                    unsure.append(len(read) - 1)
            elif not must or must[-1][1] != "gap":
                must.append((number, "gap", at, at))
        at = end
    return Block(block, number, unread, read, must, unsure, offset)


def _bare_kind(line: bytes) -> str:
    return "unread" if line.startswith(_BARE_UNREAD) and line.rstrip().endswith(b"}") else ""


def _kind_inside(kind: str, block: bytes, start: int, end: int) -> str:
    """The kind of an item or a message, whose prefix ends at ``start``."""
    if kind == "message":
        return "answer" if block.find(_ASSISTANT, start, min(end, start + 400)) > 0 else ""
    item = _ITEM.match(block, start, end)
    name = "" if item is None else item[1].decode("ascii", "replace")
    return "unread" if name in UNREAD_ITEMS else _READ_ITEMS.get(name, "")


def turn_of(line: bytes, kind: str) -> tuple[str | None, str | None] | None:
    """Turn id and folder in the line of a turn's start or context; None where they do not stand in front.

    Args:
        line: the line.
        kind: ``start`` or ``context``.
    """
    start = line.find(_PAYLOAD, 30, 140) + len(_PAYLOAD)
    end, cwd = len(line), None
    if kind == "context":
        context = _CONTEXT.match(line, start)
        if context is None:
            return None
        end = context.end()
        try:
            cwd = context[1].decode()
        except UnicodeDecodeError:
            return None
    at = line.find(_TURN, start, end) + len(_TURN)
    stop = line.find(b'"', at, at + 200)
    return (line[at:stop].decode("ascii", "replace") if at > start and stop > at else None), cwd


def turn_folders(block: bytes) -> set[str]:
    """Folders in which the turns of some lines ran, as far as their contexts name them in front."""
    folders = set()
    at = block.find(_A_CONTEXT)
    while at >= 0:
        start = at + len(_A_CONTEXT)
        context = _CONTEXT.match(block, start)
        if context is not None:
            folders.add(context[1].decode("utf-8", "replace"))
        at = block.find(_A_CONTEXT, start)
    return folders


def _kind(prefix: bytes) -> str:
    """What the rest of an envelope's prefix names; remembered."""
    kind = _KINDS.get(prefix)
    if kind is None:
        kind = _kind_of(prefix)
        if len(_KINDS) < 512:
            _KINDS[prefix] = kind
    return kind


def _kind_of(prefix: bytes) -> str:
    record, _, rest = prefix.decode("ascii", "replace").partition('"')
    name = rest.removeprefix(',"payload":{').removeprefix('"type":"').removesuffix('"')
    if record in UNREAD_RECORDS:
        return "unread"
    if record == "turn_context":
        return "" if name else "context"
    if record == "response_item":
        return "unread" if name in UNREAD_RESPONSE_ITEMS else _READ_RESPONSE_ITEMS.get(name, "")
    if record != "event_msg":
        return ""
    if name in UNREAD_EVENTS:
        return "unread"
    if name in TURN_STARTS:
        return "start"
    if name in TURN_ENDS:
        return "end"
    return _READ_EVENTS.get(name, "")


def time_of(line: bytes) -> str:
    """The line's timestamp, "" where the line has none in front."""
    found = _TIME.match(line)
    return found[1].decode("ascii", "replace") if found else ""


def ordinal_of(line: bytes) -> int | None:
    """The record's number in the paginated form, None where the line has none in front."""
    found = _ORDINAL.match(line.lstrip(b"\0 \t\r"))
    return int(found[1]) if found and found[1] else None


def decode(line: bytes) -> tuple[Any, str]:
    """The JSON value of a whole line, and what was wrong with its bytes ("" or ``bad_utf8``).

    Image payloads are left out before any JSON work.

    Raises:
        ValueError: the line is not one JSON value.
    """
    if len(line) > _BLOB_FROM:
        line = without_blobs(line)
    if _quick is not None:
        try:
            return _quick(line), ""
        except ValueError:
            pass  # stricter in some corners (half surrogates, NaN): the usual way decides
    fault = ""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text, fault = line.decode("utf-8", "replace"), "bad_utf8"
    try:
        value, end = _raw_decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if end != len(text) and text[end:].strip():
        raise ValueError("more than one value")
    return value, fault


def hurry() -> bool:
    """Use ``orjson`` where it is installed, from now on; for large inputs, as its import takes a while."""
    global _quick  # noqa: PLW0603 - which library reads JSON is one choice for the whole process
    if _quick is None:
        try:
            _quick = importlib.import_module("orjson").loads
        except ImportError:
            return False
    return True


def salvage(line: bytes, *, bare: bool) -> list[tuple[bytes, dict[str, Any]]]:
    """The whole records in a line that is not one value, each with its bytes.

    Codex was seen to write half a record and then the whole one again behind it; a line feed can be lost;
    two writers can meet in one line. Inside a JSON string every quote is escaped, so an envelope in clear
    begins a record of its own.

    Args:
        line: the damaged line.
        bare: look for items without an envelope; only for files that hold such.
    """
    starts = [m.start() for m in (_BARE_ITEM if bare else _ENVELOPE_IN_JUNK).finditer(line)][:_MOST_PIECES]
    whole = []
    for start, end in itertools.pairwise([*starts, len(line)]):
        piece = line[start:end]
        try:
            value, stop = _raw_decode(without_blobs(piece).decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and stop:
            whole.append((piece, value))
    return whole


def without_blobs(line: bytes) -> bytes:
    """The line without the base64 runs of images and other binary payloads."""
    if len(line) <= _BLOB_FROM or not any(
        line[at : at + 64].translate(None, b"+/_-").isalnum() for at in range(0, len(line) - 64, _BLOB_PROBE)
    ):
        return line
    return _BLOB.sub(lambda m: b'"' if m[0].startswith(b'"') else b";base64,", line)


_quick: Callable[[bytes], Any] | None = None
_raw_decode = json.JSONDecoder().raw_decode
