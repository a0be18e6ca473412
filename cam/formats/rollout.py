"""Codex's rollout files, read: from lines to what the session says, in order, each thing once.

Three generations of the format (Codex 0.20 to 0.171)::

    bare       {"type":"message","role":"user","content":[…]}                      no envelope, no times
    envelope   {"timestamp":…,"type":"response_item","payload":{…}}                from 0.36
    paginated  {"timestamp":…,"ordinal":7,"type":"response_item","payload":{…}}    from 0.148

A text stands twice from 0.36 on: as a ``response_item`` (for the model) and as an event or item (for the
screen). Both are collected and paired: the first gives text, parts and whose words they are, the second
confirms that a person typed it, and stands in where the first is torn. Tool calls are paired with their
outputs, and with the items of the paginated form, by ``call_id``.

A fork of an older release repeats its parent's lines behind its own header, the parent's header first. What
is repeated is not the child's: it counts towards the numbering of user messages and is left out.

Pure: lines come from ``cam.system.rollout_files`` or any other iterable. Memory and work stay bounded
whatever the size: lines wait until somebody asks what the file says, and of a long file the answers, calls
and outputs that are no longer among the newest are dropped without ever being parsed; a person's words, and
the answer in front of them, are kept.
"""

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cam.core.evidence import (
    EvidenceItem,
    Generation,
    Message,
    Provenance,
    RolloutEvidence,
    RolloutMeta,
    ToolCall,
)
from cam.core.lines import MAX_LINE, SkippedLine
from cam.core.problems import Problem
from cam.formats import rollout_texts as texts
from cam.formats import rollout_tools as tools
from cam.formats.rollout_header import header_of, parse_header, recover_header, release
from cam.formats.rollout_lines import (
    TURN_ENDS,
    TURN_STARTS,
    UNREAD_EVENTS,
    UNREAD_ITEMS,
    UNREAD_RECORDS,
    UNREAD_RESPONSE_ITEMS,
    Block,
    Line,
    decode,
    hurry,
    ordinal_of,
    salvage,
    sort_lines,
    time_of,
    turn_of,
)
from cam.formats.rollout_replay import Replay

__all__ = [
    "Checkpoint",
    "RolloutReader",
    "hurry",
    "ordinal_of",
    "parse_blocks",
    "parse_header",
    "parse_rollout",
    "recover_header",
]

_KEEP_USER = 65_536
_KEEP_HARNESS = 65_536
_KEEP_ASSISTANT = 16_384
_BUDGET = 2_500_000  # characters of everything but the person's own words
_WAITING = 2_500_000  # bytes of lines that wait to be parsed
_BLOCK_COST = 500  # what waiting lines weigh besides their bytes
_BEFORE_USER = 40  # waiting lines among which the answer to which a person replied is looked for
_ITEM_COST = 500  # what an item weighs besides its text
_REMEMBER = 4096  # calls and lines that can still be completed or repeated, at least
_ENDS_OF_LINE = 256
_MOST_UNKNOWN = 40
_DAMAGE = frozenset({"torn", "too_long", "nul", "null", "bad_utf8", "not_an_object"})
_HEADER = b'"session_meta"'
_MARKS = ("start", "context", "end", "gap")
_BOM = b"\xef\xbb\xbf"
_BARE_ITEMS = frozenset(
    {
        "message", "function_call", "function_call_output", "local_shell_call", "custom_tool_call",
        "custom_tool_call_output", "local_shell_call_output", *UNREAD_RESPONSE_ITEMS,
    }
)  # fmt: skip
_SURE_EVENTS_FROM = (0, 98)  # from here on what is typed into a running turn has its event too


def parse_rollout(
    lines: Iterable[bytes | SkippedLine], path: str, *, before: int = 0, parent: Sequence[str] = ()
) -> RolloutEvidence:
    r"""Everything a rollout says.

    Args:
        lines: the file's lines, split on ``b"\n"`` alone, line feeds included.
        path: the file, for the meta and for problems.
        before: user messages of the base that a pointing fork counts on from.
        parent: user messages of the parent of a fork, in order; they tell what is repeated where the file
            itself does not.
    """
    reader = RolloutReader(path, before=before, parent=parent)
    for line in lines:
        reader.feed(line)
    return reader.evidence()


