"""What a session found out: failures, approaches given up, ideas left, decisions, needs, files. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from cam.continuity import words
from cam.continuity.commands import Run
from cam.continuity.said import MAX_ITEMS_READ, Piece, bare, covers, distinct, same
from cam.continuity.session import Session, everyone
from cam.continuity.steps import Step, is_done, steps_in
from cam.formats.continuity_file import MAX_ITEM, tidy
from cam.language.claims import terms
from cam.language.relations import contradicts
from cam.language.statements import shadow

MAX_DECISIONS, MAX_ENVIRONMENT = 4, 3
_MAX_FILES = 12


def last_of_kind(runs: Iterable[Run]) -> list[Run]:
    """The last run of each kind, newest first."""
    last: dict[str, Run] = {}
    for run in runs:
        last.pop(run.kind, None)
        last[run.kind] = run
    return list(reversed(last.values()))


def failures(runs: Sequence[Run]) -> list[str]:
    """The open failures as items."""
    return [f"Command failed: `{r.shown}`" + (f" ({r.says})" if r.says else "") for r in open_failures(runs)]


def open_failures(runs: Sequence[Run]) -> list[Run]:
    """Failures that no later success of the same kind cleared, newest first; one a command."""
    open_runs: list[Run] = []
    for run in runs:
        if run.passed:
            open_runs = [f for f in open_runs if not run.clears(f)]
        else:
            open_runs = [
                f for f in open_runs if f.command != run.command and not (f.kind == run.kind == "test")
            ]
            open_runs.append(run)
    return list(reversed(open_runs))


def approaches(session: Session) -> list[str]:
    """Approaches that were tried and given up, newest first."""
    found: list[tuple[int, str]] = []
    for at, said in everyone(session, all_of_it=True):
        for n, piece in enumerate(said):
            lead = shadow(piece.lead)
            is_failed = words.find("failed", piece.shade) is not None or (
                piece.is_item and words.find("failed_lead", lead) is not None
            )
            if not is_failed or words.find("next_inline", piece.shade):
                continue
            text = piece.text
            if len(terms(text)) < 4 and n and not piece.is_item:
                text = f"{said[n - 1].text} {text}"
            if len(terms(text)) >= 2:
                found.append((at, tidy(text)))
    newest = list(reversed(found))[:MAX_ITEMS_READ]
    return [text for at, text in newest if not _works_later(text, at, session)]


def _works_later(text: str, at: int, session: Session) -> bool:
    return any(
        later > at
        and any(
            words.find("works", p.shade)
            and not words.find("undone", p.shade)
            and _names_of(text) & _names_of(p.text)
            and covers(text, p.text)
            for p in said
        )
        for later, said, _ in session.said
    )


def _names_of(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def untried(session: Session) -> list[str]:
    """What was proposed and not taken up since, newest first."""
    found: list[tuple[int, str]] = []
    for at, said in everyone(session):
        for piece in said:
            is_lead = piece.is_item and words.find("untried_lead", shadow(piece.lead)) is not None
            if (
                piece.checked
                or not (is_lead or words.find("untried", piece.shade))
                or piece.text.endswith(("?", "？"))
            ):
                continue
            if len(terms(piece.text)) >= 2 and not words.find("failed", piece.shade):
                found.append((at, tidy(bare(piece.text))))
    newest = list(reversed(found))[:MAX_ITEMS_READ]
    return [text for at, text in newest if not _taken_up(text, at, session)]


def _taken_up(text: str, at: int, session: Session) -> bool:
    """Whether an idea was tried since, by whoever."""
    step = Step(text, at)
    if is_done(step, session):
        return True
    later = [p for when, said in everyone(session) if when > at for p in said]
    return any(
        (words.find("failed", p.shade) or words.find("tried", p.shade)) and covers(_idea(text), p.text)
        for p in later
    )


def _idea(text: str) -> str:
    """What an idea is about, without the words that call it one."""
    hit = words.find("untried", shadow(text))
    rest = text[hit.end() :] if hit else text
    return rest if len(terms(rest)) >= 2 else text


def decisions(
    session: Session, *, most: int = MAX_DECISIONS, letters: int = MAX_ITEM, all_of_it: bool = False
) -> list[str]:
    """What was decided, newest first; a later one takes the place of what it contradicts.

    Args:
        session: the evidence.
        most: decisions.
        letters: of one of them.
        all_of_it: whether what the assistant said in the middle of its turns counts too.
    """
    kept: list[tuple[bool, str]] = []
    for by_user, piece in _decided(session, all_of_it=all_of_it):
        called = words.find("called_decision", piece.text.lower())
        text = tidy(bare(piece.text[called.end() :] if called else piece.text), letters)
        clash = set(contradicts(text, [k[1] for k in kept]))
        if not by_user and any(kept[n][0] for n in clash):
            continue
        kept = [k for n, k in enumerate(kept) if n not in clash and not same(k[1], text)]
        kept.append((by_user, text))
    return [text for _, text in reversed(kept)][:most]


def _decided(session: Session, *, all_of_it: bool) -> Iterator[tuple[bool, Piece]]:
    """Pieces that decide something and whether the person said them, in order."""
    found = [
        (at, True, piece)
        for at, said in session.heard
        for piece in said
        if words.find("decided.user", piece.shade) and not _is_question(piece) and terms(piece.text)
    ]
    for at, said, ends in session.said:
        for piece in said if ends or all_of_it else ():
            is_lead = piece.is_item and words.find("decided.lead", shadow(piece.lead)) is not None
            if (is_lead or words.find("decided.assistant", piece.shade)) and len(terms(piece.text)) >= 2:
                found.append((at, False, piece))
    for _, by_user, piece in sorted(found, key=lambda f: f[0]):
        yield by_user, piece


def environment(session: Session, decided: Sequence[str]) -> list[str]:
    """What the work needs around it, newest first."""
    found = [
        tidy(bare(piece.text))
        for _, said in everyone(session)
        for piece in said
        if words.find("environment", piece.shade)
        and not _is_question(piece)
        and not words.find("hedge", piece.shade)
        and not steps_in(piece)
        and 3 <= len(terms(piece.text)) <= 40
    ]
    texts = [t for t in reversed(found) if not any(same(t, d) for d in decided)]
    return list(distinct(texts))[:MAX_ENVIRONMENT]


def _is_question(piece: Piece) -> bool:
    return piece.text.endswith(("?", "？"))


def files_changed(session: Session) -> list[str]:
    """The files changed, newest first, in items that have room."""
    names = [f"`{name}`" for name in reversed(session.files)]
    more = len(names) - _MAX_FILES
    rows: list[str] = []
    row = "Files changed: "
    for name in names[:_MAX_FILES]:
        if len(row) + len(name) > 220 and row != "Files changed: ":
            rows.append(row.rstrip(", "))
            row = "Files changed: "
        row += f"{name}, "
    if names:
        rows.append(row.rstrip(", ") + (f" and {more} more" if more > 0 else ""))
    return rows
