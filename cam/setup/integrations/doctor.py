"""cam integrations doctor: is each piece there, does the installed Codex take it, and did it ever work?

Nothing of the user's is written. What Codex makes of its files is asked of Codex itself (its app server), and
what the MCP server answers of that server, where its entry is the one that cam makes: no other is started.
"""

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from cam.core.display import counted
from cam.core.errors import CamError
from cam.formats.asset import AssetState, asset_state
from cam.formats.codex_hooks import OurHook, our_hooks
from cam.formats.codex_toml import parse_toml, value_at
from cam.formats.managed_block import find_block
from cam.setup.doctor import Finding, Severity
from cam.setup.integrations.assets import BRIDGE_FILES, asset_text
from cam.setup.integrations.pieces import GUIDANCE, SERVER, handler, server
from cam.setup.integrations.places import SKILL, find_places
from cam.setup.integrations.result import SURFACES, Piece, Places
from cam.setup.integrations.trust import is_trusted, listed_hooks
from cam.store.hook_notes import fired
from cam.store.identity import Project
from cam.store.layout import StoreLayout
from cam.store.receipts import read_receipts
from cam.store.sessions import CodexSessions
from cam.system.codex import Version
from cam.system.environment import Environment
from cam.system.files import read_bytes
from cam.system.json_rpc import ask_app_server, ask_mcp_server

AGENTS_BYTES = 32_768
"""What Codex reads of instruction files."""

_SETTLED = 60.0  # a session that began with the installation need not have met the hooks


@dataclass(frozen=True, slots=True)
class Machine:
    """What is asked about.

    Attributes:
        environment: of this process.
        project: None in ``$HOME`` and ``/``.
        layout: the store.
        program: Codex's path, "" where there is none.
        version: its release.
        prompts: whether each prompt is to add what is about it (``prompt_recall``).
        asks: whether Codex and the MCP server are started and asked; files alone are read else.
    """

    environment: Environment
    project: Project | None
    layout: StoreLayout
    program: str
    version: Version | None
    prompts: bool = False
    asks: bool = True


@dataclass(frozen=True, slots=True)
class Codex:
    """What Codex itself says; None where this release does not say it.

    Attributes:
        hooks: its hooks by key.
        skills: names of the skills it lists.
        settings: its configuration as it holds here.
    """

    hooks: Mapping[str, Mapping[str, Any]] | None = None
    skills: frozenset[str] | None = None
    settings: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """What was found.

    Attributes:
        findings: one or more per piece.
        route: the way that works now: ``hooks``, ``mcp``, ``bridge`` or ``wrapper``.
        stale: pieces that ``--fix`` renews, with their scope and skill surface.
        installed: whether anything is.
    """

    findings: tuple[Finding, ...]
    route: str
    stale: tuple[tuple[Piece, str, str], ...] = ()
    installed: bool = False


@dataclass(slots=True)
class _Check:
    machine: Machine
    codex: Codex
    findings: list[Finding] = field(default_factory=list)
    stale: list[tuple[Piece, str, str]] = field(default_factory=list)
    works: set[str] = field(default_factory=set)
    there: set[Piece] = field(default_factory=set)

    def say(self, check: str, severity: Severity, text: str, advice: str = "") -> None:
        self.findings.append(Finding(check, severity, text, advice))

    def warn(self, check: str, text: str, advice: str) -> None:
        self.say(check, Severity.WARNING, text, advice)


def check_integrations(machine: Machine) -> Health:
    """All pieces, in both scopes."""
    places = _places(machine)
    check = _begin(machine, places)
    _all_hooks(check, places)
    for place in places:
        _server(check, place)
    _skill(check)
    for place in places:
        _guidance(check, place)
    _bridge(check, places[0])
    _program(check)
    _native(check)
    route = next((way for way in ("hooks", "mcp", "bridge") if way in check.works), "wrapper")
    _route(check, route)
    return Health(tuple(check.findings), route, tuple(check.stale), bool(check.there))


