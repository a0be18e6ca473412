"""cam recall: finding memory again."""

import typer

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def recall() -> None:
    """Find memory again."""
