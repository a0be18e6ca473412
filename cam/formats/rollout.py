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
)
from cam.core.lines import MAX_LINE, SkippedLine
from cam.core.problems import Problem
from cam.formats import rollout_texts as texts
from cam.formats import rollout_tools as tools
from cam.formats.rollout_backlog import Backlog, last_marks
from cam.formats.rollout_drafts import CallDraft, Calls, Draft, Items, Pairs, Repeats, TextDraft, squeezed
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
_MOST_UNKNOWN = 40
_DAMAGE = frozenset({"torn", "too_long", "nul", "null", "bad_utf8", "not_an_object"})
_HEADER = b'"session_meta"'
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
        self._items = Items()
        self._calls = Calls()
        self._user = Pairs()
        self._assistant = Pairs()
        self._repeats = Repeats()
        self._backlog = Backlog()
        self._same_harness: dict[str, str] = {}
        self._unplaced: list[TextDraft] = []
        self._replay: Replay | None = None
        self._confirmed_turns: set[int] = set()
        self._skipped: dict[str, int] = {}
        self._header_lost = False
        self._open_end = -1
        self._read = 0  # lines that were fed
        self._fed = 0  # bytes that were fed
        self._ends: deque[tuple[int, int, str | None, bytes]] = deque(maxlen=2)
        self._not_before = ""
        self.is_doubtful = False
        self._number = 0  # the line that is being parsed
        self._size = 0
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
        return tuple(draft.text for draft in self._items.typed() if self._counts(draft))

    def know_parent(self, parent: Sequence[str]) -> None:
        """Learn the parent's user messages after reading; see ``replay_is_a_guess``."""
        self._parent = tuple(squeezed(text) for text in parent)

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
        messages = self._before + sum(d.line <= line and self._counts(d) for d in self._items.typed())
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
        self._backlog.add(lines)
        for oldest in self._backlog.overdue():
            self._parse_lines(oldest, oldest.must)

    def _parse_waiting(self) -> None:
        """Parse what waits."""
        for lines in self._backlog.all():
            self._parse_lines(lines, lines.read)
        self._number = self._read

    def _parse_lines(self, block: Block, wanted: list[Line]) -> None:
        """Parse some lines of a block, and drop the others."""
        data = block.data
        dropped = len(block.read) - sum(line[1] != "gap" for line in wanted)
        size, take = len(data), self._parse_line
        if dropped and self._replay is None and not self._unplaced:
            wanted = last_marks(wanted)
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
        self._count_dropped(dropped)

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
        own = any(isinstance(i, TextDraft) and i.who is not Provenance.HARNESS for i in self._items)
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
            if not self._is_repeated(line):
                self._message(payload)
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            read = _CALLS[kind]
            if not self._is_repeated(line):
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
            if not self._is_repeated(line):
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
            if not self._is_repeated(line):
                thread = payload.get("thread_id")
                foreign = isinstance(thread, str) and self.meta is not None and thread != self.meta.session
                self._user_event(_item_text(item), turn, item.get("id"), foreign=foreign)
        elif kind == "AgentMessage":
            if not self._is_repeated(line):
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
            self._add(TextDraft(Provenance.HARNESS, text, piece.kind, self._number, "typed"), turn)

    def _user_text(self, pieces: list[texts.Piece], turn: str | None, name: object) -> None:
        typed = [p.text for p in pieces if p.who != texts.HARNESS]
        self._harness((p for p in pieces if p.who == texts.HARNESS), turn)
        if not typed:
            return
        text = _cut("\n".join(typed), _KEEP_USER)
        if self._is_copied("response", name or turn, text):
            return
        sure = any(p.who == texts.TYPED for p in pieces)
        draft = self._user.answer(text, "event")
        if draft is not None:
            draft.text, draft.state, draft.turn = text, "paired", turn or draft.turn
            self._confirmed_turns.add(draft.turn_no)
            return
        draft = TextDraft(Provenance.USER, text, "", self._number, "typed" if sure else "open")
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
        if self._is_copied("event", name or turn, text):
            return
        draft = self._user.answer(text, "response")
        if draft is not None:
            if draft.state == "open":
                draft.state = "paired"
            self._confirmed_turns.add(draft.turn_no)
            return
        state = "foreign" if foreign or self._review else "event"
        draft = TextDraft(Provenance.USER, text, "", self._number, state)
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
        self._user.part()
        self._unplaced.clear()
        if self._assistant.answer(text, "event" if channel == "response" else "response") is not None:
            return
        draft = TextDraft(Provenance.ASSISTANT, text, "", self._number, channel)
        self._add(draft, turn)
        self._assistant.wait(draft, channel)

    # Tool calls

    def _call(self, call_id: object, call: tools.Call, payload: dict[str, Any]) -> None:
        name = call_id if isinstance(call_id, str) else f"line {self._number}"
        self._touch()
        started = self._calls.of_process(call.stdin_of)
        if started is not None:
            self._calls.add(name, started)
            return
        known = self._calls.get(name)
        if known is not None and known.from_item:
            files = known.call.files or call.files
            known.call = call._replace(files=files, cwd=call.cwd or known.call.cwd)
            known.from_item = False
            return
        if known is not None and not known.settled and known.call == call:
            return
        draft = CallDraft(call, self._number, from_item=False)
        self._calls.add(name, draft)
        self._add(draft, _turn_of(payload))

    def _output(self, call_id: object, output: object) -> None:
        draft = self._calls.get(call_id)
        if draft is None:
            self._skip("output_without_call")
            return
        if draft.dropped:
            return
        found = tools.result(output, nested=draft.call.name == "apply_patch")
        text = _clean(found.output)
        later = draft.settled and self._calls.runs(draft)
        if draft.settled and not later:
            return
        before = len(draft.output)
        draft.output = tools.joined(draft.output, text) if later and text else draft.output if later else text
        self._count_dropped(self._items.grow(len(draft.output) - before))
        if found.exit_code is not None:
            draft.exit_code = found.exit_code
        draft.settled = True
        if found.session is not None:
            self._calls.run(found.session, draft)

    def _item_call(self, item: dict[str, Any], turn: str | None) -> None:
        read = tools.item_call(item)
        if read is None:
            return
        call, found = read
        name = item.get("id")
        self._touch()
        draft = self._calls.get(name)
        if draft is None:
            draft = CallDraft(call, self._number, from_item=True)
            draft.output = _clean(found.output)
            self._calls.add(name if isinstance(name, str) else f"line {self._number}", draft)
            self._add(draft, turn)
        else:
            files = draft.call.files or call.files
            draft.call = draft.call._replace(files=files, cwd=draft.call.cwd or call.cwd)
            draft.output = draft.output or _clean(found.output)
        if draft.exit_code is None:
            draft.exit_code = found.exit_code

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

    def _add(self, draft: Draft, turn: str | None) -> None:
        draft.turn = turn or self._turn
        draft.cwd = self._cwd
        draft.at = self._at
        draft.replayed = self._replay is not None and self._replay.active
        if isinstance(draft, TextDraft):
            draft.turn_no = self._turn_no
            if draft.is_typed:
                self._unplaced.append(draft)
        self._count_dropped(self._items.add(draft))

    # What is left out

    def _is_repeated(self, line: bytes) -> bool:
        repeated = self._repeats.line(line, self._number, timed=bool(self._at))
        if repeated:
            self._skip("repeated")
        return repeated

    def _is_copied(self, channel: str, name: object, text: str) -> bool:
        where = name if isinstance(name, str) else self._turn
        copied = where is not None and self._repeats.message(channel, where, text)
        if copied:
            self._skip("repeated")
        return copied

    def _count_dropped(self, dropped: int) -> None:
        if dropped:
            self._skip("thinned", dropped)

    def _skip(self, reason: str, times: int = 1) -> None:
        self._skipped[reason] = self._skipped.get(reason, 0) + times

    def _unknown(self, record: object, kind: object) -> None:
        names = [n[:40] for n in (record, kind) if isinstance(n, str)]
        reason = "unknown:" + ("/".join(names) or "?")
        many = sum(key.startswith("unknown:") for key in self._skipped) >= _MOST_UNKNOWN
        self._skip("unknown:…" if many and reason not in self._skipped else reason)

    # The end

    def _counts(self, draft: TextDraft) -> bool:
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
            if isinstance(draft, CallDraft):
                if theirs:
                    replayed += 1
                else:
                    items.append(draft.as_said(number))
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
            if isinstance(draft, CallDraft) or not draft.is_typed or not self._counts(draft):
                continue
            if same == len(self._parent) or squeezed(draft.text) != self._parent[same]:
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


_CALLS: dict[str, Callable[[dict[str, Any]], tools.Call]] = {
    "function_call": tools.function_call,
    "custom_tool_call": tools.custom_call,
    "local_shell_call": tools.local_shell_call,
}


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


def _head(block: bytes, line: Line) -> bytes:
    return block[line[2] : min(line[3], line[2] + 200)]


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
