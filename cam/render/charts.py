"""Charts as SVG, drawn by matplotlib (the extra ``[report]``), which is imported when one is drawn.

Colours are written as custom properties of the page they stand in, so that they follow light and dark.
"""

import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

_INK = {
    "#000001": "var(--ink)",
    "#000002": "var(--good)",
    "#000003": "var(--change)",
    "#000004": "var(--bad)",
}
_TEXT, _GOOD, _CHANGE, _BAD = _INK
_WEEKS = 26
_HEAD = re.compile(r"^.*?(?=<svg )", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_IDS = re.compile(r'\b(id="|url\(#|xlink:href="#|href="#)')


def topic_chart(counts: Mapping[str, int]) -> str:
    """Records that hold, by topic.

    Args:
        counts: by topic, those to show; lower-case words and dashes alone.
    """
    figure, axes = _figure(7.2, 0.6 + 0.3 * max(1, len(counts)))
    rows = sorted(counts.items(), key=lambda row: (row[1], row[0]))
    bars = axes.barh([topic for topic, _ in rows], [count for _, count in rows], color=_GOOD, height=0.6)
    axes.bar_label(bars, padding=4, color=_TEXT, fontsize=9)
    axes.xaxis.set_visible(False)
    axes.margins(x=0.1)
    return _svg(figure, "topics")


def time_chart(moments: Sequence[tuple[str, str]]) -> str:
    """What was learned, corrected and forgotten, by week, the last half year.

    Args:
        moments: ISO-8601 time and one of ``learned``, ``corrected``, ``forgotten``.
    """
    from datetime import date, timedelta  # noqa: PLC0415 - with the library, where a chart is drawn

    def monday(stamp: str) -> date:
        day = date.fromisoformat(stamp[:10])
        return day - timedelta(days=day.weekday())

    found = Counter((monday(at), what) for at, what in moments)
    last = max(week for week, _ in found)
    weeks = [last - timedelta(weeks=n) for n in range(_WEEKS - 1, -1, -1)]
    figure, axes = _figure(7.2, 2.2)
    base = [0] * len(weeks)
    for what, colour in (("learned", _GOOD), ("corrected", _CHANGE), ("forgotten", _BAD)):
        heights = [found[week, what] for week in weeks]
        axes.bar(range(len(weeks)), heights, bottom=base, color=colour, width=0.8, label=what)
        base = [low + height for low, height in zip(base, heights, strict=True)]
    ticks = range(0, len(weeks), 5)
    axes.set_xticks(list(ticks), [weeks[n].isoformat() for n in ticks])
    axes.yaxis.get_major_locator().set_params(integer=True, nbins=4)
    axes.legend(frameon=False, labelcolor=_TEXT, fontsize=9, ncols=3, loc="upper left")
    axes.set_ylim(top=max(base) * 1.35)
    return _svg(figure, "time")


def token_chart(tokens: Sequence[int]) -> str:
    """Tokens that each start cost, oldest first; 0 where memory did not arrive."""
    figure, axes = _figure(7.2, 1.8)
    colours = [_GOOD if count else _BAD for count in tokens]
    axes.bar(range(len(tokens)), [count or max(tokens) * 0.02 for count in tokens], color=colours, width=0.8)
    axes.xaxis.set_visible(False)
    axes.yaxis.get_major_locator().set_params(integer=True, nbins=4)
    return _svg(figure, "tokens")


def _figure(wide: float, high: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # noqa: PLC0415 - half a second, and an extra

    figure = Figure(figsize=(wide, high), layout="constrained")
    axes = figure.add_subplot()
    for side in axes.spines.values():
        side.set_visible(False)
    axes.tick_params(colors=_TEXT, length=0, labelsize=9)
    return figure, axes


def _svg(figure: Any, name: str) -> str:
    """The figure as an element for an HTML page, its ids told apart by ``name``."""
    from matplotlib import rc_context  # noqa: PLC0415

    out = io.StringIO()
    metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif"}):
        figure.savefig(out, format="svg", transparent=True, metadata=metadata)
    svg = _METADATA.sub("", _HEAD.sub("", out.getvalue()))
    svg = _IDS.sub(rf"\g<1>{name}-", svg)
    for mark, colour in _INK.items():
        svg = svg.replace(mark, colour)
    return svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1).strip()
