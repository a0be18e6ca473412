"""Commands that say how the work stands: of which kind, on what, and whether they succeeded."""

import re
import shlex
from dataclasses import dataclass

from cam.core.evidence import ToolCall

_WORDS = {
    "test": "test tests pytest jest vitest mocha ava rspec phpunit ctest nextest tox nox unittest karma "
    "cypress playwright e2e spec junit xctest bats minitest check-test integration verify check",
    "types": "mypy pyright tsc typecheck type-check vue-tsc flow pyre",
    "lint": "lint eslint ruff flake8 clippy vet pylint golangci-lint rubocop stylelint biome shellcheck "
    "ktlint detekt phpstan credo swiftlint lints",
    "format": "fmt format prettier black gofmt rustfmt isort",
    "build": "build compile webpack rollup esbuild assemble bundle package dist xcodebuild cmake ninja bazel "
    "gradle gradlew mvn make all vite",
    "migrate": "migrate migration migrations alembic flyway liquibase dbmate upgrade",
    "install": "install ci sync add bootstrap",
    "deploy": "deploy release publish rollout",
    "start": "start serve dev up run",
}
_KINDS = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_RUNNERS = frozenset(
    """npm pnpm yarn bun npx bunx pnpx deno make just task rake cargo go dotnet mix gradle gradlew mvn mvnw
    bazel poetry uv uvx pipenv pdm hatch rye nox tox python python3 node bundle composer php swift
    zig cmake docker docker-compose podman kubectl helm terraform tofu ansible-playbook turbo nx
    lerna invoke inv flutter dart cabal stack lein clj sbt""".split()
)
_PASS = frozenset("run exec x -- -m compose tool --filter -w --workspace -s --silent".split())
_LOOKS = frozenset(
    """ls cat head tail less more grep rg ag ack find fd sed awk wc sort uniq pwd cd echo printf which
    whereis type file stat tree du df env printenv date whoami id uname true false test [ [[ sleep
    ps kill pkill jq yq cut tr xargs nl diff cmp basename dirname realpath readlink touch mkdir rm
    cp mv ln chmod export source . set history clear git gh hub svn hg nproc free top open code vim
    nano curl wget apply_patch tee read man pgrep lsof ss netstat column exit : break trap wait
    md5sum sha256sum strings hexdump xxd od seq yes""".split()
)
_WRAP = frozenset("time nice nohup command env sudo stdbuf xvfb-run exec timeout then do".split())
_ASSIGN = re.compile(r"[A-Za-z_]\w*=")
_NOISE = re.compile(r"\s*(?:[12&]?>>?\s*(?:&\d|/dev/null)|2>&1|<\s*/dev/null)")
_HEREDOC = re.compile(r"<<-?\s*['\"\\]?\w")
_TELLS = re.compile(
    r"\b(?:error|failed|failure|exception|assert\w*|panic\w*|cannot|not found|undefined|refused|denied|"
    r"timed? ?out|missing|unexpected|mismatch\w*|no such)\b",
    re.IGNORECASE,
)
_MOST = 1_000
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Run:
    """One command that ran to its end.

    Attributes:
        command: as a person would type it, on one line; of one beyond 1,000 characters its beginning.
        kind: ``test``, ``build`` … or the program and its first word where it is of no known kind.
        targets: arguments that name what it ran on.
        passed: whether it succeeded.
        at: position in the evidence.
        says: for a failure, the line that tells most.
    """

    command: str
    kind: str
    targets: frozenset[str]
    passed: bool
    at: int
    says: str = ""

    @property
    def shown(self) -> str:
        """The command as an item of the file has room for it."""
        return _cut(self.command, _SHOWN)

    def clears(self, failure: "Run") -> bool:
        """Whether this success means that ``failure`` is over: the same kind, and not on other things."""
        if self.kind != failure.kind:
            return False
        if self.command == failure.command or not self.targets or not failure.targets:
            return True
        return any(_meet(a, b) for a in self.targets for b in failure.targets)


