"""The short report on stderr when a wrapped session has ended."""

from cam.core.display import counted
from cam.formats.receipts import InjectionReceipt
from cam.render.continuity import saved_line
from cam.render.sync import learned_line
from cam.wrapper.result import SessionOutcome

_RED, _PLAIN = "\x1b[31m", "\x1b[0m"


def outcome_lines(outcome: SessionOutcome, *, colour: bool = False) -> list[str]:
    """At most a few lines; nothing at all when there is nothing to say.

    Args:
        outcome: what happened.
        colour: whether memory that did not arrive stands in red.
    """
    lines = []
    for receipt in outcome.receipts:
        line = _receipt_line(receipt)
        lines += [f"{_RED}{line}{_PLAIN}" if colour and receipt.arrived is False else line] if line else []
    if outcome.sync is not None:
        learned = learned_line(outcome.sync.changes)
        lines += [learned] if learned else []
        doubts = sum(len(s.conflicts) for s in outcome.sync.sessions)
        if doubts:
            lines.append(f"{doubts} left undecided, because known facts contradict: cam review")
    if outcome.repeated:
        rules = "a rule" if outcome.repeated == 1 else f"{outcome.repeated} rules"
        lines.append(f"you repeated {rules} that Codex had been told: cam stats")
    stopped = saved_line(outcome.stopped)
    lines += [stopped] if stopped else []
    if outcome.background:
        many = "1 session is" if outcome.background == 1 else f"{outcome.background} sessions are"
        lines.append(f"{many} being read in the background")
    return [f"cam: {line}" for line in (*lines, *outcome.warnings)]


def _receipt_line(receipt: InjectionReceipt) -> str:
    if receipt.arrived:
        count = len(receipt.refs)
        records = counted(count, "record")
        return f"memory reached the model: {records}, {counted(receipt.tokens, 'token')}"
    if receipt.arrived is False:
        return f"memory did not reach the model: {receipt.reason} (cam doctor)"
    return ""
