"""Tool calls of a rollout: the command a person would type, what came back, how it ended.

Calls come as ``function_call`` (``shell`` with an argv, ``shell_command``, ``exec_command`` and
``write_stdin``), ``local_shell_call``, ``custom_tool_call`` (``apply_patch``) and as items of the paginated
form; outputs as text with a short head (``Exit code: 0``, ``Process exited with code 0``), as JSON
(``{"output":…,"metadata":{"exit_code":0}}``) or as a list of parts.
"""

import json
import re
import shlex
from typing import Any, NamedTuple

from cam.formats.rollout_texts import text_of

KEEP = 2000
"""Characters kept of an output's head, and as many of its tail."""
KEEP_COMMAND = 4000
"""Characters kept of a command or of raw arguments."""

_SHELL = re.compile(r"(?:.*[/\\])?(?:ba|z|da|k|a)?sh(?:\.exe)?$", re.IGNORECASE)
_POWERSHELL = re.compile(r"(?:.*[/\\])?(?:powershell|pwsh)(?:\.exe)?$", re.IGNORECASE)
_CMD = re.compile(r"(?:.*[/\\])?cmd(?:\.exe)?$", re.IGNORECASE)
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})\s*$", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID (\S{1,100})\s*$", re.MULTILINE)
_HEAD_LINE = re.compile(
    r"(?:Chunk ID: |Wall time: |Process exited with code |Process running with session ID |Exit code: "
    r"|Original token count: |Total output lines: )[^\n]{0,200}\n"
)
_OUTPUT_LINE = "Output:\n"
_PATCH_FILE = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.{1,4096}?)\r?$", re.MULTILINE)
_PATCH_BEGIN = "*** Begin Patch"
_HEX = re.compile(r"((?:%[0-9A-Fa-f]{2})+)")


class Call(NamedTuple):
    """What a call asks for."""

    name: str
    command: str | None = None
    input: str = ""
    cwd: str | None = None
    files: tuple[str, ...] = ()
    stdin_of: str | None = None


class Result(NamedTuple):
    """What came back.

    Attributes:
        exit_code: None where the output does not say.
        session: id of the process that is still running.
    """

    output: str = ""
    exit_code: int | None = None
    session: str | None = None


def function_call(payload: dict[str, Any]) -> Call:
    """Read a ``function_call``."""
    name = _name(payload)
    raw = payload.get("arguments")
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False) if raw is not None else ""
    given = _object(raw)
    bare = str(payload.get("name") or "")
    if bare == "write_stdin" and given.get("session_id") is not None:
        return Call(name, input=_short(text), stdin_of=str(given["session_id"]))
    if bare in ("shell", "container.exec", "shell_command", "exec_command", "local_shell", "unified_exec"):
        asked = given.get("command", given.get("cmd"))
        if asked is None:
            asked = given.get("input")
        line = command_line(asked)
        if line is not None:
            return _shell(name, line, given.get("workdir") or given.get("cwd"))
    if bare == "apply_patch":
        patch = given.get("input", given.get("patch"))
        patch = patch if isinstance(patch, str) else text
        return Call(name, input=_short(patch), files=patched_files(patch))
    return Call(name or "unknown", input=_short(text))


def custom_call(payload: dict[str, Any]) -> Call:
    """Read a ``custom_tool_call``: the input is free text, such as a patch."""
    name, raw = _name(payload), payload.get("input")
    text = raw if isinstance(raw, str) else ""
    return Call(name or "unknown", input=_short(text), files=patched_files(text))


def local_shell_call(payload: dict[str, Any]) -> Call:
    """Read a ``local_shell_call``."""
    action = payload.get("action")
    action = action if isinstance(action, dict) else {}
    line = command_line(action.get("command"))
    return _shell("local_shell", line or "", action.get("working_directory"))


def item_call(item: dict[str, Any]) -> tuple[Call, Result] | None:
    """Read an item of the paginated form, or an event of the same content; None for other items."""
    kind = item.get("type")
    if kind in ("CommandExecution", "exec_command_end"):
        line = command_line(item.get("command"))
        call = _shell("exec_command", line or "", item.get("cwd"))
        output = item.get("aggregated_output")
        if not isinstance(output, str):
            output = "".join(t for t in (item.get("stdout"), item.get("stderr")) if isinstance(t, str))
        return call, Result(shorten(output), _integer(item.get("exit_code")))
    if kind in ("FileChange", "patch_apply_end"):
        changes = item.get("changes")
        files = tuple(str(name) for name in changes) if isinstance(changes, dict) else ()
        output = "".join(t for t in (item.get("stdout"), item.get("stderr")) if isinstance(t, str))
        success = item.get("success")
        if not isinstance(success, bool):
            success = {"completed": True, "failed": False, "declined": False}.get(str(item.get("status")))
        code = None if success is None else 0 if success else 1
        return Call("apply_patch", files=files), Result(shorten(output), code)
    if kind in ("McpToolCall", "mcp_tool_call_end"):
        asked = item.get("invocation")
        asked = asked if isinstance(asked, dict) else item
        given = asked.get("arguments")
        text = (
            given
            if isinstance(given, str)
            else ""
            if given is None
            else json.dumps(given, ensure_ascii=False)
        )
        name = "__".join(("mcp", *(str(asked[k]) for k in ("server", "tool") if asked.get(k))))
        return Call(name, input=_short(text)), Result(shorten(_any_text(item.get("result"))))
    return None


def result(output: object, *, nested: bool = False) -> Result:
    """Read what a call gave back, in any of its forms.

    Args:
        output: the output as it stands in the record.
        nested: the tool's own answer stands within a shell's (a patch that was passed to a shell).
    """
    found = _result(output)
    if not nested:
        return found
    inner = _result(found.output)
    return found if inner.exit_code is None else Result(inner.output, inner.exit_code, found.session)


