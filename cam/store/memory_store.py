"""The store of Markdown files: read a snapshot, commit a plan."""

import json
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cam.core.errors import CamError, StalePlanError, StoreUnavailableError
from cam.core.operations import MemoryPlan
from cam.core.problems import Problem
from cam.core.records import MemoryRecord, MemoryScope, MemoryState, is_topic
from cam.core.seams import Attachment, Snapshot
from cam.formats.history import HistoryEvent, event_of, noop_event, parse_history, render_event
from cam.formats.memory_index import person_text
from cam.store.layout import StoreLayout
from cam.store.transaction import Transaction, carry_out, read_topic, repeat, stage, topic_names, unstage
from cam.system.clock import now_stamp
from cam.system.files import list_folder, make_folder, read_bytes, remove_file, write_atomic

LOCK_SECONDS = 30.0
"""How long a writer waits for another one before it gives up."""


class MarkdownStore:
    """Implements ``cam.core.seams.MemoryStore`` for one project's view of one store."""

    def __init__(self, layout: StoreLayout) -> None:
        self.layout = layout

    def snapshot(self) -> Snapshot:
        """Every record of the project's scopes, active and archived, in file order.

        What cannot be read is a problem, never a missing record without a word.
        """
        records: list[MemoryRecord] = []
        problems: list[Problem] = self._recover()
        for scope in self.layout.scopes:
            for state in MemoryState:
                self._read_folder(scope, state, records, problems)
        return Snapshot(tuple(records), tuple(problems))

    def person_notes(self, scope: MemoryScope) -> str:
        """What a person wrote in a scope's MEMORY.md.

        Raises:
            CamError: the file cannot be read.
        """
        data = read_bytes(self.layout.index_file(scope))
        return "" if data is None else person_text(data.decode("utf-8", "replace"))

    def commit(self, plan: MemoryPlan, attachment: Attachment | None = None) -> str:
        """Carry out ``plan`` with its history and the attachment, whole or not at all.

        Returns:
            The transaction's id; "" if there was nothing to write.

        Raises:
            StalePlanError: a record is not as the plan expects; nothing was written.
            StoreUnavailableError: the machine refused, or another writer did not finish in time.
        """
        attachment = attachment or Attachment()
        if plan.is_empty and not attachment.appends and not attachment.files:
            return ""
        with self._locked():
            self._check_fresh(plan)
            transaction = self._transaction(plan, attachment)
            staged = stage(transaction, self.layout.root)
            journal = os.path.join(self.layout.journal_folder, f"{transaction.id}.json")
            try:
                write_atomic(journal, transaction.to_json())
            except BaseException:
                unstage(staged)
                raise
            carry_out(transaction, staged, self.layout.root)
            remove_file(journal)
        return transaction.id

    def history(self, scope: MemoryScope) -> list[HistoryEvent]:
        """The scope's events, oldest first; lines that cannot be read are left out."""
        data = read_bytes(self.layout.history_file(scope)) or b""
        lines = data.decode("utf-8", "replace").split("\n")
        return [event for event in parse_history(lines) if event is not None]

    def is_writable(self) -> str:
        """Why the store cannot be written, "" if it can; changes nothing that stays."""
        probe = self.layout.cache_file(f"probe-{os.getpid()}")
        try:
            write_atomic(probe, b" " * 4096)
            remove_file(probe)
        except CamError as error:
            return str(error)
        return ""

    def _read_folder(
        self, scope: MemoryScope, state: MemoryState, records: list[MemoryRecord], problems: list[Problem]
    ) -> None:
        folder = self.layout.topics_folder(scope, state)
        try:
            topics = topic_names(self.layout, scope, state)
        except CamError as error:
            problems.append(Problem(folder, 0, str(error)))
            return
        for topic in topics:
            path = self.layout.topic_file(scope, state, topic)
            if not is_topic(topic):
                problems.append(
                    Problem(path, 0, "the file's name is no topic", "use lower-case words joined by '-'")
                )
                continue
            try:
                file = read_topic(self.layout, (scope, state, topic))
            except CamError as error:
                problems.append(Problem(path, 0, str(error)))
                continue
            if file is not None:
                records += file.records
                problems += file.problems

    def _check_fresh(self, plan: MemoryPlan) -> None:
        for change in plan.changes:
            record = change.before or change.after
            assert record is not None
            found: MemoryRecord | None = None
            for state in MemoryState:
                file = read_topic(self.layout, (record.scope, state, record.topic))
                for present in file.records if file else ():
                    if present.id == record.id:
                        found = found or present
            if found != change.before:
                raise StalePlanError(f"{record.ref} was changed meanwhile; nothing was written, try again")

    def _transaction(self, plan: MemoryPlan, attachment: Attachment) -> Transaction:
        now = now_stamp()
        name = f"{now[:19].replace('-', '').replace(':', '')}-{secrets.token_hex(4)}"
        root = self.layout.root
        events = [(c.ref.scope, event_of(c, name, now)) for c in plan.changes]
        events += [(o.record.scope, noop_event(o, name, now)) for o in plan.noops]
        appends = [
            (os.path.relpath(self.layout.history_file(scope), root), render_event(event))
            for scope, event in events
        ]
        appends += attachment.appends
        changes = tuple((c.before, c.after) for c in plan.changes)
        return Transaction(
            name, self.layout.project, self.layout.worktree, changes, tuple(appends), attachment.files
        )

    def _recover(self) -> list[Problem]:
        """Finish what a crashed writer began. A writer at work holds the lock: wait for it."""
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

    @contextmanager
    def _locked(self) -> Iterator[None]:
        from filelock import FileLock, Timeout  # noqa: PLC0415 - hot paths never write

        make_folder(self.layout.root)
        owner_file = f"{self.layout.lock_file}.owner"
        lock = FileLock(self.layout.lock_file, timeout=LOCK_SECONDS, mode=0o600)
        try:
            lock.acquire()
        except Timeout:
            owner = (read_bytes(owner_file) or b"an unknown process").decode("utf-8", "replace").strip()
            raise StoreUnavailableError(
                f"the store is being written by {owner}; it did not finish in {LOCK_SECONDS:.0f} s, try again"
            ) from None
        except OSError as error:
            from cam.system.files import explain  # noqa: PLC0415

            raise StoreUnavailableError(explain(error, self.layout.lock_file)) from error
        try:
            _note_owner(owner_file)
            self._complete_journals()
            yield
        finally:
            lock.release()

    def _complete_journals(self) -> None:
        folder = self.layout.journal_folder
        for name in list_folder(folder):
            path = os.path.join(folder, name)
            if name.endswith(".json"):
                data = read_bytes(path) or b""
                try:
                    transaction = Transaction.from_json(data)
                except ValueError:
                    os.replace(path, self.layout.cache_file(f"broken-{name}"))
                    continue
                repeat(transaction, self.layout.root)
            remove_file(path)


def transact(
    store: MarkdownStore, planner: Callable[[Snapshot], tuple[MemoryPlan, Attachment | None]]
) -> tuple[MemoryPlan, str]:
    """Read, plan and commit; plan again if what was read has changed meanwhile.

    Nothing is locked while ``planner`` works.

    Returns:
        The plan that was carried out, and its transaction's id.

    Raises:
        StalePlanError: the records kept changing.
        StoreUnavailableError: the machine refused.
    """
    for _ in range(20):
        plan, attachment = planner(store.snapshot())
        try:
            return plan, store.commit(plan, attachment)
        except StalePlanError as error:
            stale = error
    raise stale


def _note_owner(path: str) -> None:
    """Who holds the lock, for the message of those who wait too long; not worth an fsync."""
    text = json.dumps({"pid": os.getpid(), "host": os.uname().nodename, "since": now_stamp()})
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