def check_hooks(machine: Machine) -> tuple[Finding, ...]:
    """The hooks alone."""
    places = _places(machine)
    check = _begin(machine, places)
    _all_hooks(check, places)
    if Piece.HOOKS not in check.there:
        check.say("hooks", Severity.OK, "not installed", "cam hooks install")
    return tuple(check.findings)


def check_server(machine: Machine) -> tuple[Finding, ...]:
    """The MCP server alone."""
    places = _places(machine)
    check = _begin(machine, places)
    for place in places:
        _server(check, place)
    if Piece.MCP not in check.there:
        check.say("mcp", Severity.OK, "not installed", "cam mcp install --host codex")
    return tuple(check.findings)


def _places(machine: Machine) -> list[Places]:
    scopes = ("user",) if machine.project is None else ("project", "user")
    environment, project, store = machine.environment, machine.project, machine.layout.root
    return [
        find_places(environment, project, store, scope, "runtime", prompts=machine.prompts)
        for scope in scopes
    ]


def _begin(machine: Machine, places: Sequence[Places]) -> _Check:
    """Codex is asked only where something of cam's may be there."""
    asked = any(_mentions_cam(p) for place in places for p in (place.hooks, place.config, place.skill))
    return _Check(machine, _ask(machine) if asked and machine.asks and machine.program else Codex())


def _mentions_cam(path: str) -> bool:
    try:
        data = read_bytes(os.path.realpath(path)) or b""
    except CamError:
        return True  # Codex may have its own word about it
    return SERVER[-1].encode() in data or (b"cam" in data and b" hook " in data) or SKILL.encode() in data


def _all_hooks(check: _Check, places: Sequence[Places]) -> None:
    for place in places:
        _hooks(check, place)
    _twice(check, places)


def _ask(machine: Machine) -> Codex:
    here = machine.environment.cwd
    hooks, skills, settings = ask_app_server(
        machine.program,
        [("hooks/list", {"cwds": [here]}), ("skills/list", {"cwds": [here]}), ("config/read", {"cwd": here})],
        here,
    )
    names = None
    if isinstance(value_at({"r": skills}, ("r", "data")), list):
        names = frozenset(
            str(s.get("name"))
            for entry in skills["data"]
            for s in entry.get("skills", [])
            if s.get("enabled", True)
        )
    config = value_at({"r": settings}, ("r", "config"))
    return Codex(listed_hooks(hooks), names, config if isinstance(config, dict) else None)


def _hooks(check: _Check, places: Places) -> None:
    text = _text(check, "hooks", places.hooks)
    if text is None:
        return
    try:
        found = our_hooks(text, places.hooks)
    except ValueError as error:
        check.warn("hooks", str(error), "mend the file; Codex cannot read it either")
        return
    if not found:
        return
    check.there.add(Piece.HOOKS)
    missing = [e for e in places.events if e not in {h.event for h in found}]
    other = [h for h in found if h.handler != handler(h.event, places)]
    if missing or any(h.is_alone for h in other):
        what = f"{', '.join(missing) or ', '.join(h.event for h in other)} of an older cam in {places.hooks}"
        check.warn(
            "hooks", what, f"cam hooks install --scope {places.scope}, or cam integrations doctor --fix"
        )
        check.stale.append((Piece.HOOKS, places.scope, "runtime"))
    if _trust(check, places, found):
        _fired(check, places)


