"""The store of Markdown files: read a snapshot, commit a plan."""

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from cam.core.errors import CamError, DoubledIdError, StalePlanError, StoreUnavailableError
from cam.core.operations import Change, MemoryPlan, doubled
from cam.core.problems import Problem
from cam.core.records import MemoryRecord, MemoryRef, MemoryScope, MemoryState, is_topic
from cam.core.seams import Attachment, Snapshot
from cam.formats.history import HistoryEvent, event_of, noop_event, render_event, with_transaction
from cam.formats.memory_index import NoteEdit, person_text
from cam.formats.topic_file import ONE_OF_THEM, Form, form_of, lines_of
from cam.store.layout import StoreLayout
from cam.store.life import edits_of
from cam.store.machine import MARKER, machine_name
from cam.store.owed_notes import owe_note
from cam.store.predecessor import keep_predecessor
from cam.store.shadow import write_shadow
from cam.store.topics import Topic, TopicKey, homes, quick_headings, read_history, read_topic, topic_names
from cam.store.transaction import (
    NOTHING,
    Back,
    NewFile,
    Transaction,
    back_from,
    carry_out,
    check_places,
    digest_of,
    new_indexes,
    new_topic,
    repeat,
    stage,
    steps_of,
    touched,
    transaction_name,
    unstage,
)
from cam.system.clock import now_stamp
from cam.system.files import list_folder, make_folder, read_bytes, remove_file, rename_file, write_atomic
from cam.system.locking import HeldElsewhereError, hold

if TYPE_CHECKING:
    from cam.store.sidecar import Part

_T = TypeVar("_T")

LOCK_SECONDS = 30.0
"""How long a writer waits for another one before it gives up."""


class Count(NamedTuple):
    """How many records there are.

    Attributes:
        topics: how many each topic file has; those that have none are left out.
        problems: what could not be read.
        newest: active records that changed last, the newest first.
    """

    topics: Mapping[TopicKey, int]
    problems: tuple[Problem, ...]
    newest: tuple[MemoryRecord, ...] = ()

    @property
    def active(self) -> int:
        """Those that hold."""
        return sum(n for (_, state, _), n in self.topics.items() if state is MemoryState.ACTIVE)

    @property
    def archived(self) -> int:
        """Those that do not hold any more."""
        return sum(self.topics.values()) - self.active


