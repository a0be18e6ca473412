"""cam store: verify, restore-ts, git."""

import os
from typing import Annotated

import typer

from cam.cli.answer import Access, Answer, respond
from cam.cli.app import enter_context
from cam.cli.options import Cwd, Json
from cam.core.errors import IntegrityError
from cam.render.store import (
    restored_data,
    restored_text,
    synced_data,
    synced_notes,
    synced_text,
    verify_data,
    verify_text,
)
from cam.setup.care import restore_ts
from cam.store.verify import verify

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
git_app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.add_typer(git_app, name="git", help="Keep the store in git, and on several machines: init, sync.")


@app.command("verify")
def verify_command(as_json: Json = False, cwd: Cwd = None) -> None:
    """Check every rule of the store; exit 0 if all hold, 4 if not; findings name file, line and remedy."""

    def work() -> Answer:
        report = verify(enter_context(cwd).layout.root)
        code = IntegrityError.exit_code if report.problems else 0
        return Answer(verify_data(report), verify_text(report), exit_code=code)

    respond("store.verify", as_json, Access.READS, work)


@app.command("restore-ts")
def restore_command(as_json: Json = False, cwd: Cwd = None) -> None:
    """Give the predecessor its store back as it was before this cam wrote; the present one is kept aside."""

    def work() -> Answer:
        done = restore_ts(enter_context(cwd).layout.root)
        return Answer(restored_data(done), restored_text(done))

    respond("store.restore-ts", as_json, Access.WRITES, work)


@git_app.command("init")
def git_init_command(as_json: Json = False, cwd: Cwd = None) -> None:
    """Keep the store in a git repository of its own, a commit per change; nothing is sent anywhere."""

    def work() -> Answer:
        from cam.memory.machines import keep_in_git

        store = enter_context(cwd).store
        is_new = keep_in_git(store)
        root = store.layout.root
        text = f"The store is kept in git{' from now on' if is_new else ' already'}: {root}"
        return Answer({"root": root, "is_new": is_new}, text)

    respond("store.git.init", as_json, Access.WRITES, work)


@git_app.command("sync")
def git_sync_command(
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="REPOSITORY", help="URL or folder of a bare repository; remembered."),
    ] = None,
    as_json: Json = False,
    cwd: Cwd = None,
) -> None:
    """Bring what other machines wrote, screened, merged record by record; send what was written here."""

    def work() -> Answer:
        from cam.memory.machines import sync_machines

        done = sync_machines(enter_context(cwd).store, to)
        return Answer(synced_data(done), synced_text(done), synced_notes(done))

    respond("store.git.sync", as_json, Access.WRITES, work)


@git_app.command("merge-driver", hidden=True)
def merge_driver_command(base: str, ours: str, theirs: str, path: str) -> None:
    """What git calls for a file that both sides changed: merges it into OURS, or exits 1."""
    from cam.store.git_merge import merge_file
    from cam.system.files import read_bytes, write_atomic

    files = (read_bytes(os.path.abspath(name)) or b"" for name in (base, ours, theirs))
    merged = merge_file(path, *files)
    if merged is None:
        raise typer.Exit(1)
    write_atomic(os.path.abspath(ours), merged)
