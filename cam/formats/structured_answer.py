"""What a model is asked for as JSON: the schema's form, and reading what came back."""

import json
from typing import Any


class BadAnswerError(ValueError):
    """The answer as a whole is not of the form that was asked for."""


def strict(properties: dict[str, Any]) -> dict[str, Any]:
    """An object of a JSON Schema in the subset that strict structured output takes.

    There every property is required, nothing further is allowed, and no bound on lengths or counts is known:
    those are checked when the answer is read.
    """
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_object(text: str) -> dict[str, Any]:
    """The JSON object of an answer, with or without the code fence that models like to put around it.

    Raises:
        BadAnswerError: it is none.
    """
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        text = text[text.index("\n") : -3]
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise BadAnswerError("Codex's answer is no JSON") from None
    return answer if isinstance(answer, dict) else {}
