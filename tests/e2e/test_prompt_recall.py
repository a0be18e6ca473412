"""``prompt_recall: true``: a prompt brings the few records that are about it, once; none is learned anew."""

from typing import Any

import pytest
from test_main_loop import cam, listed

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

HERON = "The staging cluster is called heron and lives in Oslo"


@pytest.mark.parametrize("version", ["0.125.0", "0.135.0", "0.171.0"])
def test_a_prompt_brings_what_it_is_about_once(sandbox: Any, version: str) -> None:
    box = sandbox(version)
    on = {"CAM_PROMPT_RECALL": "true", "CAM_MAX_STARTUP_TOKENS": "140"}
    cam(box, "remember", HERON)
    for n in range(8):
        cam(box, "remember", f"Widget number {n} is painted in colour {n} by team {n}")
    known = listed(box)
    cam(box, "exec", "hello there", env=on)
    assert sum(box.shown("heron")) == 0, "it is not among what the budget holds"
    session = box.session_id()
    done = cam(box, "exec", "resume", session, "-", text_in="In which city is the staging cluster?", env=on)
    assert box.shown("heron and lives")[-1] == 1
    assert "(project:active:" in "".join(box.server.model_input_texts())
    cam(box, "exec", "resume", session, "-", text_in="And the staging cluster again?", env=on)
    assert box.shown("heron and lives")[-1] == 1
    assert done.returncode == 0
    assert listed(box) == known, "what was added is nobody's words"


def test_off_by_default(sandbox: Any) -> None:
    box = sandbox("0.171.0")
    cam(box, "remember", HERON)
    cam(box, "exec", "In which city is the staging cluster?")
    assert "perhaps about this prompt" not in "".join(box.server.model_input_texts())
