"""Plan and carry out what puts cam into a host or takes it out again: read → pieces → changes → commit."""

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import replace

from cam.core.errors import IntegrityError, WriteRefusedError
from cam.setup.integrations.commit import commit_changes, read_manifest, recover
from cam.setup.integrations.pieces import PUT, TAKE, files_of, put_trust
from cam.setup.integrations.result import FileChange, IntegrationPlan, Note, Piece, Places, Step, Texts
from cam.system.codex import Version
from cam.system.files import link_on_the_way, read_bytes

_MOST_BYTES = 8_000_000

_Work = Callable[[Texts, Places], Step]


def plan_install(
    places: Places, store: str, pieces: Sequence[Piece], version: Version | None = None
) -> IntegrationPlan:
    """What puts the pieces in; nothing is written.

    Args:
        places: where they go.
        store: the store's folder, which knows what was put in before.
        pieces: which; ``TRUST`` only with the person's explicit yes.
        version: the release that is to trust the hooks.

    Raises:
        IntegrityError: a file of the user's cannot be read as what it is; file and line are named.
        WriteRefusedError: a file may not be written.
    """
    steps: list[_Work] = [PUT[piece] for piece in pieces if piece is not Piece.TRUST]
    if Piece.TRUST in pieces:
        steps.append(lambda texts, places: put_trust(texts, places, version))
    return _plan(places, store, pieces, steps, is_install=True)


def plan_remove(places: Places, store: str, pieces: Sequence[Piece]) -> IntegrationPlan:
    """What takes the pieces out: exactly what was put in, files as they were where nothing else changed.

    Args:
        places: where they are.
        store: the store's folder, which knows what was put in.
        pieces: which; trust goes with the hooks.

    Raises:
        IntegrityError: a file of the user's cannot be read as what it is; file and line are named.
        WriteRefusedError: a file may not be written.
    """
    user = _user_of_skill(places, store) if len(pieces) > 1 and Piece.SKILL in pieces else ""
    if user:
        pieces = [piece for piece in pieces if piece is not Piece.SKILL]
    steps = [TAKE[piece] for piece in pieces if piece is not Piece.TRUST]
    plan = _plan(places, store, pieces, steps, is_install=False)
    kept = Note(Piece.SKILL, "left", places.skill, f"{user} goes with it still") if user else None
    return replace(plan, notes=(*plan.notes, kept)) if kept is not None else plan


def carry_out(plan: IntegrationPlan, store: str) -> None:
    """Write all of the plan, or nothing.

    Raises:
        StalePlanError: a file changed since the plan was made.
        StoreUnavailableError: the machine refuses; everything is as it was.
    """
    commit_changes(plan.changes, store)


def _user_of_skill(places: Places, store: str) -> str:
    """Another place that a person's own skill serves too, "" where there is none."""
    mine = {os.path.realpath(path) for path in (places.hooks, places.config)}
    if places.skill_words != places.bridge_words:
        return ""  # the project's own, not the person's
    for target, entry in read_manifest(store).items():
        if target not in mine and os.path.exists(target) and {Piece.HOOKS, Piece.MCP} & set(entry.pieces):
            return target
    return ""


def _plan(
    places: Places, store: str, pieces: Sequence[Piece], steps: Sequence[_Work], *, is_install: bool
) -> IntegrationPlan:
    recover(store)
    data = {path: _read(path) for piece in pieces for path in files_of(piece, places)}
    texts = {path: _decode(path, found) for path, found in data.items()}
    before = dict(texts)
    notes: list[Note] = []
    for step in steps:
        made = step(texts, places)
        texts |= made.texts
        notes += made.notes
    changes = []
    for path, text in texts.items():
        if text == before[path]:
            continue
        _require_inside(path, places)
        _require_writable(path)
        after = None if text is None else text.encode("utf-8")
        changes.append(FileChange(path, os.path.realpath(path), data[path], after, _mode(path, places)))
    return IntegrationPlan(
        places, _with_bases(changes, places, store, set(pieces), is_install=is_install), tuple(notes)
    )


def _with_bases(
    changes: Sequence[FileChange], places: Places, store: str, pieces: set[Piece], *, is_install: bool
) -> tuple[FileChange, ...]:
    """Each change with what its file was without cam; a file that loses all of cam is that again."""
    manifest = read_manifest(store)
    done = []
    for change in changes:
        known = manifest.get(change.target)
        exact = known is not None and known.is_as_left(change.before)
        held = set(known.pieces) if known is not None and exact else set()
        if is_install:
            mine = {_named(p, places) for p in pieces if _holds(change.path, p, places)}
            base = known.before(change.before) if exact and known else _without_all(change, places)
            done.append(replace(change, pieces=tuple(sorted(held | mine)), base=base))
            continue
        gone = {_named(p, places) for p in (*pieces, *([Piece.TRUST] if Piece.HOOKS in pieces else []))}
        left = tuple(sorted(held - gone))
        if exact and known is not None:
            base = known.before(change.before)
            done.append(replace(change, after=change.after if left else base, pieces=left, base=base))
        else:
            done.append(change)
    return tuple(done)


def _named(piece: Piece, places: Places) -> str:
    """A piece as the notes name it: trust of one hooks file is not that of another."""
    return f"{piece}:{os.path.realpath(places.hooks)}" if piece is Piece.TRUST else str(piece)


def _holds(path: str, piece: Piece, places: Places) -> bool:
    """Whether the file is where the piece itself stands."""
    if piece in (Piece.HOOKS, Piece.TRUST):
        return path == (places.hooks if piece is Piece.HOOKS else places.trust)
    return path in files_of(piece, places)


def _without_all(change: FileChange, places: Places) -> bytes | None:
    """The file as it is without anything of cam's."""
    if change.before is None:
        return None
    texts: dict[str, str | None] = {path: None for piece in TAKE for path in files_of(piece, places)}
    texts[change.path] = change.before.decode("utf-8")
    for piece, take in TAKE.items():
        if change.path in files_of(piece, places):
            texts |= take(texts, places).texts
    text = texts[change.path]
    return None if text is None else text.encode("utf-8")


def _read(path: str) -> bytes | None:
    """A file of the user's, through links.

    Raises:
        IntegrityError: it is no regular file, or too large for what it should be.
        StoreUnavailableError: the machine refuses.
    """
    data = read_bytes(os.path.realpath(path))
    if data is not None and len(data) > _MOST_BYTES:
        raise IntegrityError(f"{path}:1: {len(data)} bytes are too many for such a file; nothing was written")
    return data


def _decode(path: str, data: bytes | None) -> str | None:
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1 if data else 1
        raise IntegrityError(f"{path}:{line}: not UTF-8; nothing was written") from None


def _require_inside(path: str, places: Places) -> None:
    """Refuse a file of the project's that lies elsewhere: a cloned repository may hold such a link."""
    if not places.root or not path.startswith(os.path.join(places.root, "")):
        return
    link = link_on_the_way(places.root, path)
    inside = os.path.join(os.path.realpath(places.root), "")
    if link and not os.path.realpath(path).startswith(inside):
        raise WriteRefusedError(f"{link} is a link out of the project; nothing was written")


def _require_writable(path: str) -> None:
    """Refuse a file that its owner made read-only, whoever asks."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_IMODE(mode) & 0o200:
        raise WriteRefusedError(f"{path} is read-only; nothing was written (chmod u+w it first)")


def _mode(path: str, places: Places) -> int:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except FileNotFoundError:
        if path.endswith(".sh"):
            return 0o755
        return 0o600 if path == places.trust else 0o644
