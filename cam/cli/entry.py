"""Dispatch on the words of the command line, before anything heavy is imported.

``run``, ``exec``, ``resume`` and ``fork`` pass everything behind the verb to Codex byte for byte, so they
never see Typer; ``hook`` is called by Codex and must answer at once; ``recall`` answers before a person
notices; ``remember`` and ``memory list`` do so on a plain line. All else goes to Typer.
"""

import gc
import sys
from typing import NamedTuple

PASS_THROUGH = ("run", "exec", "resume", "fork")


class GlobalOptions(NamedTuple):
    """cam's own options, which stand before the verb.

    Attributes:
        cwd: folder to work in.
        inject: whether Codex is told what is known.
        sync: whether the session is learned from.
    """

    cwd: str | None = None
    inject: bool = True
    sync: bool = True


def main(arguments: list[str]) -> int:
    """Run cam.

    Args:
        arguments: without the program's name.

    Returns:
        The exit code.
    """
    if arguments[:1] == ["hook"]:
        return _answer_hook(arguments[1:])
    _use_utf8()
    try:
        options, rest = split_global_options(arguments)
    except ValueError as error:
        sys.stderr.write(f"cam: {error}\n")
        return 4
    if rest[:1] == ["complete"]:  # asked by the shell at every tab
        from cam.cli.complete import run_complete

        return run_complete(rest[1:], options.cwd)
    if rest[:1] == ["--version"]:
        return _print_version(as_json="--json" in rest)
    if rest and rest[0] in PASS_THROUGH:
        from cam.cli.session import run_session

        return run_session(rest[0], rest[1:], options)
    if rest and rest[0] == "recall":
        from cam.cli.recall import run_recall

        run_recall(rest[1:], options)
    if rest[:2] == ["mcp", "serve"]:
        from cam.cli.mcp_serve import run_serve

        return run_serve(rest[2:], options.cwd)
    if rest and rest[0] == "remember":
        from cam.cli.plain_remember import run_plain

        run_plain(rest[1:], options)
    if rest[:2] == ["memory", "list"]:
        from cam.cli.plain_list import run_plain as run_plain_list

        run_plain_list(rest[2:], options)
    from cam.cli.app import run_app

    return run_app(rest, options)


def only_answers(arguments: list[str]) -> bool:
    """Whether all is done once the answer is printed, and somebody waits for the process to end."""
    if arguments[:1] == ["hook"]:
        return arguments[1:2] not in (["learn"], ["ready"])
    return arguments[:1] == ["recall"] and arguments[1:2] in (["search"], ["timeline"], ["details"])


def _answer_hook(arguments: list[str]) -> int:
    """What Codex calls: hooks of a wrapped session (``--run FOLDER``), else those that are installed."""
    if only_answers(["hook", *arguments]):
        gc.disable()  # looking for what can be collected costs a tenth
    if arguments[1:2] == ["--run"] and len(arguments) == 3:
        if arguments[0] == "session-start":
            from cam.hosts.session_start import main as session_start

            return session_start(arguments[2])
        if arguments[0] == "prompt-recall":
            from cam.hosts.prompt_recall import main as prompt_recall

            return prompt_recall(arguments[2])
    from cam.hosts.hook import main as hook

    return hook(arguments)


def split_global_options(arguments: list[str]) -> tuple[GlobalOptions, list[str]]:
    """Cam's own options and what follows them.

    Raises:
        ValueError: ``--cwd`` has no value.
    """
    cwd, inject, sync = None, True, True
    rest = list(arguments)
    while rest:
        word = rest[0]
        if word == "--cwd" or word.startswith("--cwd="):
            value = word[6:] if "=" in word else rest[1] if len(rest) > 1 else ""
            if not value:
                raise ValueError("--cwd needs a folder: cam --cwd DIR …")
            cwd = value
            rest = rest[1 if "=" in word else 2 :]
        elif word == "--no-inject":
            inject, rest = False, rest[1:]
        elif word == "--no-sync":
            sync, rest = False, rest[1:]
        else:
            break
    return GlobalOptions(cwd, inject, sync), rest


def _print_version(*, as_json: bool) -> int:
    from cam.cli.answer import emit
    from cam.cli.version import commit, release
    from cam.render.answer import success, to_json

    data = {"version": release(), "commit": commit() or None}
    text = f"cam {data['version']}" + (f" ({data['commit']})" if data["commit"] else "")
    emit(to_json(success("version", data)) if as_json else text)
    return 0


def _use_utf8() -> None:
    """UTF-8 out whatever the locale; what no encoding can carry is escaped, never an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