class MarkdownStore:
    """Implements ``cam.core.seams.MemoryStore`` for one project's view of one store."""

    def __init__(self, layout: StoreLayout) -> None:
        self.layout = layout

    def snapshot(self, only: Collection[TopicKey] | None = None) -> Snapshot:
        """Every record of the project's scopes, active and archived, in file order.

        What cannot be read is a problem, never a missing record without a word.

        Args:
            only: topic files to read; all there are where None.

        Raises:
            StoreUnavailableError: the store's folder itself cannot be read.
        """
        list_folder(self.layout.root)
        problems: list[Problem] = self.recover()
        topics = [topic for _, topic in self._topics(problems, only)]
        records = [r for topic in topics for r in (topic.file.records if topic.file else ())]
        return Snapshot(tuple(records), tuple(problems), any(topic.edits for topic in topics))

    def near(self, refs: Iterable[MemoryRef]) -> Snapshot:
        """What ``snapshot`` reads of the topic files in which the records that ``refs`` name may stand."""
        return self.snapshot(homes(self.layout, [ref.key for ref in refs]))

    def view(self, terms: Sequence[Collection[str]] = ()) -> Snapshot:
        """What ``snapshot`` reads, for who only looks: files that the search index knows are not read again.

        Hand edits are not looked for.

        Args:
            terms: leaves out records of which the index knows that they hold no token of one of these.

        Raises:
            StoreUnavailableError: the store's folder itself cannot be read.
        """
        from cam.store.sidecar import all_of, holders_of  # noqa: PLC0415 - who writes needs none of it

        problems: list[Problem] = []
        reader = holders_of(terms) if terms else all_of
        found: Iterator[tuple[TopicKey, list[MemoryRecord]]]
        found = self._looked_at(self.layout.scopes, reader, list, problems)
        return Snapshot(tuple(record for _, records in found for record in records), tuple(problems))

    def to_plan_on(self, only: Collection[TopicKey] | None = None) -> Snapshot:
        """What ``snapshot`` reads; files that the search index knows are compared with their shadows alone.

        A commit looks at the files themselves.
        """
        if only is not None:
            return self.snapshot(only)
        return replace(self.view(), has_edits=bool(self.edits()))

    def count(self, scopes: Collection[MemoryScope] | None = None, newest: int = 0) -> Count:
        """How many records ``view`` gives, and the same problems; what the search index knows is not decoded.

        Args:
            scopes: whose records; those of the project's scopes where None.
            newest: so many active records come along.

        Raises:
            StoreUnavailableError: the store's folder itself cannot be read.
        """
        from cam.store.sidecar import number_in  # noqa: PLC0415

        problems: list[Problem] = []
        wanted = [each for each in self.layout.scopes if scopes is None or each in scopes]
        files = [
            *self._looked_at(wanted, number_in(newest), lambda found: (len(found), list(found)), problems)
        ]
        topics = {key: number for key, (number, _) in files if number}
        active = [r for (_, state, _), (_, found) in files if state is MemoryState.ACTIVE for r in found]
        active.sort(key=lambda record: record.updated_at, reverse=True)
        return Count(topics, tuple(problems), tuple(active[:newest]))

    def headings(self, scope: MemoryScope) -> list[tuple[str, str]]:
        """Topic and first line of each active section in a scope, as the files stand: a quick first look.

        Files that cannot be read are left out; whoever reads on meets the problem.
        """
        return quick_headings(self.layout, scope)

    def person_notes(self, scope: MemoryScope) -> str:
        """What a person wrote in a scope's MEMORY.md.

        Raises:
            CamError: the file cannot be read.
        """
        return person_text(self.index(scope).decode("utf-8", "replace"))

    def index(self, scope: MemoryScope) -> bytes:
        """A scope's MEMORY.md, empty if there is none.

        Raises:
            CamError: the file cannot be read.
        """
        return read_bytes(self.layout.index_file(scope)) or b""

    def commit(
        self, plan: MemoryPlan, attachment: Attachment | None = None, undoes: Sequence[HistoryEvent] = ()
    ) -> str:
        """Carry out ``plan`` with its history and the attachment, whole or not at all.

        Args:
            plan: what to do.
            attachment: what is written with it.
            undoes: events of the one transaction that the plan takes back: files that are as it left them
                get their bytes from before, records elsewhere their old place and text.

        Returns:
            The transaction's id; "" if there was nothing to write.

        Raises:
            DoubledIdError: an id that the plan is about stands twice; nothing was written.
            StalePlanError: a record is not as the plan expects; nothing was written.
            StoreUnavailableError: the machine refused, or another writer did not finish in time.
        """
        attachment = attachment or Attachment()
        if plan.is_empty and not (attachment.appends or attachment.files):
            return ""
        with self._locked():
            done = self._commit(plan, attachment, back=back_from(self.layout, undoes))
            commit_to_git(self.layout.root, plan)
            return done

    def note_edits(self, only: Collection[TopicKey] | None = None) -> None:
        """Put into the history what people did to the files by hand; the files stay as they are meant.

        Args:
            only: topic files to look at; all there are where None.

        Raises:
            StoreUnavailableError: the machine refuses.
        """
        with self._locked():
            edited = [key for key, topic in self._topics([], only) if topic.edits]
            self._commit(MemoryPlan(), Attachment(), edited)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the store's lock with nothing unfinished in it, for what rewrites files as a whole.

        Nothing may be committed inside.

        Raises:
            StoreUnavailableError: the machine refuses, or another writer did not finish in time.
        """
        with self._locked():
            yield

    def edits(self) -> tuple[Change, ...]:
        """What people did to the files by hand and the history does not have yet."""
        keys = [
            (scope, state, name)
            for scope in self.layout.scopes
            for state in MemoryState
            for name in self._names(scope, state, [])
        ]
        found: list[Change] = []
        for key in keys:
            with suppress(CamError):  # who looks at what stands is told of it
                found += edits_of(self.layout, key) if is_topic(key[2]) else ()
        return tuple(found)

    def history(self, scope: MemoryScope) -> list[HistoryEvent]:
        """The scope's events, oldest first; lines that cannot be read are left out."""
        return read_history(self.layout, scope)

    def is_writable(self) -> str:
        """Why the store cannot be written, "" if it can; changes nothing that stays."""
        probe = self.layout.cache_file(f"probe-{os.getpid()}")
        try:
            write_atomic(probe, b" " * 4096)
            remove_file(probe)
        except CamError as error:
            return str(error)
        return ""

    def recover(self) -> list[Problem]:
        """Finish what a crashed writer began; what keeps it from that. A writer at work is waited for."""
        folder = self.layout.journal_folder
        try:
            if list_folder(folder):
                with self._locked():
                    pass
        except CamError as error:
            return [
                Problem(folder, 0, f"a write waits to be finished: {error}", "it is tried again each time")
            ]
        return []

    def _looked_at(
        self,
        scopes: Collection[MemoryScope],
        reader: "Callable[[Part], Callable[[range], _T]]",
        of_file: Callable[[Sequence[MemoryRecord]], _T],
        problems: list[Problem],
    ) -> Iterator[tuple[TopicKey, _T]]:
        """Of each topic file what ``reader`` takes from the index, or ``of_file`` from the file itself."""
        from cam.store.sidecar import indexed_files  # noqa: PLC0415

        list_folder(self.layout.root)
        problems += self.recover()
        for scope in scopes:
            for state in MemoryState:
                known = indexed_files(self.layout, scope, state, reader)
                for name in self._names(scope, state, problems):
                    key, ready = (scope, state, name), known.get(f"{name}.md")
                    if ready is not None:
                        problems += ready[1]
                        yield key, ready[0]
                    elif (topic := self._topic(key, problems)) is not None:
                        yield key, of_file(topic.file.records if topic.file else ())

    def _topics(
        self, problems: list[Problem], only: Collection[TopicKey] | None = None
    ) -> Iterator[tuple[TopicKey, Topic]]:
        """Topic files of the project's scopes; what cannot be read is added to ``problems``."""
        if only is not None:
            found = ((key, self._topic(key, problems)) for key in sorted(only))
            yield from ((key, topic) for key, topic in found if topic is not None)
            return
        for scope in self.layout.scopes:
            for state in MemoryState:
                for name in self._names(scope, state, problems):
                    topic = self._topic((scope, state, name), problems)
                    if topic is not None:
                        yield (scope, state, name), topic

    def _names(self, scope: MemoryScope, state: MemoryState, problems: list[Problem]) -> list[str]:
        folder = self.layout.topics_folder(scope, state)
        try:
            return topic_names(self.layout, scope, state)
        except CamError as error:
            problems.append(Problem(folder, 0, str(error).removeprefix(f"{folder}: ")))
            return []

    def _topic(self, key: TopicKey, problems: list[Problem]) -> Topic | None:
        path = self.layout.topic_file(*key)
        if not is_topic(key[2]):
            advice = "use lower-case words joined by '-'"
            problems.append(Problem(path, 0, "the file's name is no topic", advice))
            return None
        try:
            topic = read_topic(self.layout, key)
        except CamError as error:
            problems.append(Problem(path, 0, str(error).removeprefix(f"{path}: ")))
            return None
        problems += topic.file.problems if topic.file else ()
        return topic

    def _commit(
        self,
        plan: MemoryPlan,
        attachment: Attachment,
        also: Sequence[TopicKey] = (),
        back: Back = NOTHING,
    ) -> str:
        """Stage, journal, put into place. The lock is held.

        Args:
            plan: what to do.
            attachment: what goes with it.
            also: further topic files whose hand edits are noted.
            back: what is known of the state that the plan brings back.
        """
        layout = self.layout
        changes = [change for change in plan.changes if not change.is_note]
        notes = _note_edits(plan)
        wanted = touched((c.before, c.after) for c in changes)
        keys = {key: None for change in changes for key in self._homes(change)} | dict.fromkeys(also)
        topics = {key: read_topic(layout, key) for key in keys}
        _check_single(changes, topics)
        _check_fresh(changes, topics)
        edits = [edit for topic in topics.values() for edit in topic.edits]
        files = [new_topic(layout, topics[k], k, wanted.get(k, {}), back) for k in (*wanted, *also)]
        indexes = new_indexes(layout, files, back, notes)
        transaction = self._transaction(
            [*edits, *plan.changes], plan, attachment, topics, [*files, *indexes], back
        )
        noted = tuple(
            (file.key, (digest_of(file.old), digest_of(file.data)))
            for file in files
            if file.key is not None and file.key not in wanted
        )
        transaction = replace(transaction, noted=noted, notes=notes)
        others = [NewFile(f"{layout.root}/{path}", text.encode()) for path, text in attachment.files.items()]
        changed = [file for file in (*files, *indexes) if file.data != file.old]
        check_places((*files, *indexes), transaction, layout)
        staged = stage([*changed, *others], transaction.id)
        journal = os.path.join(layout.journal_folder, f"{transaction.id}.json")
        try:
            write_atomic(journal, transaction.to_json())
        except BaseException:
            unstage(staged)
            raise
        for scope, edit in notes.items():
            owe_note(layout, layout.index_file(scope), edit)
        carry_out(staged, transaction.appends, layout)
        for file in (*files, *indexes):
            if file.data == file.old:
                write_shadow(layout, file.path, file.data)
        remove_file(journal)
        return transaction.id

    @staticmethod
    def _homes(change: Change) -> Iterator[TopicKey]:
        """Files in which the record may stand."""
        for record in (change.before, change.after):
            if record is not None:
                yield from ((record.scope, state, record.topic) for state in MemoryState)

    def _transaction(
        self,
        changes: Sequence[Change],
        plan: MemoryPlan,
        attachment: Attachment,
        topics: Mapping[TopicKey, Topic],
        files: Sequence[NewFile],
        back: Back,
    ) -> Transaction:
        now = now_stamp()
        name = transaction_name(now)
        root = self.layout.root
        versions: dict[tuple[MemoryScope, str], dict[str, str | None]] = {}
        for file in files:
            if file.key is not None:
                scope, state, topic = file.key
                versions.setdefault((scope, topic), {})[str(state)] = file.version
        steps = steps_of(self.layout, files)
        machine = machine_name(root)
        events = []
        for change in changes:
            scope, topic = change.ref.scope, change.ref.topic
            event = event_of(
                change, name, now, versions.get((scope, topic)), _form(change, topics), steps.pop(scope, ()),
                (self.layout.project or "") if scope is MemoryScope.GLOBAL else "", machine,
            )  # fmt: skip
            events.append((scope, event))
        events += [(o.record.scope, noop_event(o, name, now, machine)) for o in plan.noops]
        appends = [
            (os.path.relpath(self.layout.history_file(scope), root), render_event(event))
            for scope, event in events
        ]
        audit = os.path.relpath(self.layout.audit_file, root)
        appends += [
            (p, with_transaction(line, name) if p == audit else line) for p, line in attachment.appends
        ]
        pairs = tuple((c.before, c.after) for c in plan.changes if not c.is_note)
        return Transaction(
            name, self.layout.project, self.layout.worktree, pairs, tuple(appends), attachment.files, back
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        make_folder(self.layout.root)
        owner_file = f"{self.layout.lock_file}.owner"
        try:
            with hold(self.layout.lock_file, LOCK_SECONDS):
                _note_owner(owner_file)
                keep_predecessor(self.layout.root)
                self._complete_journals()
                yield
        except HeldElsewhereError:
            owner = (read_bytes(owner_file) or b"an unknown process").decode("utf-8", "replace").strip()
            raise StoreUnavailableError(
                f"the store is being written by {owner}; it did not finish in {LOCK_SECONDS:.0f} s, try again"
            ) from None

    def _complete_journals(self) -> None:
        folder = self.layout.journal_folder
        for name in list_folder(folder):
            path = os.path.join(folder, name)
            if name.endswith(".merge"):
                from cam.store.git_put import finish  # noqa: PLC0415 - starts processes

                finish(self.layout.root, read_bytes(path) or b"")
            elif name.endswith(".json"):
                data = read_bytes(path) or b""
                try:
                    transaction = Transaction.from_json(data)
                except ValueError:
                    make_folder(self.layout.cache_file())
                    rename_file(path, self.layout.cache_file(f"broken-{name}"))
                    continue
                repeat(transaction, self.layout.root)
            remove_file(path)


def transact(
    store: MarkdownStore,
    planner: Callable[[Snapshot], tuple[MemoryPlan, Attachment | None]],
    undoes: Sequence[HistoryEvent] = (),
    concerns: Callable[[], Collection[TopicKey]] | None = None,
) -> tuple[MemoryPlan, str]:
    """Read, plan and commit; plan again if what was read has changed meanwhile.

    Nothing is locked while ``planner`` works.

    Args:
        store: what is read and written.
        planner: decides.
        undoes: events of the one transaction that the plan takes back.
        concerns: topic files that the planner needs to see, where that is not all of them.

    Returns:
        The plan that was carried out, and its transaction's id.

    Raises:
        DoubledIdError: an id that the plan is about stands twice.
        StalePlanError: the records kept changing.
        StoreUnavailableError: the machine refused.
    """
    read = store.to_plan_on
    for _ in range(20):
        only = concerns() if concerns else None
        snapshot = read(only)
        if snapshot.has_edits:
            store.note_edits(only)  # what a person took out by hand must be known before anything is planned
            snapshot = read(only)
        plan, attachment = planner(snapshot)
        try:
            return plan, store.commit(plan, attachment, undoes)
        except StalePlanError as error:
            stale = error
            read = store.snapshot  # whatever the index knows, the files decide
    raise stale


def commit_to_git(root: str, plan: MemoryPlan) -> None:
    """Commit the change where the store is kept in git; what git refuses now goes with the next change.

    The lock is held.
    """
    if not os.path.isfile(os.path.join(root, MARKER)):
        return
    from cam.store.git_kept import keep, message_of  # noqa: PLC0415 - starts processes

    with suppress(CamError):
        keep(root, message_of(plan))


def _form(change: Change, topics: Mapping[TopicKey, Topic]) -> Form | None:
    """How the record stood before, if it leaves its file or had a form that cam does not write."""
    before, after = change.before, change.after
    if before is None:
        return None
    topic = topics.get((before.scope, before.state, before.topic))
    form = form_of(topic.file, before.id) if topic and topic.file else None
    stays = after is not None and (after.key, after.state) == (before.key, before.state)
    return None if form is None or (stays and not form.raw) else form


def _note_edits(plan: MemoryPlan) -> dict[MemoryScope, NoteEdit]:
    """What the plan does to a person's part of each MEMORY.md; at most one text goes and one comes."""
    edits: dict[MemoryScope, NoteEdit] = {}
    for change in plan.changes:
        if change.is_note:
            gone, added = (record.text if record else "" for record in (change.before, change.after))
            edits[change.ref.scope] = NoteEdit(gone, added)
    return edits


def _check_single(changes: Sequence[Change], topics: Mapping[TopicKey, Topic]) -> None:
    """Refuse a plan that is about an id which stands twice: which of the two is meant, nobody has said.

    Raises:
        DoubledIdError: there is one; the places of the first are named.
    """
    files = [topic for topic in topics.values() if topic.file]
    twice = doubled(r for topic in files if topic.file for r in topic.file.records)
    meant = {r.key for c in changes for r in (c.before, c.after) if r is not None} & twice
    if not meant:
        return
    scope, name, record_id = min(meant)
    places = [
        f"{topic.path} line {' and '.join(map(str, lines))}"
        for topic in files
        if topic.file and (topic.file.scope, topic.file.topic) == (scope, name)
        if (lines := lines_of(topic.file, record_id))
    ]
    raise DoubledIdError(
        f"nothing was written: the id {record_id} stands twice, in {' and in '.join(places)}; {ONE_OF_THEM}",
        frozenset(meant),
    )


def _check_fresh(changes: Sequence[Change], topics: Mapping[TopicKey, Topic]) -> None:
    """Refuse a plan that was made from records that are different now.

    Raises:
        StalePlanError: one of them is.
    """
    present = {r.key: r for topic in topics.values() if topic.file for r in topic.file.records[::-1]}
    for change in changes:
        record = change.before or change.after
        assert record is not None
        if present.get(record.key) != change.before:
            raise StalePlanError(f"{record.ref} was changed meanwhile; nothing was written, try again")


def _note_owner(path: str) -> None:
    """Who holds the lock, for the message of those who wait too long; not worth an fsync."""
    text = json.dumps({"pid": os.getpid(), "host": os.uname().nodename, "since": now_stamp()})
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
