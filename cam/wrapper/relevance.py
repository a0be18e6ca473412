"""Which records fit the prompt on the command line."""

from collections.abc import Callable, Sequence

from cam.core.settings import Settings
from cam.store.layout import StoreLayout

TOP = 12
"""Records that come before others because they fit."""


def relevance(
    layout: StoreLayout, settings: Settings, prompt: str | None
) -> Callable[[], Sequence[str]] | None:
    """Keys ``scope:topic:id`` of the records that fit ``prompt``, best first, when asked for.

    Args:
        layout: of the project's store.
        settings: ``recall_index`` counts.
        prompt: as it stands on the command line.

    Returns:
        None without a prompt.
    """
    if not prompt or not prompt.strip():
        return None

    def keys() -> Sequence[str]:
        from cam.recall.prompt import fitting_records  # noqa: PLC0415 - only where a choice is to be made

        found = fitting_records(layout, prompt, TOP, use_index=settings.keeps_index)
        return [f"{r.scope}:{r.topic}:{r.id}" for r, _ in found]

    return keys
