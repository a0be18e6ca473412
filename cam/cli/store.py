"""cam store: verify, restore-ts."""

import typer

from cam.cli.answer import Answer, respond
from cam.cli.app import enter_context, enter_to_write
from cam.cli.options import Cwd, Json
from cam.core.errors import IntegrityError
from cam.render.store import restored_data, restored_text, verify_data, verify_text
from cam.setup.care import restore_ts
from cam.store.verify import verify

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.command("verify")
def verify_command(as_json: Json = False, cwd: Cwd = None) -> None:
    """Check every rule of the store; exit 0 if all hold, 4 if not; findings name file, line and remedy."""

    def work() -> Answer:
        report = verify(enter_context(cwd).layout.root)
        code = IntegrityError.exit_code if report.problems else 0
        return Answer(verify_data(report), verify_text(report), exit_code=code)

    respond("store.verify", as_json, work)


@app.command("restore-ts")
def restore_command(as_json: Json = False, cwd: Cwd = None) -> None:
    """Give the predecessor its store back as it was before this cam wrote; the present one is kept aside."""

    def work() -> Answer:
        done = restore_ts(enter_to_write(cwd).layout.root)
        return Answer(restored_data(done), restored_text(done))

    respond("store.restore-ts", as_json, work)
