"""Fixtures for tests that run a real Codex."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from codex_releases import CodexSandbox

Sandbox = Callable[..., CodexSandbox]


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    """Makes sandboxes: ``sandbox("0.171.0", ["answer"], top=…, tables=…)``."""
    with ExitStack() as stack:
        made: list[CodexSandbox] = []

        def make(version: str, script: Any = (), **config: str) -> CodexSandbox:
            box = CodexSandbox(tmp_path / str(len(made)), version, script, **config)
            made.append(box)
            return stack.enter_context(box)

        yield make
