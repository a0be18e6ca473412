"""The Typer application of one command."""

from importlib import import_module

import typer

from cam.cli.app import COMMANDS


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
        for command in module.app.registered_commands:  # a line of help is wrapped, not cut
            command.short_help = command.short_help or (command.callback.__doc__ or "").partition("\n")[0]
        app.add_typer(module.app, name=name, help=COMMANDS[name].help)
    else:
        app.command(name)(getattr(module, f"{name}_command"))
    return app


def _root() -> None:
    """With a callback Typer takes the first word for a command, though there is but one."""