def parse_blocks(
    blocks: Iterable[bytes | SkippedLine], path: str, *, before: int = 0, parent: Sequence[str] = ()
) -> RolloutEvidence:
    """The same for blocks of whole lines, which is faster."""
    reader = RolloutReader(path, before=before, parent=parent)
    for block in blocks:
        reader.feed_block(block)
    return reader.evidence()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A place from which a file that grew can be read on: behind the last turn but one.

    Attributes:
        at: bytes before it.
        line: lines before it.
        messages: user messages before it.
        events: whether the file tells of user messages in events too.
        cwd: folder of the turn before it.
        time: of the line before it; what is older behind it was written twice.
    """

    at: int
    line: int
    messages: int
    events: bool
    cwd: str | None
    time: str


class _Text:
    """A message while its file is still being read."""

    __slots__ = ("at", "cwd", "key", "kind", "line", "replayed", "state", "text", "turn", "turn_no", "who")

    def __init__(self, who: Provenance, text: str, kind: str, line: int, state: str) -> None:
        self.who = who
        self.text = text
        self.kind = kind
        self.line = line
        self.state = state  # typed, open, event, paired, or foreign: the prompt of another thread
        self.key = ""
        self.turn: str | None = None
        self.turn_no = 0
        self.cwd: str | None = None
        self.at = ""
        self.replayed = False


class _Call:
    """A tool call while its file is still being read."""

    __slots__ = (
        "at",
        "call",
        "cwd",
        "dropped",
        "exit_code",
        "from_item",
        "line",
        "output",
        "replayed",
        "settled",
        "turn",
    )

    def __init__(self, call: tools.Call, line: int, *, from_item: bool) -> None:
        self.call = call
        self.line = line
        self.from_item = from_item  # known from an item alone so far
        self.settled = False  # its output was seen
        self.dropped = False
        self.output = ""
        self.exit_code: int | None = None
        self.turn: str | None = None
        self.cwd: str | None = None
        self.at = ""
        self.replayed = False

    def drop(self) -> None:
        """Hold nothing any more; what still comes for this call is not wanted."""
        self.dropped = True
        self.call = tools.Call(self.call.name)
        self.output = ""


class RolloutReader:
    """Reads a rollout line by line, also one that is still growing.

    ``feed`` takes the next line, ``feed_block`` the next lines; ``evidence`` says what is known so far, as
    often as asked. Who follows a growing file feeds whole lines alone, and keeps back what has no line feed
    yet.

    Args:
        path: the file.
        before: as in ``parse_rollout``.
        parent: as in ``parse_rollout``.
        primary: False where the caller knows that this is no person's session, whatever the header says.
    """

    def __init__(
        self, path: str, *, before: int = 0, parent: Sequence[str] = (), primary: bool = True
    ) -> None:
        self.path = path
        self.meta: RolloutMeta | None = None
        self._before = before
        self._primary = primary
        self._parent: tuple[str, ...] = ()
        self.know_parent(parent)
        self._items: list[_Text | _Call] = []
        self._calls: dict[str, _Call] = {}
        self._old_calls: dict[str, _Call] = {}
        self._sessions: dict[str, _Call] = {}
        self._user = _Pairs()
        self._assistant = _Pairs()
        self._seen: set[int] = set()
        self._old_seen: set[int] = set()
        self._said: set[int] = set()
        self._last_line = (0, 0)
        self._same_harness: dict[str, str] = {}
        self._unplaced: list[_Text] = []
        self._replay: Replay | None = None
        self._confirmed_turns: set[int] = set()
        self._skipped: dict[str, int] = {}
        self._header_lost = False
        self._open_end = -1
        self._waiting: deque[Block] = deque()
        self._waits = 0
        self._read = 0  # lines that were fed
        self._fed = 0  # bytes that were fed
        self._ends: deque[tuple[int, int, str | None, bytes]] = deque(maxlen=2)
        self._not_before = ""
        self.is_doubtful = False
        self._number = 0  # the line that is being parsed
        self._size = 0
        self._weight = 0
        self._limit = _BUDGET
        self._shortened = 0
        self._turn: str | None = None
        self._turn_no = 0
        self._turns = 0
        self._cwd: str | None = None
        self._has_context = False
        self._user_events = 0
        self._review = False  # a reviewer is at work on a prompt that Codex wrote
        self._at = ""

    @property
    def replay_is_a_guess(self) -> bool:
        """Whether only the parent's file can say where its repeated lines end."""
        return self._replay is not None and self._replay.is_a_guess

    def user_texts(self) -> tuple[str, ...]:
        """Every user message in the file, the repeated ones included, in order."""
        self._parse_waiting()
        typed = (i for i in self._items if isinstance(i, _Text) and i.who is Provenance.USER)
        return tuple(draft.text for draft in typed if self._counts(draft))

    def know_parent(self, parent: Sequence[str]) -> None:
        """Learn the parent's user messages after reading; see ``replay_is_a_guess``."""
        self._parent = tuple(_squeezed(text) for text in parent)

    def go_on(self, place: Checkpoint) -> None:
        """Skip what was read before; the header was fed, and the next line is the one behind ``place``.

        Afterwards ``is_doubtful`` says whether what came needs the whole file to be understood.
        """
        self._before = place.messages
        self._read = self._number = place.line
        self._size = self._fed = place.at
        self._cwd, self._has_context = place.cwd, True
        self._user_events = int(place.events)
        self._turn_no = 1
        self._not_before = place.time

    def checkpoint(self) -> Checkpoint | None:
        """Where reading can go on later; None where the release does not mark the end of a turn."""
        self._parse_waiting()
        if len(self._ends) < 2 or self._replay is not None or self._header_lost:
            return None
        if "repeated" in self._skipped:
            return None  # what is repeated can be told by what stands in front alone
        at, line, cwd, start = self._ends[0]
        typed = (i for i in self._items if isinstance(i, _Text) and i.who is Provenance.USER)
        messages = self._before + sum(i.line <= line and self._counts(i) for i in typed)
        return Checkpoint(at, line, messages, self._user_events > 0, cwd, time_of(start))

    def feed(self, line: bytes | SkippedLine) -> None:
        """Take the next line of the file."""
        self.feed_block(line)

    def feed_block(self, block: bytes | SkippedLine) -> None:
        """Take the next lines of the file, whole ones; the file's last may lack its line feed."""
        if isinstance(block, SkippedLine):
            self._read += 1
            self._size += block.size
            self._fed += block.size
            self._skip(block.reason)
            return
        if not block:
            return
        watch = self.meta is None or (self._replay is not None and not self._replay.is_over)
        lines = sort_lines(block, self._read, self._fed, all_of_them=watch)
        heads = () if watch else (_head(block, lines.read[place]) for place in lines.unsure)
        if any(_HEADER in head for head in heads):
            watch = True  # the times of a parent's lines say where they end
            lines = sort_lines(block, self._read, self._fed, all_of_them=True)
        self._read = lines.last
        self._fed += len(block)
        if watch:
            self._parse_waiting()
            self._parse_lines(lines, lines.read)
            return
        self._waiting.append(lines)
        self._waits += len(block) + _BLOCK_COST
        for place in lines.unsure:
            self._keep_answer(lines, place)
        while self._waits > _WAITING:
            oldest = self._waiting.popleft()
            self._waits -= len(oldest.data) + _BLOCK_COST
            self._parse_lines(oldest, oldest.must)

    def _parse_waiting(self) -> None:
        """Parse what waits."""
        while self._waiting:
            lines = self._waiting.popleft()
            self._parse_lines(lines, lines.read)
        self._waits = 0
        self._number = self._read

    def _parse_lines(self, block: Block, wanted: list[Line]) -> None:
        """Parse some lines of a block, and drop the others."""
        data = block.data
        dropped = len(block.read) - sum(line[1] != "gap" for line in wanted)
        size, take = len(data), self._parse_line
        if dropped and self._replay is None and not self._unplaced:
            wanted = _last_marks(wanted)
        for number, kind, at, end in wanted:
            if kind == "end" and self._replay is None:
                self._unplaced.clear()
                self._ends.append((block.offset + end, number, self._cwd, data[at : at + 60]))
                continue
            if kind == "gap":
                self._touch()
                continue
            self._number = number
            size -= end - at
            take(kind, data[at:end])
        self._size += size
        if dropped:
            self._skipped["thinned"] = self._skipped.get("thinned", 0) + dropped

    def _keep_answer(self, block: Block, place: int) -> None:
        """What may be a person's words comes: the answer in front of it says what they are about."""
        left = 2  # an answer stands in two channels
        for holder in (block, *itertools.islice(reversed(self._waiting), 1, _BEFORE_USER)):
            front = holder.read[max(0, place - _BEFORE_USER) : place] if holder is block else holder.read
            for line in reversed(front[-_BEFORE_USER:]):
                if not line[1]:
                    return
                if line[1] == "answer":
                    if line not in holder.must:
                        holder.must.append(line)
                        holder.must.sort()
                    left -= 1
                    if not left:
                        return

    def _parse_line(self, kind: str, line: bytes) -> None:
        if kind in ("start", "context", "end", "unread"):
            self._turn_line(kind, line)
        else:
            self._parse(line)

    def _turn_line(self, kind: str, line: bytes) -> None:
        """A line that says something of turns, or of the time at which a fork's history was written."""
        turn = turn_of(line, kind) if kind in ("start", "context") else (None, None)
        if turn is None:
            self._parse(line)
            return
        self._size += len(line)
        if self._replay is not None:
            self._replay.see_time(time_of(line))
        if kind != "unread":
            self._turn_mark(kind, *turn)

    def evidence(self) -> RolloutEvidence:
        """What the file says so far."""
        self._parse_waiting()
        meta = self.meta or recover_header(b"", self.path)
        if not self._primary:
            meta = replace(meta, is_primary=False)
        replay = self._replay
        if replay is not None and meta.parent is None and meta.is_primary:
            meta = replace(meta, parent=replay.parent)
        items, replayed = self._finished()
        skipped = dict(self._skipped)
        if replayed:
            skipped["replayed"] = replayed
        return RolloutEvidence(meta, tuple(items), self._size, skipped, self._problems(meta, items, replayed))

    # Lines and records

    def _parse(self, raw: bytes) -> None:
        line = raw.removeprefix(_BOM) if self._number == 1 else raw
        line = line.strip(b"\0 \t\r\n")
        if not line or len(line) > MAX_LINE:
            self._size += len(raw)
            if line:
                self._skip("too_long")
            elif b"\0" in raw:
                self._skip("nul")
            return
        try:
            value, fault = decode(line)
        except ValueError:
            self._broken(line, raw)
            return
        self._size += len(raw)
        if fault:
            self._skip(fault)
        if not isinstance(value, dict):
            self._skip("null" if value is None else "not_an_object")
            return
        self._record(value, line)

    def _broken(self, line: bytes, raw: bytes) -> None:
        """A line that is not one value: keep the whole records in it; leave a torn end to the next read."""
        self._skip("torn")
        if raw.endswith(b"\n"):
            self._size += len(raw)
        else:
            self._open_end = self._number
        if self.meta is None and self._number == 1:
            self._lose_header(line)
        bare = self.meta is not None and self.meta.generation is Generation.BARE
        for piece, value in salvage(line, bare=bare):
            self._record(value, piece)

    def _lose_header(self, line: bytes) -> None:
        self._header_lost = True
        self.meta = recover_header(line, self.path)
        self._cwd = self.meta.cwd

    def _record(self, value: dict[str, Any], line: bytes) -> None:
        record, payload = value.get("type"), value.get("payload")
        if record is None or record == "session_meta":
            header = header_of(value, self.path)
            if header is not None:
                self._header(header, value)
                return
        if self.meta is None:
            self._lose_header(b"")
            if "payload" not in value and self.meta is not None:  # without an envelope: no sub-agents yet
                self.meta = replace(self.meta, generation=Generation.BARE, is_primary=True)
        at = value.get("timestamp")
        self._at = at if isinstance(at, str) else ""
        self.is_doubtful |= self._at < self._not_before
        if isinstance(payload, dict) and isinstance(record, str):
            if self._replay is not None:
                self._replay.see_time(self._at)
                self._replay.see_record(payload)
            self._enveloped(record, payload, line)
        elif isinstance(record, str) and record in _BARE_ITEMS:
            self._response_item(value, line)
        elif "record_type" not in value:
            self._unknown(record, None)

    def _header(self, header: RolloutMeta, value: dict[str, Any]) -> None:
        """The first header is the session's; a later one with another id is its parent's, repeated."""
        self.is_doubtful |= bool(self._not_before)
        if self.meta is None or self._header_lost:
            if self.meta is not None and header.session != self.meta.session:
                return  # the session's own header is lost and this is a parent's
            self._header_lost = False
            self.meta = header
            self._cwd = header.cwd
            return
        own = any(isinstance(i, _Text) and i.who is not Provenance.HARNESS for i in self._items)
        if header.session != self.meta.session and self._replay is None and not own:
            at = value.get("timestamp")
            self._replay = Replay(self.meta, header.session, at if isinstance(at, str) else "")

    def _enveloped(self, record: str, payload: dict[str, Any], line: bytes) -> None:
        if record == "response_item":
            self._response_item(payload, line)
        elif record == "event_msg":
            self._event(payload, line)
        elif record == "turn_context":
            turn, cwd = payload.get("turn_id"), payload.get("cwd")
            self._turn_mark("context", turn if isinstance(turn, str) else None, tools.local_path(cwd))
        elif record == "compacted":
            self._harness([texts.Piece(texts.HARNESS, payload.get("message") or "", "summary")])
        elif record not in UNREAD_RECORDS:
            self._unknown(record, payload.get("type"))

    def _response_item(self, payload: dict[str, Any], line: bytes) -> None:
        kind = payload.get("type")
        if kind == "message":
            if not self._repeated(line):
                self._message(payload)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            read = _CALLS[kind]
            if not self._repeated(line):
                self._call(payload.get("call_id") or payload.get("id"), read(payload), payload)
        elif kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
            self._output(payload.get("call_id") or payload.get("id"), payload.get("output"))
        elif kind not in UNREAD_RESPONSE_ITEMS:
            self._unknown("response_item", kind)

    def _event(self, payload: dict[str, Any], line: bytes) -> None:
        kind = payload.get("type")
        turn = payload.get("turn_id")
        turn = turn if isinstance(turn, str) else None
        if kind in ("user_message", "agent_message"):
            take = self._user_event if kind == "user_message" else self._assistant_event
            if not self._repeated(line):
                take(payload.get("message"), turn)
        elif kind == "item_completed":
            self._item(payload, turn, line)
        elif kind in ("exec_command_end", "patch_apply_end", "mcp_tool_call_end"):
            self._item_call({**payload, "id": payload.get("call_id")}, turn)
        elif kind in TURN_STARTS:
            self._turn_mark("start", turn, None)
        elif kind in ("entered_review_mode", "exited_review_mode"):
            self._review = kind.startswith("entered") and _wrote_itself(payload)
        elif kind in TURN_ENDS:
            self._turn_mark("end", turn, None)
        elif kind not in UNREAD_EVENTS:
            self._unknown("event_msg", kind)

    def _item(self, payload: dict[str, Any], turn: str | None, line: bytes) -> None:
        item = payload.get("item")
        if not isinstance(item, dict):
            self._unknown("item", None)
            return
        kind = item.get("type")
        if kind == "UserMessage":
            if not self._repeated(line):
                thread = payload.get("thread_id")
                foreign = isinstance(thread, str) and self.meta is not None and thread != self.meta.session
                self._user_event(_item_text(item), turn, item.get("id"), foreign=foreign)
        elif kind == "AgentMessage":
            if not self._repeated(line):
                self._assistant_event(_item_text(item), turn)
        elif kind in ("CommandExecution", "FileChange", "McpToolCall"):
            self._item_call(item, turn)
        elif kind in ("EnteredReviewMode", "ExitedReviewMode"):
            self._review = kind.startswith("Entered") and _wrote_itself(item)
        elif kind not in UNREAD_ITEMS:
            self._unknown("item", kind)

    # Messages

    def _message(self, payload: dict[str, Any]) -> None:
        role = payload.get("role")
        turn = _turn_of(payload)
        parts = texts.parts_of(payload)
        if role == "assistant":
            self._assistant_text("\n".join(text for text, _, _ in parts), turn)
        elif role == "user":
            pieces = [piece for part in parts for piece in texts.user_pieces(*part)]
            self._user_text(pieces, turn, payload.get("id"))
        else:  # developer, system and whatever comes: never a person's
            self._harness([texts.developer_piece(*part) for part in parts], turn)

    def _harness(self, pieces: Iterable[texts.Piece], turn: str | None = None) -> None:
        for piece in pieces:
            text = piece.text
            if not isinstance(text, str) or not text.strip():
                continue
            if piece.kind == "environment" and not self._has_context:
                self._cwd = texts.cwd_in(text) or self._cwd
            text = _clean(text[:_KEEP_HARNESS])
            if len(self._same_harness) < 256:  # boot files come again with every resume: keep them once
                text = self._same_harness.setdefault(text, text)
            self._add(_Text(Provenance.HARNESS, text, piece.kind, self._number, "typed"), turn)

    def _user_text(self, pieces: list[texts.Piece], turn: str | None, name: object) -> None:
        typed = [p.text for p in pieces if p.who != texts.HARNESS]
        self._harness((p for p in pieces if p.who == texts.HARNESS), turn)
        if not typed:
            return
        text = _cut("\n".join(typed), _KEEP_USER)
        if self._copied("response", name or turn, text):
            return
        sure = any(p.who == texts.TYPED for p in pieces)
        key = _key(text)
        draft = self._user.answer(key, "event")
        if draft is not None:
            draft.text, draft.state, draft.turn = text, "paired", turn or draft.turn
            self._confirmed_turns.add(draft.turn_no)
            return
        draft = _Text(Provenance.USER, text, "", self._number, "typed" if sure else "open")
        draft.key = key
        self._add(draft, turn)
        self._user.wait(draft, "response")
        self._assistant.part()

    def _user_event(
        self, text: object, turn: str | None, name: object = None, *, foreign: bool = False
    ) -> None:
        if not isinstance(text, str):
            return
        self._user_events += 1
        text = "\n".join(p.text for p in texts.user_pieces(text) if p.who != texts.HARNESS)
        if not text.strip():
            return
        text = _cut(text, _KEEP_USER)
        if self._copied("event", name or turn, text):
            return
        key = _key(text)
        draft = self._user.answer(key, "response")
        if draft is not None:
            if draft.state == "open":
                draft.state = "paired"
            self._confirmed_turns.add(draft.turn_no)
            return
        state = "foreign" if foreign or self._review else "event"
        draft = _Text(Provenance.USER, text, "", self._number, state)
        draft.key = key
        self._add(draft, turn)
        self._user.wait(draft, "event")
        self._assistant.part()

    def _assistant_text(self, text: str, turn: str | None) -> None:
        self._assistant_any(text, turn, "response")

    def _assistant_event(self, text: object, turn: str | None) -> None:
        if isinstance(text, str):
            self._assistant_any(text, turn, "event")

    def _assistant_any(self, text: str, turn: str | None, channel: str) -> None:
        if not text.strip():
            return
        text = _cut(text, _KEEP_ASSISTANT)
        key = _key(text)
        self._user.part()
        self._unplaced.clear()
        if self._assistant.answer(key, "event" if channel == "response" else "response") is not None:
            return
        draft = _Text(Provenance.ASSISTANT, text, "", self._number, channel)
        draft.key = key
        self._add(draft, turn)
        self._assistant.wait(draft, channel)

    # Tool calls

    def _call(self, call_id: object, call: tools.Call, payload: dict[str, Any]) -> None:
        name = call_id if isinstance(call_id, str) else f"line {self._number}"
        self._touch()
        if call.stdin_of is not None and call.stdin_of in self._sessions:
            self._remember(name, self._sessions[call.stdin_of])
            return
        known = self._known(name)
        if known is not None and known.from_item:
            files = known.call.files or call.files
            known.call = call._replace(files=files, cwd=call.cwd or known.call.cwd)
            known.from_item = False
            return
        if known is not None and not known.settled and known.call == call:
            return
        draft = _Call(call, self._number, from_item=False)
        self._remember(name, draft)
        self._add(draft, _turn_of(payload))

    def _output(self, call_id: object, output: object) -> None:
        draft = self._known(call_id)
        if draft is None:
            self._skip("output_without_call")
            return
        if draft.dropped:
            return
        found = tools.result(output, nested=draft.call.name == "apply_patch")
        text = _clean(found.output)
        later = draft.settled and draft in self._sessions.values()
        if draft.settled and not later:
            return
        before = len(draft.output)
        draft.output = tools.joined(draft.output, text) if later and text else draft.output if later else text
        self._weight += len(draft.output) - before
        if found.exit_code is not None:
            draft.exit_code = found.exit_code
        draft.settled = True
        if found.session is not None:
            self._sessions[found.session] = draft
            if len(self._sessions) > 256:
                self._sessions.pop(next(iter(self._sessions)))
        if self._weight > self._limit:
            self._thin()

    def _item_call(self, item: dict[str, Any], turn: str | None) -> None:
        read = tools.item_call(item)
        if read is None:
            return
        call, found = read
        name = item.get("id")
        self._touch()
        draft = self._known(name)
        if draft is None:
            draft = _Call(call, self._number, from_item=True)
            draft.output = _clean(found.output)
            self._remember(name if isinstance(name, str) else f"line {self._number}", draft)
            self._add(draft, turn)
        else:
            files = draft.call.files or call.files
            draft.call = draft.call._replace(files=files, cwd=draft.call.cwd or call.cwd)
            draft.output = draft.output or _clean(found.output)
        if draft.exit_code is None:
            draft.exit_code = found.exit_code

    def _remember(self, name: str, draft: _Call) -> None:
        self._calls[name] = draft
        if len(self._calls) > _REMEMBER:
            self._old_calls, self._calls = self._calls, {}

    def _known(self, name: object) -> _Call | None:
        if not isinstance(name, str):
            return None
        return self._calls.get(name) or self._old_calls.get(name)

    def _touch(self) -> None:
        """Something happened between two messages: they are no longer neighbours."""
        self._user.part()
        self._assistant.part()
        self._unplaced.clear()

    # Turns and places

    def _turn_mark(self, kind: str, turn: str | None, cwd: str | None) -> None:
        """A turn's start, end or context. Up to 0.98 the context stands behind the message that opens it."""
        if kind == "end":
            self._unplaced.clear()
            return
        self._turns += 1
        if self._replay is not None:
            self._replay.see_turn(turn)
        if kind == "start":
            self._turn = turn
            self._turn_no += 1
            self._touch()
            return
        self._has_context = True
        self._turn = turn or self._turn
        if cwd is None:
            return
        if cwd == self._cwd:
            cwd = self._cwd  # one text for all that hold it
        self._cwd = cwd
        for draft in self._unplaced:
            if turn is None or draft.turn is None or draft.turn == turn:
                draft.cwd = cwd
                draft.turn = draft.turn or turn

    def _add(self, draft: _Text | _Call, turn: str | None) -> None:
        draft.turn = turn or self._turn
        draft.cwd = self._cwd
        draft.at = self._at
        draft.replayed = self._replay is not None and self._replay.active
        self._items.append(draft)
        self._weight += _weight_of(draft)
        if isinstance(draft, _Text):
            draft.turn_no = self._turn_no
            if draft.who is Provenance.USER:
                self._unplaced.append(draft)
        if self._weight > self._limit:
            self._thin()

    # What is left out

    def _repeated(self, line: bytes) -> bool:
        """Whether this very line was read before (doubled by a crash or a copy)."""
        mark = hash(line[:_ENDS_OF_LINE] + line[-_ENDS_OF_LINE:]) ^ len(line)
        if not self._at:  # no times: "continue" may well be said twice, but not without a line between
            repeated = self._last_line == (mark, self._number - 1)
            self._last_line = (mark, self._number)
        else:
            repeated = mark in self._seen or mark in self._old_seen
            self._seen.add(mark)
            if len(self._seen) > _REMEMBER:
                self._old_seen, self._seen = self._seen, set()
        if repeated:
            self._skip("repeated")
        return repeated

    def _copied(self, channel: str, name: object, text: str) -> bool:
        """Whether the file holds this message of this turn already: some resumes copy the whole history."""
        where = name if isinstance(name, str) else self._turn
        if where is None:
            return False
        mark = hash((channel, where, text))
        if mark in self._said:
            self._skip("repeated")
            return True
        self._said.add(mark)
        return False

    def _skip(self, reason: str) -> None:
        self._skipped[reason] = self._skipped.get(reason, 0) + 1

    def _unknown(self, record: object, kind: object) -> None:
        names = [n[:40] for n in (record, kind) if isinstance(n, str)]
        reason = "unknown:" + ("/".join(names) or "?")
        many = sum(key.startswith("unknown:") for key in self._skipped) >= _MOST_UNKNOWN
        self._skip("unknown:…" if many and reason not in self._skipped else reason)

    def _thin(self) -> None:
        """Hold the weight within its budget: shorten what is old, then drop it; a person's words stay."""
        goal = _BUDGET * 2 // 3
        items = self._items
        weight = sum(map(_weight_of, items))
        newest = len(items) * 9 // 10
        while weight > goal and self._shortened < newest:
            weight -= _shorten(items[self._shortened])
            self._shortened += 1
        if weight > goal:
            kept: list[_Text | _Call] = []
            for place, draft in enumerate(items):
                if weight > goal and place < newest and _can_go(draft):
                    weight -= _weight_of(draft)
                    self._skip("thinned")
                    self._shortened -= 1
                    if isinstance(draft, _Call):
                        draft.drop()
                else:
                    kept.append(draft)
            self._items = kept
        self._weight = weight
        self._limit = max(_BUDGET, weight * 3 // 2)

    # The end

    def _counts(self, draft: _Text) -> bool:
        """Whether a text in the user's role is taken for the person's own words."""
        if draft.state == "foreign":
            return False
        if draft.state != "open" or self.meta is None or self.meta.generation is Generation.BARE:
            return True
        if texts.is_warning(draft.text):
            return False
        if not self._user_events:
            return True
        if texts.in_one_tag(draft.text):
            return False
        sure = (release(self.meta.cli_version) or (0,)) >= _SURE_EVENTS_FROM
        damaged = self._skipped.keys() & _DAMAGE
        return not (sure and not damaged and draft.turn_no and draft.turn_no in self._confirmed_turns)

    def _finished(self) -> tuple[list[EvidenceItem], int]:
        primary = self._primary and self.meta is not None and self.meta.is_primary
        own = self._first_own()
        items: list[EvidenceItem] = []
        number, replayed = self._before, 0
        for place, draft in enumerate(self._items):
            theirs = place < own if own is not None else draft.replayed
            if isinstance(draft, _Call):
                if theirs:
                    replayed += 1
                else:
                    items.append(_tool_call(draft, number))
                continue
            who, kind = draft.who, draft.kind
            if who is Provenance.USER:
                if not self._counts(draft):
                    who, kind = Provenance.HARNESS, "notice"
                elif not primary:
                    who = Provenance.SUBAGENT
                else:
                    number += 1
            if theirs:
                replayed += 1
                continue
            items.append(Message(who, draft.text, number, draft.line, draft.turn, draft.cwd, draft.at, kind))
        return items, replayed

    def _first_own(self) -> int | None:
        """Place of a fork's first own item, by its parent's texts; None where the file itself says it."""
        if self._replay is None or not self._replay.is_a_guess or not self._parent:
            return None
        same = 0
        for place, draft in enumerate(self._items):
            if isinstance(draft, _Call) or draft.who is not Provenance.USER or not self._counts(draft):
                continue
            if same == len(self._parent) or _squeezed(draft.text) != self._parent[same]:
                return place
            same += 1
        return len(self._items)

    def _problems(self, meta: RolloutMeta, items: list[EvidenceItem], replayed: int) -> tuple[Problem, ...]:
        problems = []
        if self._header_lost:
            then = "it is read" if meta.is_primary else "nothing in it is taken for a person's words"
            problems.append(Problem(self.path, 1, f"the session's header is damaged; {then}"))
        damage = {k: n for k, n in self._skipped.items() if k in _DAMAGE}
        if self._open_end == self._number and damage.get("torn") == 1:
            del damage["torn"]  # Codex may be writing this very line
        if damage:
            counts = ", ".join(f"{n} {k.replace('_', ' ')}" for k, n in sorted(damage.items()))
            problems.append(
                Problem(self.path, 0, f"lines that could not be read: {counts}", "the rest was read")
            )
        unknown = sum(n for k, n in self._skipped.items() if k.startswith("unknown:"))
        said = any(isinstance(i, Message) and i.who is not Provenance.HARNESS for i in items)
        all_unknown = unknown > 0 and self._number - unknown <= 1
        if not said and not replayed and "torn" not in self._skipped and (self._turns or all_unknown):
            problems.append(
                Problem(
                    self.path,
                    0,
                    f"this Codex release ({meta.cli_version or 'unknown'}) writes a form that cam does not"
                    " know: there are turns, but no message could be read",
                    "update cam, or report the release",
                )
            )
        return tuple(problems)


def _head(block: bytes, line: Line) -> bytes:
    return block[line[2] : min(line[3], line[2] + 200)]


def _last_marks(lines: list[Line]) -> list[Line]:
    """Lines without the starts and contexts of turns of which nothing is left: a later one takes their place.

    For lines among which everything else was dropped. What stands directly behind a line that is parsed
    stays: up to 0.98 the context stands behind the message that it is about.
    """
    kept = []
    later: set[str] = set()
    for place in range(len(lines) - 1, -1, -1):
        kind = lines[place][1]
        if kind == "start" or kind == "context":  # noqa: PLR1714 - the quickest way to ask
            if kind in later and place and lines[place - 1][1] in _MARKS:
                continue
            later.add(kind)
        elif later and kind not in ("end", "gap"):
            later = set()
        kept.append(lines[place])
    kept.reverse()
    return kept


class _Pairs:
    """Texts that wait for their twin in the other channel."""

    __slots__ = ("_last", "_last_channel", "_waiting")

    def __init__(self) -> None:
        self._waiting: dict[tuple[str, str], list[_Text]] = {}
        self._last: _Text | None = None
        self._last_channel = ""

    def wait(self, draft: _Text, channel: str) -> None:
        """Note a text whose twin may still come."""
        self._waiting.setdefault((channel, draft.key), []).append(draft)
        if len(self._waiting) > 256:
            self._waiting.pop(next(iter(self._waiting)))
        self._last, self._last_channel = draft, channel

    def answer(self, key: str, channel: str) -> _Text | None:
        """The text of ``channel`` that this one repeats: the same words, or nearly so and a neighbour."""
        waiting = self._waiting.get((channel, key))
        if waiting:
            draft = waiting.pop(0)
            if not waiting:
                del self._waiting[channel, key]
        elif self._last is not None and self._last_channel == channel and _nearly(self._last.key, key):
            draft = self._last
            twins = self._waiting.get((channel, draft.key), [])
            if draft in twins:
                twins.remove(draft)
        else:
            return None
        if draft is self._last:
            self._last = None
        return draft

    def part(self) -> None:
        """Something else came between: the next text is no neighbour."""
        self._last = None


_CALLS: dict[str, Callable[[dict[str, Any]], tools.Call]] = {
    "function_call": tools.function_call,
    "custom_tool_call": tools.custom_call,
    "local_shell_call": tools.local_shell_call,
}


def _tool_call(draft: _Call, number: int) -> ToolCall:
    call = draft.call
    return ToolCall(
        name=call.name,
        command=call.command or None,
        input=call.input,
        output=draft.output,
        exit_code=draft.exit_code,
        cwd=call.cwd or draft.cwd,
        files=call.files,
        ordinal=number,
        line=draft.line,
        turn=draft.turn,
        at=draft.at,
    )


def _weight_of(draft: _Text | _Call) -> int:
    """Characters that an item holds, and its own cost; nothing for what is kept in any case."""
    if isinstance(draft, _Call):
        return _ITEM_COST + len(draft.output) + len(draft.call.command or "") + len(draft.call.input)
    return _ITEM_COST + len(draft.text) if _can_go(draft) else 0


def _can_go(draft: _Text | _Call) -> bool:
    """Whether an old item may be dropped whole; what was injected is kept, for the receipt."""
    if isinstance(draft, _Call):
        return True
    return draft.who is Provenance.ASSISTANT or draft.kind in ("environment", "agents_md", "notice")


def _shorten(draft: _Text | _Call) -> int:
    """Shorten an old item; returns the characters saved."""
    before = _weight_of(draft)
    if isinstance(draft, _Call):
        draft.output = tools.shorten(draft.output, 150)
        call = draft.call
        command = tools.shorten(call.command, 300) if call.command else call.command
        draft.call = call._replace(command=command, input=tools.shorten(call.input, 150))
    elif draft.who is Provenance.ASSISTANT:
        draft.text = tools.shorten(draft.text, 300)
    return before - _weight_of(draft)


def _turn_of(payload: dict[str, Any]) -> str | None:
    said = payload.get("internal_chat_message_metadata_passthrough")
    turn = said.get("turn_id") if isinstance(said, dict) else None
    return turn if isinstance(turn, str) else None


def _wrote_itself(review: dict[str, Any]) -> bool:
    """Whether Codex wrote the reviewer's prompt; a custom review has the person's own words."""
    target = review.get("target")
    return not (isinstance(target, dict) and target.get("type") == "custom")


def _item_text(item: dict[str, Any]) -> str | None:
    content = item.get("content")
    if isinstance(content, list):
        return "\n".join(t for t in map(texts.text_of, content) if t)
    for value in (content, item.get("text"), item.get("message")):
        if isinstance(value, str):
            return value
    return None


def _key(text: str) -> str:
    """What two writings of the same words have in common."""
    return text.strip()


def _squeezed(text: str) -> str:
    """The words alone, without white space."""
    return "".join(text[:4096].split())


def _nearly(one: str, other: str) -> bool:
    """Whether two neighbours in two channels are the same words: one holds the other, or most is alike."""
    one, other = _squeezed(one), _squeezed(other)
    if not one or not other or one in other or other in one:
        return bool(one and other)
    alike = _alike(one, other) + _alike(one[::-1], other[::-1])
    return 2 * alike >= max(len(one), len(other))


def _alike(one: str, other: str) -> int:
    """Length of what two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _cut(text: str, limit: int) -> str:
    """A text within its bound: the head, and a tail, where a request often stands behind a pasted log."""
    if len(text) > limit:
        left_out = f"… [{len(text) - limit} characters left out] …"
        text = f"{text[: limit * 3 // 4]}\n{left_out}\n{text[-(limit // 4) :]}"
    return _clean(text)


def _clean(text: str) -> str:
    """Text that can be written as UTF-8: half surrogates become question marks."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()
