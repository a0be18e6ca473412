"""A value as TOML, for Codex's ``-c`` flags and its ``config.toml``."""

from json import dumps
from typing import Any


def render_value(value: Any) -> str:
    """A value as TOML on one line; Codex reads it back equal.

    Raises:
        TypeError: TOML has no such type.
    """
    match value:
        case str():
            # A JSON string is a TOML string but for DEL; a lone surrogate is no text to either.
            text = value.encode("utf-8", "replace").decode("utf-8")
            return dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case list():
            return f"[{', '.join(map(render_value, value))}]"
        case dict():
            return "{" + ",".join(f"{render_value(k)}={render_value(v)}" for k, v in value.items()) + "}"
        case _ if hasattr(value, "isoformat"):  # dates and times
            return str(value.isoformat())
        case _:
            raise TypeError(f"no TOML for {type(value).__name__}")
