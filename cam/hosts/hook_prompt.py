"""UserPromptSubmit without the wrapper: what is surely about the prompt, where the person wants that."""

from contextlib import suppress
from typing import Any

from cam.context import open_context
from cam.core.errors import CamError
from cam.hosts.prompt_recall import answer_prompt
from cam.store.hook_notes import is_first, note_fired


def answer_prompted(event: dict[str, Any]) -> bytes:
    """The answer as bytes; empty where it is not wanted, or nothing is surely about the prompt.

    Args:
        event: with ``session_id`` and ``cwd`` as texts.

    Raises:
        CamError: memory cannot be read.
    """
    context = open_context(event["cwd"])
    if context.off_reason or not context.settings["prompt_recall"]:
        return b""
    cache, session = context.layout.cache_file(), event["session_id"]
    with suppress(CamError, OSError):  # as at a start: rather told twice than never
        note_fired(cache, context.layout.project or "", "user-prompt-submit", session)
    with suppress(CamError, OSError):
        if not is_first(cache, session, f"prompt-{event.get('turn_id')}"):
            return b""
    return answer_prompt(context.layout, event, use_index=context.settings.keeps_index)
