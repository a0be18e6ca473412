"""Memory for an agent that runs in the same process: read-only, but for a write that brings a grant.

from cam.recall.adapter import create

memory = create("claude", cwd="/repo")
memory.search("how are tests run").cards
memory.remember({"content": "The API listens on port 8080"}, allow_write=True)

Each call finds project and store anew; nothing is kept between calls but the name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cam.core.capture import CaptureEnvelope, ingest
from cam.core.errors import InvalidInputError
from cam.core.items import ACTORS, said_in
from cam.hosts.writing import enter, propose_item, remember_item
from cam.memory.result import Proposed, Remembered
from cam.recall.flow import Recall, open_recall
from cam.recall.request import Filters, SearchRequest, TimelineRequest
from cam.recall.result import Details, SearchResult, Timeline
from cam.recall.status import Status
from cam.system.clock import now_stamp


@dataclass(frozen=True, slots=True)
class Adapter:
    """One agent's way in.

    Attributes:
        name: one of ``cam.core.items.ACTORS``; stands in what it writes.
        cwd: folder whose project it is about, None for the current one.
        memory_root: the store's folder, None for the one that settings name.
    """

    name: str
    cwd: str | None = None
    memory_root: str | None = None

    def search(
        self,
        query: str,
        filters: Filters | None = None,
        *,
        state: str = "auto",
        page: int = 1,
        limit: int = 8,
    ) -> SearchResult:
        """One page of cards, best first.

        Raises:
            CamError: the query or an option is off, or cam is switched off.
        """
        request = SearchRequest(_text(query), filters or Filters(), state, page, limit)
        return self._recall().answer(request, adapter=self.name)

    def timeline(self, anchor: str, *, before: int = 5, after: int = 5) -> Timeline:
        """How a record came to be, and what stands around it or around a date.

        Raises:
            CamError: nothing is known of the anchor, or an option is off.
        """
        return self._recall().timeline(TimelineRequest(_text(anchor), before=before, after=after))

    def get(self, *refs: str) -> Details:
        """Whole records, all of them or none.

        Raises:
            CamError: a text is no ref, or a record is not there.
        """
        return self._recall().details([_text(ref) for ref in refs])

    def export(self, *refs: str) -> Details:
        """What ``get`` gives: the records that an export of them holds.

        Raises:
            CamError: as ``get``.
        """
        return self.get(*refs)

    def status(self) -> Status:
        """What there is to find.

        Raises:
            CamError: cam is switched off, or a limit is broken.
        """
        return self._recall().status()

    def remember(self, item: Mapping[str, Any] | CaptureEnvelope, *, allow_write: bool = False) -> Remembered:
        """Keep an item of type memory, idea or knowledge.

        Args:
            item: ``cam.core.items``; or what was said on some channel, in its envelope.
            allow_write: the grant for this very call.

        Raises:
            CamError: there is no grant, the item is not of the schema, or it may not be written.
        """
        data = ingest(item, said_in) if isinstance(item, CaptureEnvelope) else item
        return remember_item(enter(self.cwd, self.memory_root), data, self.name, _grant(allow_write))

    def propose(self, item: Mapping[str, Any], *, allow_write: bool = False) -> Proposed:
        """Leave an item of type proposal to the person.

        Args:
            item: ``cam.core.items``.
            allow_write: the grant for this very call.

        Raises:
            CamError: there is no grant, the item is not of the schema, or it may not be proposed.
        """
        return propose_item(enter(self.cwd, self.memory_root), item, self.name, _grant(allow_write))

    def _recall(self) -> Recall:
        context = enter(self.cwd, self.memory_root)
        return open_recall(context.layout, context.settings, now=now_stamp())


def create(name: str, *, cwd: str | None = None, memory_root: str | None = None) -> Adapter:
    """An adapter for one agent.

    Args:
        name: ``claude``, ``codex``, ``hermes`` or ``subagent``.
        cwd: folder whose project it is about, None for the current one at each call.
        memory_root: the store's folder, None for the one that settings name.

    Raises:
        InvalidInputError: there is no such agent.
    """
    if name not in ACTORS:
        raise InvalidInputError(f"there is no agent {str(name)[:40]!r}; agents are {', '.join(ACTORS)}")
    return Adapter(name, cwd, memory_root)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInputError(f"a text is needed, not {type(value).__name__}")
    return value


def _grant(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInputError("allow_write is True or False")
    return value
