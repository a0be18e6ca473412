"""Settings for people and as data."""

from typing import Any

from cam.core.settings import SETTINGS, Settings


def settings_data(settings: Settings) -> dict[str, Any]:
    """``config list --json``: every value with its source."""
    rows = [
        {
            "name": s.name,
            "value": _plain(settings[s.name]),
            "source": settings.sources[s.name],
            "default": _plain(s.default),
            "help": s.help,
            "variable": s.variable,
        }
        for s in SETTINGS
    ]
    return {"settings": rows, "warnings": list(settings.warnings)}


def settings_text(settings: Settings) -> str:
    """One setting a line: name, value, where it comes from."""
    rows = [(s.name, show_value(settings[s.name]), settings.sources[s.name]) for s in SETTINGS]
    name_width, value_width = (max(len(row[i]) for row in rows) for i in (0, 1))
    return "\n".join(f"{n:<{name_width}}  {v:<{value_width}}  {s}" for n, v, s in rows)


def show_value(value: Any) -> str:
    """A value as a person would type it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ":".join(value) or "-"
    return str(value)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