def _trust(check: _Check, places: Places, found: Sequence[OurHook]) -> bool:
    """Whether Codex would run them."""
    listed, path = check.codex.hooks, os.path.realpath(places.hooks)
    if not check.machine.program:
        events = ", ".join(hook.event for hook in found)
        check.warn("hooks", f"{events} in {places.hooks}; there is no Codex to ask about them", "cam doctor")
        return False
    if listed is None:
        version = check.machine.version
        if version is not None and version < (0, 125, 0):
            check.warn("hooks", "this Codex knows no hooks", "update Codex, or start it with cam run")
            return False
        return True  # up to 0.129 it runs them without trust
    mine = [listed.get(hook.key(path)) for hook in found]
    if all(h is None for h in mine):
        why = (
            "hooks are switched off"
            if places.scope == "user"
            else "the project is not trusted, or hooks are off"
        )
        advice = (
            "start codex here once and trust the folder"
            if places.scope == "project"
            else "codex features list"
        )
        check.warn("hooks", f"Codex does not load {places.hooks}: {why}", advice)
        return False
    unknown = {hook.event for hook, h in zip(found, mine, strict=True) if h is None}
    doubtful = sorted(
        f"{hook.event} ({h.get('trustStatus')})"
        for hook, h in zip(found, mine, strict=True)
        if h is not None and not is_trusted(h)
    )
    if doubtful:
        check.warn(
            "hooks",
            f"Codex skips {', '.join(doubtful)} of {places.hooks} in silence",
            f"look at them with /hooks in Codex, or: cam hooks install --scope {places.scope} --trust",
        )
        return False
    text = f"trusted by Codex: {', '.join(h.event for h in found if h.event not in unknown)} ({places.hooks})"
    check.say("hooks", Severity.OK, text)
    return True


def _fired(check: _Check, places: Places) -> None:
    """Whether they ever fired here, by what they leave behind."""
    check.works.add("hooks")
    machine = check.machine
    seen = fired(machine.layout.cache_file(), machine.layout.project or "")
    if seen:
        last = max(seen, key=lambda event: seen[event])
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(seen[last]))
        check.say("hooks", Severity.OK, f"last fired in this project: {last}, {when}")
        return
    since = os.stat(places.hooks).st_mtime + _SETTLED
    missed = _sessions_since(machine, since)
    if missed:
        check.works.discard("hooks")
        check.warn(
            "hooks",
            f"installed, but none fired in {counted(missed, 'session')} since",
            "Codex 0.131 to 0.137 run no hooks from files: update it, or start it with cam run",
        )
    else:
        check.say("hooks", Severity.OK, "no session in this project since they were installed")


def _sessions_since(machine: Machine, since: float) -> int:
    """How many sessions of a person's began here since then; in wrapped ones installed hooks are silent."""
    if machine.project is None:
        return 0
    root, count = machine.project.root, 0
    began = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(since))
    try:
        wrapped = {receipt.session for receipt in read_receipts(machine.layout)}
        for meta in CodexSessions(
            machine.environment.codex_home, machine.layout.cache_file("sessions.json")
        ).sessions():
            inside = meta.cwd is not None and f"{os.path.realpath(meta.cwd)}/".startswith(f"{root}/")
            count += inside and meta.is_primary and meta.started_at > began and meta.session not in wrapped
    except (CamError, OSError):
        return 0
    return count


def _twice(check: _Check, places: Sequence[Places]) -> None:
    held = [p.scope for p in places if Piece.HOOKS in check.there and _has_hooks(p)]
    if len(held) > 1:
        check.warn(
            "hooks",
            "installed for the user and in this project; a session is told once, but each event costs twice",
            "cam hooks remove --scope project",
        )


def _has_hooks(places: Places) -> bool:
    try:
        return bool(our_hooks((read_bytes(os.path.realpath(places.hooks)) or b"{}").decode(), places.hooks))
    except (CamError, ValueError):
        return False


