"""Every command of the tree with its parameters, read from the declarations themselves."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from typer.main import get_command

from cam.cli import recall
from cam.cli.app import COMMANDS
from cam.cli.entry import PASS_THROUGH
from cam.cli.recall_grammar import COMMON
from cam.cli.tree import build_app


@dataclass(frozen=True)
class Leaf:
    """A command that does something.

    Attributes:
        words: as they are typed.
        options: long name of each option, and whether it takes a value.
        arguments: how many positional arguments it must have.
    """

    words: tuple[str, ...]
    options: tuple[tuple[str, bool], ...]
    arguments: int

    @property
    def name(self) -> str:
        """The words as one."""
        return " ".join(self.words)


def leaves() -> Iterator[Leaf]:
    """All commands but those that pass everything to Codex."""
    for name, command in recall.COMMANDS.items():
        options = [*command.options, *COMMON]
        takes = tuple((o.name, bool(o.value)) for o in options if o.name != "--help")
        yield Leaf(("recall", name), takes, command.least)
    for name in COMMANDS:
        if name not in (*PASS_THROUGH, "recall"):
            tree: Any = get_command(build_app(name))
            yield from _below((name,), tree.commands[name])


def _below(words: tuple[str, ...], command: Any) -> Iterator[Leaf]:
    inner = getattr(command, "commands", {})
    for name, below in inner.items():
        yield from _below((*words, name), below)
    if inner and not command.invoke_without_command:
        return
    options = [p for p in command.params if p.param_type_name == "option" and "--help" not in p.opts]
    yield Leaf(
        words,
        tuple((max(p.opts, key=len), not p.is_flag) for p in options),
        sum(p.required for p in command.params if p.param_type_name == "argument"),
    )


LEAVES = tuple(leaves())
