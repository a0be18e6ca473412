"""What reaches the model in which release of Codex: the table of docs/injection.md, held by test_matrix.py.

``python tests/e2e/matrix.py`` writes the table into the documentation.
"""

from pathlib import Path

CASES = ("fresh", "resume", "fork", "compaction")

WHOLE = "whole"
CHANGE = "what changed"
SAID = "nothing new, and cam says so"
NONE = "–"

_INSTRUCTIONS = (WHOLE, SAID, NONE, WHOLE)
_HOOK = (WHOLE, CHANGE, NONE, f"{WHOLE}, at the next start")

EXPECTED: dict[str, tuple[str, ...]] = {
    "0.58.0": _INSTRUCTIONS,
    "0.98.0": (WHOLE, CHANGE, NONE, WHOLE),
    "0.117.0": _INSTRUCTIONS,
    "0.125.0": _HOOK,
    "0.135.0": _HOOK,
    "0.145.0": (WHOLE, CHANGE, NONE, WHOLE),
    "0.150.0": (WHOLE, CHANGE, CHANGE, WHOLE),
    "0.160.0": (WHOLE, CHANGE, CHANGE, WHOLE),
    "0.171.0": (WHOLE, CHANGE, CHANGE, WHOLE),
}
"""By release, in the order of ``CASES``: what the model receives of memory."""

BEGIN, END = "<!-- matrix: begin -->", "<!-- matrix: end -->"
DOCUMENT = Path(__file__).parents[2] / "docs" / "injection.md"


def table() -> str:
    """The table as Markdown."""
    rows = [f"| Codex | {' | '.join(CASES)} |", "|---" * (len(CASES) + 1) + "|"]
    rows += [f"| {release} | {' | '.join(words)} |" for release, words in EXPECTED.items()]
    return "\n".join(rows)


def documented(text: str) -> str:
    """``text`` with the table between its marks."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    DOCUMENT.write_text(documented(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