def _server(check: _Check, places: Places) -> None:
    text = _text(check, "mcp", places.config)
    if text is None:
        return
    try:
        entry = value_at(parse_toml(text, places.config), SERVER)
    except ValueError as error:
        check.warn("mcp", str(error), "mend the file; Codex cannot read it either")
        return
    if not isinstance(entry, dict):
        return
    check.there.add(Piece.MCP)
    arguments = entry.get("args")
    words = [entry.get("command"), *(arguments if isinstance(arguments, list) else [])]
    if "--allow-write" in words:
        check.warn(
            "mcp",
            f"{places.config} lets agents write (--allow-write)",
            "take it out unless you want just that",
        )
    if "cwd" in entry or "--cwd" in words:
        text = f"{places.config} binds every call to one folder"
        check.warn("mcp", text, f"cam mcp install --scope {places.scope}, or cam integrations doctor --fix")
        if "cwd" in entry:
            check.stale.append((Piece.MCP, places.scope, "runtime"))
    settings = check.codex.settings
    if settings is not None and value_at(settings, SERVER) is None:
        advice = "start codex here once and trust the folder"
        check.warn("mcp", f"Codex does not load {places.config}: the project is not trusted", advice)
        return
    made = server(places)
    own = [made["command"], *made["args"]]
    if words != own:  # a repository can name any program: what is not cam's own is not started
        advice = f"take it out and run: cam mcp install --scope {places.scope}, unless you want just that"
        check.warn("mcp", f"the entry of {places.config} was changed by hand; it was not tried", advice)
        return
    _answers(check, own, places)


def _answers(check: _Check, words: Sequence[str], places: Places) -> None:
    if find_spec("mcp") is None:
        check.warn("mcp", "the server needs an extra", "pip install 'codex-auto-memory[mcp]'")
        return
    program = shutil.which(words[0], path=check.machine.environment.variables.get("PATH", os.defpath))
    if program is None:
        advice = "put cam on PATH, or: cam mcp install --scope user"
        check.say("mcp", Severity.CRITICAL, f"{places.config}: there is no program {words[0]!r}", advice)
        return
    if not check.machine.asks:
        check.works.add("mcp")
        check.say("mcp", Severity.OK, f"in {places.config}; it was not tried")
        return
    (tools,) = ask_mcp_server([program, *words[1:]], [("tools/list", {})], check.machine.environment.cwd)
    names = [str(t.get("name")) for t in (tools or {}).get("tools", [])] if isinstance(tools, dict) else []
    if not names:
        advice = f"run it and look: {' '.join(words)}"
        check.say("mcp", Severity.CRITICAL, f"the server of {places.config} does not answer", advice)
        return
    check.works.add("mcp")
    project = check.machine.project
    where = (
        f"calls from here are about {project.id}" if project else "calls from here see global memory alone"
    )
    check.say("mcp", Severity.OK, f"answers with {', '.join(names)}; {where}")


def _skill(check: _Check) -> None:
    machine = check.machine
    for surface in SURFACES:
        if surface == "official-project" and machine.project is None:
            continue
        places = find_places(machine.environment, machine.project, machine.layout.root, "user", surface)
        state = _state(places.skill, asset_text("skill", places.skill_words))
        if state is AssetState.MISSING:
            continue
        check.there.add(Piece.SKILL)
        if state is AssetState.OLDER:
            check.warn(
                "skill", f"{places.skill} is of an older cam", f"cam skills install --surface {surface}"
            )
            check.stale.append((Piece.SKILL, places.scope, surface))
        elif state is not AssetState.CURRENT:
            check.say("skill", Severity.OK, f"{places.skill} was changed by hand; cam leaves it as it is")
        elif check.codex.skills is not None and SKILL not in check.codex.skills:
            check.warn("skill", f"Codex does not list {places.skill}", "codex, then /skills")
        else:
            listed = "" if check.codex.skills is None else "listed by Codex: "
            check.say("skill", Severity.OK, f"{listed}{places.skill}")


