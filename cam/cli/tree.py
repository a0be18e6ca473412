"""The Typer application of one command, and the shape of them all."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import typer
from typer.main import get_command

from cam.cli.app import COMMANDS
from cam.cli.entry import PASS_THROUGH


def build_app(name: str) -> typer.Typer:
    """``cam`` with the command ``name`` alone: all of them cost more to declare than most take to run."""
    app = typer.Typer(
        name="cam",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # importing rich for a page of help takes longer than reading the page
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(_root)
    module = import_module(f"cam.cli.{COMMANDS[name].module}")
    if hasattr(module, "app"):
        _show_whole_lines(module.app)
        app.add_typer(module.app, name=name, help=COMMANDS[name].help)
    else:
        app.command(name)(getattr(module, f"{name}_command"))
    return app


def _show_whole_lines(group: typer.Typer) -> None:
    """Have the group's page wrap the line of help of each command, not cut it."""
    for command in group.registered_commands:
        command.short_help = command.short_help or (command.callback.__doc__ or "").partition("\n")[0]
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            _show_whole_lines(inner.typer_instance)


def names_in(group: str) -> tuple[str, ...]:
    """What the commands of a group are called."""
    tree: Any = get_command(build_app(group))
    return tuple(getattr(tree.commands[group], "commands", ()))


def _root() -> None:
    """With a callback Typer takes the first word for a command, though there is but one."""


def shape() -> dict[str, dict[str, Any]]:
    """Every command by its words: its line of help, its options and arguments by what they stand for.

    An option that takes no value stands for "".
    """
    from cam.cli import recall
    from cam.cli.recall_grammar import COMMON

    found: dict[str, dict[str, Any]] = {}
    for name, command in recall.COMMANDS.items():
        options = {option.name: option.value for option in (*command.options, *COMMON)}
        words = command.words.split() * max(1, command.least)
        found[f"recall {name}"] = {"help": command.help, "options": options, "arguments": words}
    for name, entry in COMMANDS.items():
        if name not in (*PASS_THROUGH, "recall"):
            tree: Any = get_command(build_app(name))
            found |= dict(_below(name, tree.commands[name]))
        else:
            found[name] = {"help": entry.help, "options": {}, "arguments": []}
    return found


def _below(words: str, command: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, inner in getattr(command, "commands", {}).items():
        yield from _below(f"{words} {name}", inner)
    options, arguments = {"--help": ""}, []
    for parameter in command.params:
        stands_for = (
            "" if getattr(parameter, "is_flag", False) else parameter.metavar or parameter.name.upper()
        )
        if parameter.param_type_name == "option":
            options[max(parameter.opts, key=len)] = stands_for
            options |= dict.fromkeys(parameter.secondary_opts, stands_for)
        else:
            arguments.append(stands_for)
    help_line = (command.help or "").partition("\n")[0]
    yield words, {"help": help_line, "options": options, "arguments": arguments}
