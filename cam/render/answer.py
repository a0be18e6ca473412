"""The answer envelope of ``--json``; its JSON Schema is ``schemas/answer.schema.json``.

Every answer is checked against the schema's rules before it is printed. The check is written out here,
because a schema library would cost more to import than most commands take; a test holds the two equal.
"""

import json
from typing import Any

SCHEMA = "cam/v1"


def success(command: str, data: Any) -> dict[str, Any]:
    """The envelope of a success."""
    return checked({"schema": SCHEMA, "ok": True, "command": command, "data": data, "error": None})


def failure(command: str, code: str, message: str) -> dict[str, Any]:
    """The envelope of a failure."""
    error = {"code": code, "message": message}
    return checked({"schema": SCHEMA, "ok": False, "command": command, "data": None, "error": error})


def checked(answer: dict[str, Any]) -> dict[str, Any]:
    """``answer``, if it follows the schema.

    Raises:
        ValueError: it does not; a bug.
    """
    fields = {"schema", "ok", "command", "data", "error"}
    if not isinstance(answer, dict) or answer.keys() != fields:
        raise ValueError("an answer has exactly the fields " + ", ".join(sorted(fields)))
    error = answer["error"]
    is_success = answer["ok"] is True and answer["data"] is not None and error is None
    is_failure = (
        answer["ok"] is False
        and answer["data"] is None
        and isinstance(error, dict)
        and error.keys() == {"code", "message"}
        and all(isinstance(text, str) and text for text in error.values())
    )
    if answer["schema"] != SCHEMA or not isinstance(answer["command"], str) or not (is_success or is_failure):
        raise ValueError("an answer is either a success with data or a failure with code and message")
    return answer


def to_json(answer: dict[str, Any]) -> str:
    """One line that any UTF-8 stream can carry: lone surrogates are escaped."""
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(answer, separators=(",", ":"))
    return text