def _guidance(check: _Check, places: Places) -> None:
    text = _text(check, "agents", places.guidance)
    if text is None:
        return
    try:
        found = find_block(text, GUIDANCE, places.guidance)
    except ValueError as error:
        check.warn("agents", str(error), "mend the markers")
        return
    if found is None:
        return
    check.there.add(Piece.GUIDANCE)
    state = asset_state(found.body, asset_text("guidance", places.words))
    override = os.path.join(os.path.dirname(places.guidance), "AGENTS.override.md")
    if state is AssetState.OLDER:
        advice = f"cam mcp apply-guidance --host codex --scope {places.scope}"
        check.warn("agents", f"the block in {places.guidance} is of an older cam", advice)
        check.stale.append((Piece.GUIDANCE, places.scope, "runtime"))
    elif os.path.isfile(override) and os.path.getsize(override):
        check.warn(
            "agents", f"Codex reads {override} instead of {places.guidance}", "put the block there by hand"
        )
    elif len(text.encode()) > AGENTS_BYTES:
        what = f"{places.guidance} has more than the {AGENTS_BYTES} bytes that Codex reads"
        check.warn("agents", what, "shorten it, or move the block to its top")
    else:
        what = "current" if state is AssetState.CURRENT else "changed by hand"
        check.say("agents", Severity.OK, f"guidance in {places.guidance}: {what}")


def _bridge(check: _Check, places: Places) -> None:
    states = [
        _state(os.path.join(places.bridge, n), asset_text(n, places.bridge_words)) for n in BRIDGE_FILES
    ]
    if AssetState.MISSING in states:
        return
    check.there.add(Piece.BRIDGE)
    check.works.add("bridge")
    check.say("bridge", Severity.OK, f"in {places.bridge}")


def _program(check: _Check) -> None:
    """Files that are shared call ``cam`` by its name: it must be this one."""
    if not check.there:
        return
    found = shutil.which("cam", path=check.machine.environment.variables.get("PATH", os.defpath))
    own = find_places(check.machine.environment, None, "", "user", "runtime").words[0]
    if found is None:
        check.warn(
            "program", "cam is not on PATH; what is installed in a project calls it by name", "put it on PATH"
        )
    elif os.path.basename(own) == "cam" and os.path.realpath(found) != os.path.realpath(own):
        check.warn("program", f"cam on PATH is {found}, this one is {own}", "remove one, or change PATH")
    else:
        check.say("program", Severity.OK, f"cam on PATH is this one ({found})")


def _native(check: _Check) -> None:
    settings = check.codex.settings
    if settings is not None and value_at(settings, ("features", "memories")) is True:
        check.say(
            "native",
            Severity.OK,
            "Codex's own memories are on too: the model sees both; what both say alike is told once",
        )


def _route(check: _Check, route: str) -> None:
    if not check.there:
        text = "nothing installed: plain codex has no memory, cam run has"
        check.say("route", Severity.OK, text, "cam integrations install --host codex --scope user --trust")
        return
    text = {
        "hooks": "plain codex is told what is known at start and learned from afterwards",
        "mcp": "plain codex can search memory, but is told nothing at start",
        "bridge": "memory can be asked through the shell alone",
        "wrapper": "neither hooks nor mcp work here; cam run does",
    }[route]
    best = route == "hooks" and "mcp" in check.works
    severity = Severity.OK if route == "hooks" else Severity.WARNING
    is_whole = {Piece.HOOKS, Piece.MCP} <= check.there
    advice = "mend what is named above" if is_whole else "recommended: hooks and mcp together"
    check.say("route", severity, f"{route}: {text}", "" if best else advice)


def _text(check: _Check, name: str, path: str) -> str | None:
    try:
        data = read_bytes(os.path.realpath(path))
        return None if data is None else data.decode("utf-8")
    except (CamError, ValueError) as error:
        check.warn(name, f"{path}: {error}", "mend the file")
        return None


def _state(path: str, wanted: str) -> AssetState:
    try:
        data = read_bytes(os.path.realpath(path))
    except CamError:
        return AssetState.FOREIGN
    return asset_state(None if data is None else data.decode("utf-8", "replace"), wanted)