def _result(output: object) -> Result:
    if isinstance(output, dict):
        return _from_json(output) or Result(shorten(_any_text(output)))
    if isinstance(output, list):
        return _from_text(_any_text(output))
    if not isinstance(output, str):
        return Result()
    if output.startswith("{"):
        parsed = _object(output)
        found = _from_json(parsed) if parsed else None
        if found is not None:
            return found
    if output.startswith('[{"type":'):
        try:
            return _from_text(_any_text(json.loads(output)) or output)
        except (ValueError, RecursionError):
            pass
    return _from_text(output)


def command_line(command: object) -> str | None:
    """A command as a person would type it: ``["bash", "-lc", X]`` is X; None where there is none."""
    if isinstance(command, str):
        return command.strip("\n") or None
    if not isinstance(command, list) or not command:
        return None
    argv = [part if isinstance(part, str) else str(part) for part in command]
    program, *rest = argv
    if _SHELL.match(program) and len(rest) >= 2 and re.fullmatch(r"-[a-z]*c", rest[-2]):
        return rest[-1].strip("\n")
    if _SHELL.match(program) and len(rest) == 3 and re.fullmatch(r"-[a-z]*c", rest[0]):
        return rest[1].strip("\n")
    flags = [part.lower() for part in rest[:-1]]
    if _POWERSHELL.match(program) and any(flag in ("-command", "-c") for flag in flags):
        return rest[-1].strip("\n")
    if _CMD.match(program) and len(rest) >= 2 and flags[0] in ("/c", "/k"):
        return " ".join(rest[1:])
    return shlex.join(argv)


def patched_files(patch: str) -> tuple[str, ...]:
    """Paths that a patch touches, in order, each once."""
    if _PATCH_BEGIN not in patch:
        return ()
    return tuple(dict.fromkeys(found.strip() for found in _PATCH_FILE.findall(patch)))


def shorten(text: str, keep: int = KEEP) -> str:
    """Head and tail of a text, with a note of what is left out between."""
    if len(text) <= 2 * keep:
        return text
    return f"{text[:keep]}\n… [{len(text) - 2 * keep} characters left out] …\n{text[-keep:]}"


def joined(first: str, more: str) -> str:
    """An output and what the same process printed later."""
    return shorten(first + more if not first or first.endswith("\n") else f"{first}\n{more}")


def local_path(path: object) -> str | None:
    """A folder from a path or a ``file://`` URL."""
    if not isinstance(path, str) or not path:
        return None
    if not path.startswith("file://"):
        return path
    rest = path[len("file://") :]
    rest = rest if rest.startswith("/") else "/" + rest.partition("/")[2]
    rest = _HEX.sub(lambda m: bytes.fromhex(m[1].replace("%", "")).decode("utf-8", "replace"), rest)
    return rest[1:] if re.match(r"/[A-Za-z]:", rest) else rest


def _shell(name: str, line: str, cwd: object) -> Call:
    """A shell call; a patch that is passed to the shell is the patch it is."""
    if line.lstrip().startswith(("apply_patch", "applypatch")) and _PATCH_BEGIN in line:
        files = patched_files(line)
        return Call("apply_patch", input=_short(line), cwd=local_path(cwd), files=files)
    return Call(name, command=_short(line), cwd=local_path(cwd))


def _name(payload: dict[str, Any]) -> str:
    name, space = payload.get("name"), payload.get("namespace")
    name = name if isinstance(name, str) else ""
    return f"{space}__{name}" if isinstance(space, str) and space.startswith("mcp__") else name


def _from_json(value: dict[str, Any]) -> Result | None:
    """``{"output":…,"metadata":{"exit_code":…}}`` and its kin; None for other objects."""
    output, metadata = value.get("output"), value.get("metadata")
    if isinstance(output, str) and isinstance(metadata, dict):
        return Result(shorten(output), _integer(metadata.get("exit_code")))
    code = _integer(value.get("exit_code"))
    if code is not None:
        parts = (output, value.get("stdout"), value.get("stderr"))
        return Result(shorten("".join(p for p in parts if isinstance(p, str))), code)
    if "content" in value and ("success" in value or "isError" in value):
        return _from_text(_any_text(value["content"]))
    return None


def _from_text(text: str) -> Result:
    """Text with a head of its own: what stands there decides, not what the command printed."""
    at = 0
    while (found := _HEAD_LINE.match(text, at)) is not None:
        at = found.end()
    if not at:
        return Result(shorten(text))
    head = text[:at]
    body = text[at:]
    body = body.removeprefix(_OUTPUT_LINE)
    code, running = _EXIT.search(head), _RUNNING.search(head)
    return Result(shorten(body), int(code[1]) if code else None, running[1] if running else None)


def _any_text(value: object, depth: int = 0) -> str:
    """The texts in an output of unknown form, in order."""
    if isinstance(value, str):
        return value
    if depth > 6:
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, (_any_text(part, depth + 1) for part in value)))
    if isinstance(value, dict):
        text = text_of(value)
        if text is not None:
            return text
        for key in ("Ok", "Err", "content", "output", "text", "message"):
            if key in value:
                return _any_text(value[key], depth + 1)
    return ""


def _object(raw: object) -> dict[str, Any]:
    """Arguments as an object; {} where they are none."""
    if isinstance(raw, dict):
        return raw
    if not isinstance(raw, str) or not raw.lstrip().startswith("{"):
        return {}
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _short(text: str) -> str:
    return shorten(text, KEEP_COMMAND // 2)
