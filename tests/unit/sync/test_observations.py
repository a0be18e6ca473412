"""Commands that ran and succeeded."""

import pytest

from cam.sync.observations import observe, signature, vanished
from tests.unit.sync.conftest import call


def learned(*calls: object) -> list[str]:
    return [o.command for o in observe(calls)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "command",
    [
        "pnpm test",
        "cargo build --release",
        "uv run pytest -q",
        "cd backend && source .venv/bin/activate && pytest -q",
        "make lint",
        "npm run db:migrate",
        "python manage.py migrate",
        "go test ./...",
        "./gradlew build",
        "bundle exec rspec",
        "npx tsc --noEmit",
        "alembic upgrade head",
        "NODE_ENV=test npm test",
    ],
)
def test_how_a_repository_is_handled_is_learned(command: str) -> None:
    assert learned(call(command)) == [command]


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn npm docs | head",
        "git commit -m 'make build green'",
        "npm install left-pad@1.3.0",
        "pip install requests",
        "pytest tests/test_cart.py::test_total",
        "pnpm vitest run test/cart.test.ts -t 'rounds half up'",
        "cargo test rounding",
        "python3 - <<'PY'\nimport pytest\nPY",
        "python -c 'import pytest'",
        "echo make test",
        "true # cargo build --workspace",
        "cat Makefile",
        "for f in *; do make test; done",
        "make test || true",
        "npm publish",
        "ls",
    ],
)
def test_look_ups_and_one_offs_are_not(command: str) -> None:
    assert learned(call(command, output="")) == []


def test_secrets_and_time_limits_are_cut() -> None:
    assert learned(call("PGPASSWORD=x timeout 60 make migrate")) == ["make migrate"]


def test_a_pipe_hides_the_exit_code() -> None:
    assert learned(call("npm test 2>&1 | tail -5", output="3 failed, 2 passed")) == []
    assert learned(call("npm test 2>&1 | tail -5", output="Tests: 5 passed")) == ["npm test"]


def test_what_failed_is_not_learned_and_a_later_failure_is_noticed() -> None:
    assert learned(call("npm test", 1, "missing script: test"), call("npm run test:unit")) == [
        "npm run test:unit"
    ]
    assert learned(call("make test"), call("make test", 2)) == []
    assert learned(call("make test", None)) == []


def test_variants_of_one_command_are_one() -> None:
    assert learned(call("pytest -x -q"), call("pytest -q")) == ["pytest -q"]


def test_signature_and_vanished() -> None:
    assert signature("uv run pytest -q") == ("test", "pytest")
    assert signature("ls -la") is None
    assert vanished(call("make test", 2, "make: *** No rule to make target 'test'")) == "make test"
    assert vanished(call("make test", 2, "1 failed")) is None