def run_of(call: ToolCall, at: int) -> Run | None:
    """What a call ran; None for look-ups, for what did not end, and for what was interrupted."""
    if (
        call.command is None
        or call.exit_code is None
        or call.exit_code in (130, 137, 143)
        or call.exit_code < 0
    ):
        return None
    if _HEREDOC.search(call.command):
        return None
    best: tuple[str, frozenset[str]] | None = None
    folder: frozenset[str] = frozenset()
    for words in _parts(call.command):
        if words[0] == "cd" and len(words) == 2:
            folder = frozenset({words[1].strip("./")} - {""})
        found = _kind(words)
        if found is not None and (best is None or best[0] in ("install", "start") or best[0] not in _WORDS):
            best = found
    if best is None:
        return None
    command = " ".join(_NOISE.sub("", call.command).split())
    command = _cut(command, _MOST)
    passed = call.exit_code == 0
    return Run(command, best[0], best[1] or folder, passed, at, "" if passed else _telling(call.output))


def kind_words(kind: str) -> frozenset[str]:
    """Words that name a kind of command in speech."""
    return frozenset(_WORDS.get(kind, kind).split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _parts(command: str) -> list[list[str]]:
    """The simple commands of a line; of a pipe its first part."""
    try:
        lexer = shlex.shlex(_NOISE.sub(" ", command), posix=True, punctuation_chars=";&|()")
        lexer.whitespace_split = True
        lexer.commenters = ""
        tokens = list(lexer)
    except ValueError:
        tokens = command.split()
    found: list[list[str]] = [[]]
    piped = False
    for word in tokens:
        if word and set(word) <= set(";&|()"):
            piped = word == "|"
            if not piped:
                found.append([])
        elif not piped:
            found[-1].append(word)
    return [words for words in found if words]


def _kind(words: list[str]) -> tuple[str, frozenset[str]] | None:  # noqa: C901 - one question a word, in order
    while words and (_ASSIGN.match(words[0]) or words[0] in _WRAP or words[0].isdigit()):
        words = words[1:]
    if not words:
        return None
    if words[0] in ("bash", "sh", "zsh") and len(words) > 2 and words[1] in ("-c", "-lc"):
        inner = [k for part in _parts(words[2]) if (k := _kind(part)) is not None]
        return inner[0] if inner else None
    program = words[0].rsplit("/", 1)[-1]
    if program in _LOOKS:
        return None
    rest = words[1:]
    if program in _RUNNERS:
        while rest and (
            rest[0] in _PASS or (rest[0].startswith("-") and program not in ("python", "python3"))
        ):
            rest = rest[1:]
    names = [program, *(w for w in rest[:1] if not w.startswith("-"))]
    if len(names) > 1 and names[1].endswith((".py", ".js", ".ts", ".rb", ".php")):
        names += [w for w in rest[1:2] if w.isalpha()]
    for name in names if program not in _RUNNERS else [*names[1:], *names[:1]]:
        bare = name.rsplit("/", 1)[-1].removesuffix(".sh").removesuffix(".py").lower()
        for word in (bare, *re.split(r"[:_.-]", bare)):
            if word in _KINDS:
                after = rest[1:] if len(names) > 1 and name == names[1] else rest
                return _KINDS[word], _targets(after)
    return " ".join(names), _targets(rest[1:])


def _targets(words: list[str]) -> frozenset[str]:
    """Arguments that name a file, a folder or a test."""
    return frozenset(
        w.lstrip("./") for w in words if not w.startswith("-") and ("/" in w or "." in w) and w.strip("./")
    )


def _meet(one: str, other: str) -> bool:
    one, other = one.partition("::")[0].rstrip("/"), other.partition("::")[0].rstrip("/")
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _telling(output: str) -> str:
    """The last line of a failure's output that names an error."""
    lines = [" ".join(line.split()) for line in output.split("\n")[-60:]]
    telling = [line for line in lines if 4 < len(line) <= 300 and _TELLS.search(line)]
    return telling[-1][:100] if telling else ""
