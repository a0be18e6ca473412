"""Sessions under ``cam`` that do not end as they should."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from codex_releases import CodexSandbox

CAM = str(Path(sys.executable).with_name("cam"))


def killed_wrapper(sandbox: Callable[..., CodexSandbox], prompt: str, answer: str) -> CodexSandbox:
    """``cam exec PROMPT`` on 0.171.0; its wrapper dies while the model thinks; Codex lives on to its end."""
    started: list[bool] = []

    def script(_request: Any) -> str:
        if not started:
            started.append(True)
            os.kill(wrapper.pid, signal.SIGKILL)
        return answer

    box = sandbox("0.171.0", script)
    env = {**box.env, "CAM_CODEX_BINARY": box.codex}
    wrapper = subprocess.Popen(
        [CAM, "exec", prompt], cwd=box.repo, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    assert wrapper.stdout is not None
    with wrapper.stdout:
        wrapper.stdout.read()  # ends when Codex has ended
    assert wrapper.wait() == -signal.SIGKILL
    return box
