"""Options that many commands share, declared once."""

from typing import Annotated

import typer

from cam.core.items import ACTORS

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Cwd = Annotated[
    str | None, typer.Option("--cwd", metavar="DIR", help="Work in DIR instead of the current folder.")
]
Scope = Annotated[
    str | None, typer.Option("--scope", metavar="SCOPE", help="global, project or project-local.")
]
Topic = Annotated[str | None, typer.Option("--topic", metavar="TOPIC", help="Only this topic.")]
Actor = Annotated[
    str | None, typer.Option("--actor", metavar="NAME", help=f"The agent that writes: {', '.join(ACTORS)}.")
]
AllowWrite = Annotated[bool, typer.Option("--allow-write", help="The grant for this very call.")]
ItemFile = Annotated[
    str | None, typer.Option("--file", metavar="FILE", help="Read the item as JSON from FILE; - is stdin.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
