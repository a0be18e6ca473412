"""Options that many commands share, declared once."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Cwd = Annotated[
    str | None, typer.Option("--cwd", metavar="DIR", help="Work in DIR instead of the current folder.")
]
Scope = Annotated[
    str | None, typer.Option("--scope", metavar="SCOPE", help="global, project or project-local.")
]
Topic = Annotated[str | None, typer.Option("--topic", metavar="TOPIC", help="Only this topic.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
