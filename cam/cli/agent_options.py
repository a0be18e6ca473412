"""Options of what an agent may call, declared once."""

from typing import Annotated

import typer

from cam.core.items import ACTORS

Actor = Annotated[
    str | None, typer.Option("--actor", metavar="NAME", help=f"The agent that writes: {', '.join(ACTORS)}.")
]
AllowWrite = Annotated[bool, typer.Option("--allow-write", help="The grant for this very call.")]
ItemFile = Annotated[
    str | None, typer.Option("--file", metavar="FILE", help="Read the item as JSON from FILE; - is stdin.")
]
