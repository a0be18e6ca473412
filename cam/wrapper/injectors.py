"""How the payload reaches Codex, by release; chosen in one place.

======================  =========================================================================
releases                way
======================  =========================================================================
0.125.0 and newer       a SessionStart hook in ``-c`` flags, trusted by its hash; it prints the payload's file
0.58.0 to 0.124.x       ``developer_instructions``, the user's own kept in front
older                   none
======================  =========================================================================
"""

from collections.abc import Sequence
from typing import Any

from cam.core.seams import Injection, RuntimeInjector
from cam.formats.codex_hooks import CONTEXT_LIMIT, CONTEXT_LIMIT_SINCE, hook_hash
from cam.formats.toml_value import render_value
from cam.system.codex import Version, version_name
from cam.wrapper.arguments import CodexCall, parse_arguments, with_setting
from cam.wrapper.codex_config import Place, apply_settings, hooks_are_off, installed_hooks, own_instructions

HOOK_SINCE: Version = (0, 125, 0)
INSTRUCTIONS_SINCE: Version = (0, 58, 0)

SWITCHES_SINCE: Version = (0, 145, 0)
"""From here on a flag can switch a single hook off; older releases are told by ``CAM_RUN``."""

CUT_SINCE: Version = (0, 126, 0)
"""From here on Codex cuts longer texts; 0.125 does not, 0.135 does."""

CUT_BYTES = 10_000
"""What a hook may say where the limit cannot be raised."""

RESUME_HEEDS: tuple[Version, Version] = ((0, 87, 0), (0, 105, 0))
"""Releases from the first up to the second, excluded, show new instructions to a resumed session."""

MAX_ARGUMENT_BYTES = 100_000
"""Linux refuses one argument above 128 KiB."""

SESSION_FLAGS = "/<session-flags>/config.toml"
"""Where Codex says that a hook in ``-c`` flags comes from."""


def choose_injector(
    version: Version | None, *, hook_command: str, payload: str, place: Place, prompt_command: str = ""
) -> RuntimeInjector:
    """The one place that decides how the payload travels.

    Args:
        version: the installed release, None if Codex does not say.
        hook_command: a shell line, quoted. It must read its standard input to the end (releases around 0.135
            drop the answer of a hook that does not) and prints the hook's answer.
        payload: what that answer carries at start; the hook is installed for an empty one too, because it
            also answers after clear and compaction.
        prompt_command: the same for a hook that is called with every prompt; "" for none.
        place: where Codex runs.
    """
    if version is None:
        return NoInjector("Codex does not say which release it is; it starts without memory")
    if version >= HOOK_SINCE:
        return SessionFlagHookInjector(hook_command, payload, version, place, prompt_command)
    if version >= INSTRUCTIONS_SINCE:
        return DeveloperInstructionsInjector(payload, version, place)
    return NoInjector(
        f"Codex {version_name(version)} cannot be told anything at start; it starts without memory "
        "(0.58.0 and newer can)"
    )


class NoInjector:
    """Codex starts without memory."""

    strategy = "none"

    def __init__(self, warning: str = "") -> None:
        self._warning = warning

    def inject(self, arguments: Sequence[str]) -> Injection:
        """No arguments; the warning, where there is a session to miss the payload."""
        return Injection("none", warning=self._warning if parse_arguments(arguments).is_session else "")


