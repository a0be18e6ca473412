"""Every setting, declared once with its documentation, default, check and who may set it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        name: key in settings files.
        default: its value where nobody set it.
        check: turns a raw value into the value, or raises ValueError saying what is allowed.
        help: one line for people.
        shared: whether the repository's shared file may set it; never for paths, binaries or anything
            that runs or moves data.
        legacy: the predecessor's key.
    """

    name: str
    default: Any
    check: Callable[[Any], Any]
    help: str
    shared: bool = False
    legacy: str = ""

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return "CAM_HOME" if self.name == "memory_dir" else f"CAM_{self.name.upper()}"


def _whole(low: int, high: int) -> Callable[[Any], int]:
    def check(value: object) -> int:
        if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return check


def _one_of(*words: str) -> Callable[[Any], str]:
    def check(value: object) -> str:
        if value not in words:
            raise ValueError(f"one of {', '.join(words)}")
        return str(value)

    return check


def _switch(value: object) -> bool:
    words = {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    }
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _path(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError("a path")
    if not value.startswith(("/", "~")):
        raise ValueError("an absolute path, or one that begins with ~")
    return value


def _program(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError("a program's name or path")
    return value


def _paths(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [part for part in value.split(":") if part]
    if not isinstance(value, (list, tuple)):
        raise ValueError("a list of paths")
    return tuple(_path(item) for item in value)


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "enabled",
        default=True,
        check=_switch,
        help="whether cam does anything in a session at all",
        shared=True,
        legacy="autoMemoryEnabled",
    ),
    Setting(
        "memory_dir",
        default="~/.codex-auto-memory",
        check=_path,
        help="folder of the store",
        legacy="autoMemoryDirectory",
    ),
    Setting(
        "codex_binary",
        default="codex",
        check=_program,
        help="the Codex that is started",
        legacy="codexBinary",
    ),
    Setting(
        "default_scope",
        default="project",
        check=_one_of("project", "project-local", "global"),
        help="scope of 'cam remember' without --scope",
        shared=True,
        legacy="defaultScope",
    ),
    Setting(
        "max_startup_lines",
        default=200,
        check=_whole(1, 400),
        help="lines that Codex is told at start, at most",
        shared=True,
        legacy="maxStartupLines",
    ),
    Setting(
        "max_startup_tokens",
        default=2000,
        check=_whole(50, 20000),
        help="tokens that Codex is told at start, at most",
        shared=True,
    ),
    Setting(
        "session_continuity",
        default="auto",
        check=_one_of("auto", "manual", "off"),
        help="where the last session stopped: saved and told by itself, by hand (cam session), or not at all",
        shared=True,
    ),
    Setting(
        "max_session_continuity_lines",
        default=60,
        check=_whole(1, 200),
        help="lines of it that Codex is told at start, at most; they count in the other budgets too",
        shared=True,
        legacy="maxSessionContinuityLines",
    ),
    Setting(
        "session_continuity_path_style",
        default="codex",
        check=_one_of("codex", "claude"),
        help="where the worktree's part lives: .codex-auto-memory/sessions or .claude/sessions",
        shared=True,
        legacy="sessionContinuityLocalPathStyle",
    ),
    Setting(
        "prompt_recall",
        default=False,
        check=_switch,
        help="whether each prompt adds the few records that are about it (Codex 0.125 and newer)",
    ),
    Setting(
        "extractor",
        default="heuristic",
        check=_one_of("heuristic", "codex"),
        help="what decides which words are durable; codex asks your own Codex, at your own quota's cost",
    ),
    Setting(
        "extractor_seconds",
        default=120,
        check=_whole(1, 1800),
        help="seconds that Codex may take for one session when it is the extractor",
    ),
    Setting(
        "health_sync_days",
        default=7,
        check=_whole(1, 365),
        help="days after which 'cam doctor health' misses a session that was read",
    ),
    Setting(
        "health_recall_hours",
        default=168,
        check=_whole(1, 8760),
        help="hours after which it misses a search",
    ),
    Setting(
        "health_waiting",
        default=10,
        check=_whole(0, 10_000),
        help="suggestions that may wait for you before it says so",
    ),
    Setting(
        "health_log_mb",
        default=256,
        check=_whole(1, 100_000),
        help="megabytes that history and logs may have before it says so",
    ),
    Setting(
        "recall_index",
        default="auto",
        check=_one_of("auto", "off"),
        help="whether recall keeps an index beside the memory; off reads the files each time",
        shared=True,
    ),
    Setting(
        "off_folders",
        default=(),
        check=_paths,
        help="folders in which cam does nothing, those below them included",
    ),
)

BY_NAME: Mapping[str, Setting] = {s.name: s for s in SETTINGS}
BY_LEGACY: Mapping[str, Setting] = {s.legacy: s for s in SETTINGS if s.legacy}


@dataclass(frozen=True, slots=True)
class Settings:
    """Values, and where each came from.

    Attributes:
        values: by name, all of them.
        sources: by name: ``default``, a file with line, an environment variable or a flag.
        warnings: one line per value that was not taken, with file and line.
    """

    values: Mapping[str, Any]
    sources: Mapping[str, str]
    warnings: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Any:
        """The value of a setting."""
        return self.values[name]

    @property
    def keeps_index(self) -> bool:
        """Whether recall uses and keeps its index."""
        return bool(self.values["recall_index"] == "auto")


@dataclass(frozen=True, slots=True)
class Layer:
    """One place that sets values.

    Attributes:
        name: ``user``, ``project``, ``local``, ``environment`` or ``flag``.
        values: raw, by key as written.
        places: where each key stands (``path:line`` or a variable).
        warning: why the whole layer does not count, "" if it does.
    """

    name: str
    values: Mapping[str, Any]
    places: Mapping[str, str]
    warning: str = ""


def merge_settings(layers: tuple[Layer, ...]) -> Settings:
    """Settings from layers, the later the stronger; a bad value is a warning and what held before holds."""
    values: dict[str, Any] = {s.name: s.default for s in SETTINGS}
    sources = dict.fromkeys(values, "default")
    warnings: list[str] = []
    for layer in layers:
        if layer.warning:
            warnings.append(layer.warning)
        for key, raw in layer.values.items():
            place = layer.places.get(key, layer.name)
            setting = BY_NAME.get(key) or BY_LEGACY.get(key)
            if setting is None:
                if key not in _RETIRED:
                    warnings.append(f"{place}: there is no setting {key!r}; 'cam config list' names them all")
                continue
            if layer.name == "project" and not setting.shared:
                warnings.append(
                    f"{place}: {setting.name} may not be set by a file that the repository shares; "
                    "set it in your own settings (cam config set)"
                )
                continue
            try:
                values[setting.name] = setting.check(raw)
            except ValueError as error:
                warnings.append(
                    f"{place}: {setting.name} must be {error}; {_shown(values[setting.name])} holds"
                )
            else:
                sources[setting.name] = place
    return Settings(values, sources, tuple(warnings))


def _shown(value: Any) -> str:
    """A value as a person would write it."""
    if isinstance(value, bool):
        return str(value).lower()
    return (", ".join(value) or "none") if isinstance(value, tuple) else str(value)


# The predecessor's keys that have no counterpart: read past without a word.
_RETIRED = frozenset(
    "extractorMode sessionContinuityAutoLoad sessionContinuityAutoSave dreamSidecarEnabled "
    "dreamSidecarAutoBuild".split()
)
