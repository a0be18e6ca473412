"""The reference pages: docs/commands.md from the command tree, the table of docs/cli.md from the settings.

``python -m tests.reference`` writes them; tests/unit/docs holds them to what the program declares.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from cam.cli import recall
from cam.cli.app import COMMANDS
from cam.cli.entry import PASS_THROUGH
from cam.cli.tree import build_app
from cam.core.settings import SETTINGS, Setting

DOCS = Path(__file__).parents[1] / "docs"
COMMANDS_PAGE, SETTINGS_PAGE = DOCS / "commands.md", DOCS / "cli.md"
_TABLE = re.compile(r"(?<=<!-- settings -->\n).*?(?=<!-- /settings -->)", re.DOTALL)
_MORE = {"prompt_recall": "injection.md", "extractor": "extraction.md"}
"""Where more is said of a setting."""

_HEAD = """\
# Every command

Written by `python -m tests.reference` from what the commands declare. What they are for, in groups, is in
[cli.md](cli.md). Every command but `run`, `exec`, `resume`, `fork` and `mcp serve` also takes `--json` (one
JSON object instead of text), `--cwd DIR` (work in DIR instead of the current folder) and `--help`.
"""


def commands_page() -> str:
    """docs/commands.md."""
    parts = [_HEAD]
    for panel in dict.fromkeys(entry.panel for entry in COMMANDS.values()):
        parts.append(f"## {panel}\n")
        for name, entry in COMMANDS.items():
            if entry.panel == panel:
                parts += _command(name)
    return "\n".join(parts)


def with_settings(page: str) -> str:
    """A page with its table of settings as they are declared."""
    head = "| setting | variable | default | values | shared file may set it | |\n|---|---|---|---|---|---|\n"
    table = head + "".join(map(_setting, SETTINGS))
    return _TABLE.sub(lambda _: table, page)


def _command(name: str) -> Iterator[str]:
    if name in PASS_THROUGH:
        yield f"### `cam {name} [CODEX ARGUMENTS]`\n\n{COMMANDS[name].help.partition(':')[0]}.\n"
    elif name == "recall":
        for inner, own in recall.COMMANDS.items():
            rows = [(f"{o.name} {o.value}".strip(), _said(o.help, o.default)) for o in own.options]
            yield _section(f"recall {inner} {own.words}", own.help, rows)
    else:
        tree: Any = get_command(build_app(name))
        yield from _below(name, tree.commands[name])


def _below(words: str, command: Any) -> Iterator[str]:
    inner = getattr(command, "commands", {})
    if not inner or command.invoke_without_command:
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        named = " ".join(_argument(p) for p in arguments)
        rows = [(_argument(p), _said(p.help, None)) for p in arguments if p.help]
        rows += [_option(p) for p in command.params if p.param_type_name == "option" and not _is_common(p)]
        yield _section(f"{words} {named}", (command.help or "").partition("\n\n")[0], rows)
    for name, each in inner.items():
        yield from _below(f"{words} {name}", each)


def _section(line: str, text: str, rows: list[tuple[str, str]]) -> str:
    table = "".join(f"| `{_cell(name)}` | {_cell(about)} |\n" for name, about in rows)
    head = "\n| | |\n|---|---|\n" if rows else ""
    return f"### `cam {line.strip()}`\n\n{_said(text, None)}\n{head}{table}"


def _option(option: Any) -> tuple[str, str]:
    value = "" if option.is_flag else f" {option.metavar or option.name.upper()}"
    default = None if option.is_flag or option.default in (None, "", ()) else option.default
    names = ", ".join([*sorted(option.opts, key=len, reverse=True), *option.secondary_opts])
    return f"{names}{value}", _said(option.help or "", default)


def _argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _is_common(option: Any) -> bool:
    return bool({"--json", "--cwd", "--help"} & {*option.opts})


def _said(text: str, default: object) -> str:
    """The help of an option, its words in quotes as code."""
    said = re.sub(r"'(cam [^']*)'", r"`\1`", " ".join(text.split()))
    return said if default in (None, "") else f"{said.rstrip('.')}; {default} if not given."


def _setting(setting: Setting) -> str:
    try:
        values = str(setting.check(object())) and ""
    except ValueError as error:
        values = str(error)
    default = ", ".join(setting.default) if isinstance(setting.default, tuple) else str(setting.default)
    text = _said(setting.help, None)
    if setting.name in _MORE:
        text += f" ([{_MORE[setting.name]}]({_MORE[setting.name]}))"
    cells = (
        f"`{setting.name}`",
        f"`{setting.variable}`",
        f"`{default.lower() if isinstance(setting.default, bool) else default}`" if default else "none",
        values,
        "yes" if setting.shared else "no",
        text,
    )
    return f"| {' | '.join(map(_cell, cells))} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    COMMANDS_PAGE.write_text(commands_page(), encoding="utf-8")
    SETTINGS_PAGE.write_text(with_settings(SETTINGS_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
