"""A person decides about a change to an instruction file: see it as a diff, and only then apply it."""

import os
from dataclasses import dataclass
from typing import Any

from cam.core.errors import InvalidInputError, WriteRefusedError
from cam.core.operations import MemoryPlan
from cam.core.seams import Attachment
from cam.formats.audit import Waiting, render_audit
from cam.memory.review import read_queue
from cam.memory.review_queue import ACCEPTED
from cam.memory.target import Target, open_target
from cam.store.identity import Project
from cam.store.memory_store import MarkdownStore
from cam.system.clock import now_stamp

SEEN = 12
"""Hex digits of a digest that name a version of a file to a person."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What accepting would do.

    Attributes:
        item: the proposal.
        diff: as ``git apply`` takes it; "" if the file holds the change already.
        seen: what names the version of the file that the diff was made for; "" if that is the one that the
            change was proposed for.
        applied: whether the change was carried out.
    """

    item: Waiting
    diff: str
    seen: str = ""
    applied: bool = False


def preview(project: Project | None, item: Waiting) -> Preview:
    """What accepting would do to the file as it is now; nothing is written.

    Raises:
        CamError: the target leads elsewhere, or the change no longer fits.
    """
    target = _target(project, item)
    return Preview(item, target.diff(item.text, item.old), _version(target, item))


def apply(store: MarkdownStore, project: Project | None, item: Waiting, seen: str) -> Preview:
    """Carry the change out and note that it was accepted.

    Args:
        store: of the project.
        project: whose file it is.
        item: the proposal.
        seen: names the version of the file that the person saw, where it is no longer the one that the change
            was proposed for.

    Raises:
        WriteRefusedError: the file is not as the person saw it.
        CamError: the target leads elsewhere, the change no longer fits, or the machine refuses.
    """
    target = _target(project, item)
    version = _version(target, item)
    if version and seen != version:
        raise WriteRefusedError(
            f"{item.target} has changed since this was proposed; look again: cam review accept {item.id}"
        )
    diff = target.diff(item.text, item.old)
    if diff:
        target.write(target.edited(item.text, item.old))
    layout = store.layout
    more: dict[str, Any] = {"decided": {item.id: ACCEPTED}, "text": item.text}
    if diff:
        more["target"] = item.target
    line = render_audit(at=now_stamp(), kind="review", actor="user", plan=MemoryPlan(), more=more)
    store.commit(MemoryPlan(), Attachment(((os.path.relpath(layout.audit_file, layout.root), line),)))
    return Preview(item, diff, version, applied=bool(diff))


def find_proposal(store: MarkdownStore, name: str) -> Waiting | None:
    """The change to a file that waits under this id; None if what waits there is a fact.

    Raises:
        NotFoundError: nothing does.
        WriteRefusedError: it is decided already.
    """
    queue = read_queue(store)
    item = queue.find(name)
    if not item.target:
        return None
    if item in queue.waiting:
        return item
    how = next(how for each, how in queue.settled if each == item)
    raise WriteRefusedError(f"that change to {item.target} is {how} already")


def _target(project: Project | None, item: Waiting) -> Target:
    if project is None:
        raise InvalidInputError("there is no project here; a proposal is about a project's file")
    return open_target(project.root, item.target)


def _version(target: Target, item: Waiting) -> str:
    """What names the file's version, "" if the change was proposed for it."""
    return "" if target.digest == item.digest else (target.digest[:SEEN] or "none")
