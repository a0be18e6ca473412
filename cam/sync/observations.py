"""Commands that ran and succeeded, where they say how a repository is built, tested, linted, run or migrated.

Kept: commands that hold for the whole repository or a part of it. Not kept: look-ups, commits, installs,
heredocs, one-off arguments (a test's name, a single file), commands whose success cannot be known (the exit
code of a pipe is that of its last part), and whatever failed later in the session.
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cam.core.evidence import ToolCall

_MOST = 300  # characters of a command worth keeping


@dataclass(frozen=True, slots=True)
class Observation:
    """A command that is how a thing is done here.

    Attributes:
        command: as a person would type it; secrets and decoration gone.
        kind: ``test``, ``build``, ``lint``, ``format``, ``types``, ``start``, ``migrate`` or ``generate``.
        call: where it ran.
    """

    command: str
    kind: str
    call: ToolCall

    @property
    def summary(self) -> str:
        """One line, such as "`pnpm test` runs the tests"."""
        return f"`{self.command}` {_SAYS[self.kind]}"


_SAYS = {
    "test": "runs the tests",
    "build": "builds the project",
    "lint": "runs the linter",
    "format": "formats the code",
    "types": "checks the types",
    "start": "starts the project",
    "migrate": "runs the migrations",
    "generate": "generates code",
}


def observe(calls: Iterable[ToolCall]) -> tuple[Observation, ...]:
    """Commands worth knowing, in the order in which they last succeeded; one a kind and tool."""
    held: dict[tuple[str, str, str], Observation] = {}
    for call in calls:
        if call.command is None or call.exit_code is None:
            continue
        seen = _read(call)
        if seen is None:
            continue
        key, observation = seen
        if not _succeeded(call):
            # the same command, not merely the same tool: other arguments may well work
            for other in [k for k, o in held.items() if o.command == observation.command]:
                del held[other]
            continue
        before = held.get(key)
        if before is None or len(observation.command) < len(before.command):
            held.pop(key, None)
            held[key] = observation
    return tuple(held.values())


def vanished(call: ToolCall) -> str | None:
    """The command, if it failed because there is no such command, script or target."""
    if call.command is None or not call.exit_code:
        return None
    seen = _read(call)
    if seen is None or not (_MISSING.search(call.output[:4000]) or call.exit_code == 127):
        return None
    return seen[1].command


def signature(command: str) -> tuple[str, str] | None:
    """Kind and tool of a command line, None for one that says nothing about the project."""
    parts = _split(command)
    if parts is None:
        return None
    found = [kind_tool for part in parts for kind_tool in [_kind(part)] if kind_tool is not None]
    return found[0] if len(found) == 1 else None


_MISSING = re.compile(
    r"missing script|no rule to make target|command not found|unknown command|not recognized as|"
    r"no such (?:command|task|file)|could not determine executable|script not found|"
    r"task .{0,40} not found|error: no such subcommand|is not a .{0,20}command",
    re.IGNORECASE,
)
_BAD = re.compile(
    r"\b(?:[1-9]\d* (?:failed|failing|errors?|failures?)|FAILED|FAIL\b|npm ERR!|error(?:\[|:| TS)|Traceback|"
    r"BUILD FAILURE|panicked)"
)
_GOOD = re.compile(
    r"\b(?:\d+ (?:passed|passing|pass|tests?|specs?)|passed|success(?:ful(?:ly)?)?|succeeded|ok\b|PASS\b|"
    r"0 (?:errors|failures|failed)|compiled|built in|done in|finished|no issues|all checks)",
    re.IGNORECASE,
)
_HEREDOC = re.compile(r"<<-?\s*['\"\\]?\w")
_REDIRECT = re.compile(r"\s*(?:[12&]?>>?\s*(?:&\d|/dev/null)|2>&1|</dev/null)")
_ASSIGN = re.compile(r"[A-Za-z_]\w*=")
_SECRET_NAME = re.compile(r"(?i)(?:pass|pwd|secret|token|key|cred|auth|dsn|database_url|_url|uri)")
_MASKED = re.compile(r"\[[^\]]*(?:secret|redacted|masked)[^\]]*\]|\*{3,}", re.IGNORECASE)
_QUIET_PIPE = frozenset(
    {"tail", "head", "tee", "cat", "less", "grep", "rg", "sed", "awk", "wc", "sort", "uniq", "tr", "cut"}
)
_WRAPPERS = frozenset(
    {"time", "nice", "nohup", "command", "env", "stdbuf", "xvfb-run", "caffeinate", "exec", "then"}
)
_RUNNERS = {
    "npx": 1,
    "bunx": 1,
    "pnpx": 1,
    "uvx": 1,
    "dotenvx": 1,
    "uv": 2,
    "poetry": 2,
    "pipenv": 2,
    "pdm": 2,
    "rye": 2,
    "hatch": 2,
    "bundle": 2,
    "pixi": 2,
    "mise": 2,
    "direnv": 2,
    "devbox": 2,
    "nix": 2,
}  # words before the tool itself
_RUN_WORDS = frozenset({"run", "exec", "x", "develop", "tool"})
_JS = frozenset({"npm", "pnpm", "yarn", "bun"})
_SCRIPTY = frozenset(
    {
        "make",
        "just",
        "task",
        "rake",
        "gulp",
        "grunt",
        "nox",
        "tox",
        "invoke",
        "inv",
        "mage",
        "ant",
        "turbo",
        "nx",
        "lerna",
        "moon",
        "composer",
        "deno",
        "lake",
    }
)
_TOOLS = {
    "pytest": "test",
    "jest": "test",
    "vitest": "test",
    "mocha": "test",
    "ava": "test",
    "rspec": "test",
    "phpunit": "test",
    "ctest": "test",
    "pest": "test",
    "nosetests": "test",
    "behave": "test",
    "tox": "test",
    "nox": "test",
    "playwright": "test",
    "cypress": "test",
    "karma": "test",
    "busted": "test",
    "tsc": "build",
    "webpack": "build",
    "rollup": "build",
    "esbuild": "build",
    "vite": "build",
    "next": "build",
    "cmake": "build",
    "ninja": "build",
    "meson": "build",
    "mkdocs": "build",
    "hugo": "build",
    "sphinx-build": "build",
    "tsup": "build",
    "eslint": "lint",
    "ruff": "lint",
    "flake8": "lint",
    "pylint": "lint",
    "golangci-lint": "lint",
    "rubocop": "lint",
    "stylelint": "lint",
    "biome": "lint",
    "shellcheck": "lint",
    "clippy": "lint",
    "oxlint": "lint",
    "credo": "lint",
    "phpstan": "lint",
    "swiftlint": "lint",
    "ktlint": "lint",
    "markdownlint": "lint",
    "pre-commit": "lint",
    "black": "format",
    "prettier": "format",
    "gofmt": "format",
    "rustfmt": "format",
    "isort": "format",
    "dprint": "format",
    "gofumpt": "format",
    "mypy": "types",
    "pyright": "types",
    "basedpyright": "types",
    "vue-tsc": "types",
    "alembic": "migrate",
    "flyway": "migrate",
    "liquibase": "migrate",
    "dbmate": "migrate",
    "goose": "migrate",
    "knex": "migrate",
    "prisma": "migrate",
    "uvicorn": "start",
    "gunicorn": "start",
    "flask": "start",
    "nodemon": "start",
    "docker-compose": "start",
    "air": "start",
    "elm-test": "test",
    "latexmk": "build",
    "tectonic": "build",
    "snakemake": "build",
    "scons": "build",
    "xmake": "build",
    "msbuild": "build",
    "detekt": "lint",
    "hadolint": "lint",
    "yamllint": "lint",
    "ansible-lint": "lint",
    "tflint": "lint",
    "luacheck": "lint",
    "selene": "lint",
    "clang-tidy": "lint",
    "cppcheck": "lint",
    "clang-format": "format",
    "stylua": "format",
    "scalafmt": "format",
    "foreman": "start",
    "overmind": "start",
}
_SUB = {
    "cargo": {
        "test": "test",
        "nextest": "test",
        "build": "build",
        "check": "build",
        "clippy": "lint",
        "fmt": "format",
        "run": "start",
        "sqlx": "generate",
    },
    "go": {
        "test": "test",
        "build": "build",
        "vet": "lint",
        "run": "start",
        "generate": "generate",
        "fmt": "format",
    },
    "dotnet": {"test": "test", "build": "build", "run": "start", "format": "format", "publish": "build"},
    "mix": {
        "test": "test",
        "compile": "build",
        "format": "format",
        "credo": "lint",
        "ecto.migrate": "migrate",
        "phx.server": "start",
    },
    "swift": {"test": "test", "build": "build", "run": "start"},
    "zig": {"build": "build", "test": "test"},
    "flutter": {"test": "test", "build": "build", "run": "start", "analyze": "lint"},
    "dart": {"test": "test", "analyze": "lint", "format": "format"},
    "gradle": {
        "test": "test",
        "build": "build",
        "check": "test",
        "assemble": "build",
        "bootrun": "start",
        "lint": "lint",
    },
    "mvn": {
        "test": "test",
        "verify": "test",
        "package": "build",
        "compile": "build",
        "install": "build",
        "clean": "build",
    },
    "rails": {"test": "test", "db:migrate": "migrate", "server": "start", "s": "start", "spec": "test"},
    "stack": {"build": "build", "test": "test"},
    "cabal": {"build": "build", "test": "test"},
    "sbt": {"test": "test", "compile": "build", "run": "start"},
    "bazel": {"build": "build", "test": "test"},
    "terraform": {"validate": "lint", "fmt": "format"},
    "next": {"build": "build", "dev": "start", "lint": "lint", "start": "start"},
    "vite": {"build": "build", "dev": "start", "preview": "start"},
    "prisma": {"migrate": "migrate", "generate": "generate"},
    "alembic": {"upgrade": "migrate"},
    "flask": {"run": "start", "db": "migrate"},
    "knex": {"migrate:latest": "migrate"},
    "ruff": {"check": "lint", "format": "format"},
    "biome": {"check": "lint", "lint": "lint", "format": "format", "ci": "lint"},
    "compose": {"up": "start", "build": "build"},
    "docker-compose": {"up": "start", "build": "build"},
    "hatch": {"build": "build"},
    "poetry": {"build": "build"},
    "pre-commit": {"run": "lint"},
    "artisan": {"migrate": "migrate", "test": "test", "serve": "start"},
    "manage.py": {"migrate": "migrate", "test": "test", "runserver": "start"},
    "deno": {"test": "test", "lint": "lint", "fmt": "format"},
    "playwright": {"test": "test"},
    "cypress": {"run": "test"},
    "goose": {"up": "migrate"},
    "dbmate": {"up": "migrate", "migrate": "migrate"},
    "flyway": {"migrate": "migrate"},
    "wrangler": {"dev": "start"},
    "xcodebuild": {"test": "test", "build": "build", "archive": "build"},
    "tuist": {"test": "test", "build": "build", "generate": "generate"},
    "idf.py": {"build": "build"},
    "west": {"build": "build", "twister": "test"},
    "pio": {"run": "build", "test": "test"},
    "platformio": {"run": "build", "test": "test"},
    "arduino-cli": {"compile": "build"},
    "meson": {"compile": "build", "test": "test", "setup": "build"},
    "dune": {"build": "build", "test": "test", "runtest": "test", "fmt": "format"},
    "gleam": {"test": "test", "build": "build", "format": "format"},
    "nimble": {"test": "test", "build": "build"},
    "crystal": {"spec": "test", "build": "build"},
    "lein": {"test": "test", "run": "start", "uberjar": "build"},
    "forge": {"test": "test", "build": "build", "fmt": "format"},
    "hardhat": {"test": "test", "compile": "build"},
    "anchor": {"test": "test", "build": "build"},
    "pants": {"test": "test", "lint": "lint", "check": "types", "fmt": "format", "package": "build"},
    "buck2": {"test": "test", "build": "build"},
    "ng": {"test": "test", "build": "build", "serve": "start", "lint": "lint"},
    "nuxt": {"build": "build", "dev": "start"},
    "gatsby": {"build": "build", "develop": "start"},
    "expo": {"start": "start"},
    "maestro": {"test": "test"},
    "quarto": {"render": "build"},
    "jekyll": {"build": "build", "serve": "start"},
    "zola": {"build": "build", "serve": "start"},
    "sam": {"build": "build"},
    "helm": {"lint": "lint"},
    "sqlfluff": {"lint": "lint", "fix": "format"},
    "dbt": {"test": "test", "build": "build", "run": "build"},
    "dvc": {"repro": "build"},
    "astro": {"build": "build", "dev": "start", "check": "types"},
}
_SCRIPT = (
    ("migrate", re.compile(r"migrat")),
    (
        "test",
        re.compile(r"(?:^|[:_.-])(?:tests?|e2e|spec|unit|integration|coverage|verify|check-all)(?:$|[:_.-])"),
    ),
    ("lint", re.compile(r"(?:^|[:_.-])(?:lint|check|eslint|clippy|vet)(?:$|[:_.-])")),
    ("types", re.compile(r"type-?check|(?:^|[:_.-])(?:types|tsc|mypy|typing)(?:$|[:_.-])")),
    ("format", re.compile(r"(?:^|[:_.-])(?:fmt|format|prettier|black)(?:$|[:_.-])")),
    ("build", re.compile(r"(?:^|[:_.-])(?:build|compile|dist|bundle|package|all)(?:$|[:_.-])")),
    ("generate", re.compile(r"(?:^|[:_.-])(?:codegen|generate|gen|proto)(?:$|[:_.-])")),
    ("start", re.compile(r"^(?:start|dev|serve|up|run|server|watch)(?:$|[:_.-])|(?:[:_.-])(?:dev|serve)$")),
)
_ONE_OFF = re.compile(
    r"^(?:-k|-t|-m|-only-testing\S*|-skip-testing\S*|--grep|-g|--testNamePattern|--test-name-pattern|--filter|--tests|-run|--run|--only|--lf|--last-failed|--ff|--sw|--pdb|"
    r"--testPathPattern|--testPathPatterns|--related|--changed|--watch|--spec|--example|-e|--help|--version|-h|-V|--list|--collect-only|--co|--dry-run|"
    r"--fix|--only-changed|--bail|--maxfail)(?:=|$)"
)
_LASTING = {("pio", "-e"), ("platformio", "-e")}
"""Where such a switch names a part of the project."""
_FILE_ARG = re.compile(
    r"\S+\.(?:py|js|jsx|ts|tsx|mjs|cjs|rb|go|rs|java|kt|php|ex|exs|cs|cpp|c|vue|svelte|css|scss|html|md|json|yaml|yml|spec|feature)(?:::\S*|:\d+)?$"
)


def _read(call: ToolCall) -> tuple[tuple[str, str, str], Observation] | None:  # noqa: C901 - one question a part
    """The command cleaned, with the key under which its like are one."""
    command = call.command or ""
    if "\n" in command.strip() or _HEREDOC.search(command) or len(command) > _MOST:
        return None
    parts = _split(command)
    if parts is None:
        return None
    kept: list[str] = []
    main: tuple[str, str] | None = None
    folder = ""
    for part in parts:
        words = _words(part)
        if not words:
            return None
        head = words[0]
        if head in {"cd", "pushd"} and len(words) == 2 and main is None:
            folder = words[1]
            if folder.startswith(("/", "~", "$", "..")):
                folder = ""  # where one person's checkout is
                continue
            kept.append(part)
        elif head in {"source", "."} or head in {"nvm", "conda", "fnm", "export", "set"}:
            if head == "export" and _SECRET_NAME.search(part):
                continue
            if head == "set":
                continue
            kept.append(part)
        elif head in {"echo", "true", ":", "pwd", "date", "sleep", "exit"}:
            continue
        else:
            found = _kind(part)
            if found is None or main not in (None, found):
                return None
            main = found
            kept.append(_clean(part))
    if main is None:
        return None
    text = " && ".join(kept)
    if _MASKED.search(text):
        return None
    kind, tool = main
    return (kind, tool, folder), Observation(text, kind, call)


def _succeeded(call: ToolCall) -> bool:
    if call.exit_code != 0:
        return False
    piped = _pipes(call.command or "")
    if piped:
        # the pipe's exit code says nothing about the command before it
        return _GOOD.search(call.output) is not None and _BAD.search(call.output) is None
    if re.search(r"\|\|\s*(?:true|:|echo)|;\s*(?:true|echo|exit 0)", call.command or ""):
        return _GOOD.search(call.output) is not None and _BAD.search(call.output) is None
    return True


def _pipes(command: str) -> bool:
    return (
        re.search(r"(?<!\|)\|(?!\|)", re.sub(r"'[^']*'|\"[^\"]*\"", "", command)) is not None
        and "pipefail" not in command
    )


def _split(command: str) -> list[str] | None:
    """Commands joined by ``&&`` or ``;``; None where the line is a program of its own."""
    if re.search(r"\$\(|`|\bfor\b.*\bdo\b|\bwhile\b.*\bdo\b|\bif\b.*\bthen\b|<\(", command):
        return None
    bare = command.partition(" # ")[0].strip()
    parts: list[str] = []
    for piece in _cut(bare):
        stages = (
            [s.strip() for s in re.split(r"(?<!\|)\|(?!\|)", piece)]
            if "'" not in piece and '"' not in piece
            else [piece]
        )
        if len(stages) > 1 and not all(s.split()[:1] and s.split()[0] in _QUIET_PIPE for s in stages[1:]):
            return None
        if "||" in stages[0]:
            stages[0] = stages[0].partition("||")[0].strip()
        text = _REDIRECT.sub("", stages[0]).strip().rstrip("&").strip()
        if text:
            parts.append(text)
    return parts or None


def _cut(command: str) -> Iterator[str]:
    depth = ""
    begin = 0
    index = 0
    while index < len(command):
        char = command[index]
        if depth:
            depth = "" if char == depth else depth
        elif char in "'\"":
            depth = char
        elif command.startswith("&&", index) or char == ";":
            yield command[begin:index].strip()
            index += 1 if char == ";" else 2
            begin = index
            continue
        index += 1
    yield command[begin:].strip()


def _words(part: str) -> list[str]:
    try:
        return shlex.split(part, comments=True)
    except ValueError:
        return []


def _bare(words: list[str]) -> list[str]:
    """Without assignments and wrappers before the command."""
    while words:
        head = words[0]
        if _ASSIGN.match(head) or head in _WRAPPERS or head == "sudo":
            words = words[1:]
        elif head in {"timeout", "gtimeout"}:
            words = words[1:]
            while words and (words[0].startswith("-") or re.fullmatch(r"\d+[smh]?", words[0])):
                words = words[1:]
        else:
            break
    return words


def _clean(part: str) -> str:
    """The part as it is to be typed: secrets, time limits and wrappers gone, other assignments kept."""
    words = part.split()
    keep: list[str] = []
    while words:
        head = words[0]
        if _ASSIGN.match(head):
            name, _, value = head.partition("=")
            quoted = value[:1] in "'\"" and value[:1] != value[-1:]
            if not (
                _SECRET_NAME.search(name)
                or _MASKED.search(head)
                or quoted
                or name in {"CI", "PATH", "HOME", "PYTHONPATH", "TERM", "NO_COLOR", "FORCE_COLOR"}
            ):
                keep.append(head)
            words = words[1:]
        elif head in {"time", "nohup", "nice", "command", "caffeinate", "stdbuf"}:
            words = words[1:]
        elif head in {"timeout", "gtimeout"}:
            words = words[1:]
            while words and (words[0].startswith("-") or re.fullmatch(r"\d+[smh]?", words[0])):
                words = words[1:]
        else:
            break
    rest = " ".join(words)
    return " ".join((*keep, rest)) if keep else rest


def _kind(part: str) -> tuple[str, str] | None:  # noqa: C901, PLR0911, PLR0912 - one family of tools after the other
    words = _bare(_words(part))
    if not words or any(_ONE_OFF.match(w) for w in words[1:] if (words[0], w) not in _LASTING):
        return None
    words = _unwrap(words)
    if not words:
        return None
    tool = words[0].rsplit("/", 1)[-1]
    tool = "gradle" if tool == "gradlew" else "mvn" if tool == "mvnw" else tool
    plain = [w for w in words[1:] if not w.startswith("-")]
    if any(
        _FILE_ARG.match(w) or "::" in w
        for w in plain
        if not (tool in {"python", "python3", "node"} or w.endswith(("manage.py", "tsconfig.json")))
    ):
        return None
    if tool in _JS:
        return _script(
            tool,
            [w for w in plain if w not in {"run", "run-script", "-w", "exec"}],
            builtin={"test", "start", "build"},
        )
    if tool in {"python", "python3", "php"}:
        return _interpreted(words[1:], plain)
    if tool in _SCRIPTY:
        targets = [w for w in plain if "=" not in w and w not in {"run", "-s"}]
        if tool == "make" and not targets:
            return ("build", "make")
        if tool in _TOOLS and not targets:
            return (_TOOLS[tool], tool)
        return _script(tool, targets, builtin=set())
    if tool == "docker" and plain[:1] == ["compose"]:
        tool, plain = "compose", plain[1:]
    if tool in _SUB:
        for word in plain:
            kind = _SUB[tool].get(_task(tool, word))
            if kind is not None:
                extra = plain[plain.index(word) + 1 :]
                if (
                    tool in {"cargo", "swift", "zig"}
                    and kind == "test"
                    and word != "nextest"
                    and any(not w.startswith(".") for w in extra if "/" not in w)
                    and "-p" not in words
                ):
                    return None
                if tool in {"compose", "docker-compose"} and extra:
                    return None
                return (kind, f"{tool} {word}")
            if tool not in {"mvn", "gradle"}:
                break
        if tool == "pytest" or tool not in _TOOLS or plain:
            return None
    if tool in _TOOLS:
        kind = "types" if tool == "tsc" and "--noEmit" in words else _TOOLS[tool]
        if kind == "test" and any(
            w not in {"run", "test", "tests", "src", "."} and "/" in w.rstrip("/") for w in plain
        ):
            return None
        return (kind, tool)
    if words[0].startswith(("./", "scripts/", "bin/", "script/")) and tool.split(".")[0]:
        return _script(words[0], [tool.rsplit(".", 1)[0]], builtin=set())
    return None


def _task(tool: str, word: str) -> str:
    """The task a word names: of Gradle's ``:app:testDebugUnitTest`` it is ``test``."""
    name = word.lower().lstrip(":")
    if tool == "gradle":
        last = word.rsplit(":", 1)[-1]
        lower = re.match(r"[a-z]+", last)
        known = ("test", "lint", "check", "assemble")
        return lower.group() if lower and lower.group() in known else last.lower()
    return name


