"""cam completion."""

from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.options import Json
from cam.core.errors import InvalidInputError

_HOW = {
    "bash": "echo 'source <(cam completion bash)' >> ~/.bashrc",
    "zsh": "echo 'source <(cam completion zsh)' >> ~/.zshrc   # behind compinit",
    "fish": "cam completion fish > ~/.config/fish/completions/cam.fish",
}


def completion_command(
    shell: Annotated[str | None, typer.Argument(metavar="[SHELL]", help="bash, zsh or fish.")] = None,
    as_json: Json = False,
) -> None:
    """Print the shell's completion: commands, options, scopes, topics and the refs of what is remembered."""
    respond("completion", as_json, Access.READS, lambda: _completion(shell))


def _completion(shell: str | None) -> Answer:
    if shell is None:
        return Answer(
            {"install": _HOW}, "\n".join(["Install it with one of:", *_HOW.values()]), verbatim=True
        )
    if shell not in _HOW:
        raise InvalidInputError(f"no completion for {shell!r}; there are {', '.join(_HOW)}")
    from importlib.resources import files

    script = files("cam.cli").joinpath("shells", f"cam.{shell}").read_text(encoding="utf-8").rstrip("\n")
    return Answer({"shell": shell, "script": script}, script, verbatim=True)