class DeveloperInstructionsInjector:
    """The payload behind the user's own ``developer_instructions``."""

    strategy = "developer-instructions"

    def __init__(self, payload: str, version: Version, place: Place) -> None:
        self._payload = payload
        self._version = version
        self._place = place

    def inject(self, arguments: Sequence[str]) -> Injection:
        """One ``-c`` flag that takes the place of the user's own of that name."""
        call = parse_arguments(arguments)
        if not call.is_session or not self._payload:
            return Injection("none")
        since, until = RESUME_HEEDS
        if call.action == "resume" and not since <= self._version < until:
            return Injection(
                "none",
                warning=f"Codex {version_name(self._version)} tells a resumed session nothing new; "
                "it goes on with the memory it began with",
            )
        own = own_instructions(call, self._place, self._version)
        text = f"{own}\n\n{self._payload}" if own else self._payload
        flag = f"developer_instructions={render_value(text)}"
        size = len(flag.encode())
        if size > MAX_ARGUMENT_BYTES:
            return Injection(
                "none",
                warning=f"memory is too long for Codex {version_name(self._version)}: {size // 1000} KB "
                f"of at most {MAX_ARGUMENT_BYTES // 1000}; it starts without it; lower max_startup_tokens",
            )
        return _placed(self.strategy, call, "developer_instructions", flag)


class SessionFlagHookInjector:
    """A SessionStart hook that exists for this one command line, behind the user's own hooks."""

    strategy = "session-flag-hook"

    def __init__(
        self, command: str, payload: str, version: Version, place: Place, prompt_command: str = ""
    ) -> None:
        self._command = command
        self._prompt_command = prompt_command
        self._payload = payload
        self._version = version
        self._place = place

    def inject(self, arguments: Sequence[str]) -> Injection:
        """One ``-c`` flag that holds the user's own ``-c hooks…`` and ours.

        Ours is the last group, so the indexes in the user's trust keys stay true.
        """
        call = parse_arguments(arguments)
        if not call.is_session:
            return Injection("none")
        if hooks_are_off(call, self._place):
            return DeveloperInstructionsInjector(self._payload, self._version, self._place).inject(arguments)
        hooks = apply_settings(call, "hooks")
        groups = hooks.setdefault("SessionStart", []) if isinstance(hooks, dict) else None
        at_prompts = hooks.get("UserPromptSubmit", []) if isinstance(hooks, dict) else None
        state = hooks.setdefault("state", {}) if isinstance(hooks, dict) else None
        if not (isinstance(groups, list) and isinstance(at_prompts, list) and isinstance(state, dict)):
            return Injection(
                "none", warning="your -c hooks flags cannot be read; Codex starts without memory"
            )
        handler: dict[str, Any] = {"type": "command", "command": self._command}
        if self._version >= CONTEXT_LIMIT_SINCE:
            handler["additionalContextLimit"] = CONTEXT_LIMIT
        state[f"{SESSION_FLAGS}:session_start:{len(groups)}:0"] = {
            "trusted_hash": hook_hash("session_start", handler)
        }
        groups.append({"hooks": [handler]})
        if self._prompt_command:
            at_prompt = {"type": "command", "command": self._prompt_command}
            state[f"{SESSION_FLAGS}:user_prompt_submit:{len(at_prompts)}:0"] = {
                "trusted_hash": hook_hash("user_prompt_submit", at_prompt)
            }
            hooks["UserPromptSubmit"] = [*at_prompts, {"hooks": [at_prompt]}]
        for key in installed_hooks(
            call, self._place
        ):  # else a session would be told, and learned from, twice
            state[key] = {"enabled": False}
        return _placed(self.strategy, call, "hooks", f"hooks={render_value(hooks)}", self._warning())

    def _warning(self) -> str:
        size = len(self._payload.encode("utf-8", "replace"))
        if CUT_SINCE <= self._version < CONTEXT_LIMIT_SINCE and size > CUT_BYTES:
            return (
                f"Codex {version_name(self._version)} shortens what it is told at start to "
                f"{CUT_BYTES // 1000} KB of these {size // 1000}; lower max_startup_tokens or update Codex"
            )
        return ""


def _placed(strategy: str, call: CodexCall, key: str, setting: str, warning: str = "") -> Injection:
    """``-c setting`` among the user's arguments, in the place of their own flags at or below ``key``."""
    theirs = [option for path, _, option in call.settings if path[0] == key]
    return Injection(strategy, replace=with_setting(call, setting, theirs), warning=warning)