def _unwrap(words: list[str]) -> list[str]:
    """``uv run pytest`` → ``pytest``."""
    for _ in range(3):
        head = words[0]
        skip = _RUNNERS.get(head)
        if skip is None:
            if (
                head in {"pnpm", "yarn", "npm", "bun"}
                and len(words) > 1
                and (words[1] in {"exec", "dlx", "x"} or words[1] in _TOOLS)
            ):
                words = words[2:] if words[1] in {"exec", "dlx", "x"} else words[1:]
                words = words[1:] if words[:1] == ["--"] else words
                if not words:
                    return []
                continue
            break
        if skip == 2 and (len(words) < 2 or words[1] not in _RUN_WORDS):
            break
        words = words[skip:]
        while words and words[0].startswith("-"):
            takes = words[0] in {"--with", "--python", "-p", "--package", "--env-file", "--extra", "--group"}
            words = words[2:] if takes else words[1:]
        if not words:
            return []
    return words


def _script(tool: str, targets: list[str], builtin: set[str]) -> tuple[str, str] | None:
    if not targets or len(targets) > 2:
        return None
    name = targets[0].lower()
    if len(targets) == 2 and not (targets[1] == "." or tool in _SCRIPTY):
        return None
    if name in {
        "install",
        "i",
        "ci",
        "add",
        "remove",
        "update",
        "upgrade",
        "clean",
        "link",
        "publish",
        "version",
        "init",
        "create",
        "dlx",
        "why",
        "outdated",
        "audit",
        "ls",
        "view",
        "deploy",
        "release",
        "push",
    }:
        return None
    for kind, pattern in _SCRIPT:
        if pattern.search(name):
            return (kind, f"{tool} {name}")
    return (name, f"{tool} {name}") if name in builtin else None


def _interpreted(words: list[str], plain: list[str]) -> tuple[str, str] | None:
    if "-c" in words:
        return None
    if "-m" in words:
        at = words.index("-m") + 1
        module = words[at] if at < len(words) else ""
        rest = [w for w in words[at + 1 :] if not w.startswith("-")]
        if module == "unittest":
            return None if rest and rest != ["discover"] else ("test", "unittest")
        if module == "build":
            return ("build", "build")
        if any(_FILE_ARG.match(w) or "::" in w for w in rest) or module not in _TOOLS:
            return None
        return _kind(" ".join([module, *words[at + 1 :]]))
    if plain and plain[0].rsplit("/", 1)[-1] in {"manage.py", "artisan"}:
        tool = plain[0].rsplit("/", 1)[-1]
        kind = _SUB[tool].get(plain[1]) if len(plain) > 1 else None
        return (kind, f"{tool} {plain[1]}") if kind and len(plain) == 2 else None
    return None
