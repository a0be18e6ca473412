"""A session's file is read while it grows; whatever happens to it, nothing wrong is taken for read."""

import json
import threading
from pathlib import Path

import pytest

from cam.core.evidence import RolloutEvidence, RolloutMeta
from cam.store.sessions import CodexSessions
from cam.sync.heuristic import HeuristicExtractor
from cam.wrapper.live import LiveReader
from cam.wrapper.ready import get_ready

DATA = Path(__file__).parents[2] / "data" / "rollouts" / "0.171.0" / "package-manager.jsonl"


class Box:
    """A run's folder and a session's file."""

    def __init__(self, root: Path) -> None:
        self.run = root / "run"
        self.run.mkdir()
        self.data = DATA.read_bytes()
        self.session = json.loads(self.data.split(b"\n", 1)[0])["payload"]["id"]
        self.path = root / f"rollout-2026-11-30T10-00-00-{self.session}.jsonl"
        note = {"session": self.session, "transcript": str(self.path), "at": "1"}
        (self.run / f"session-{self.session}.json").write_text(json.dumps(note))
        self.sessions = CodexSessions(str(root))
        self.live = LiveReader(str(self.run))

    def meta(self) -> RolloutMeta:
        found = self.sessions.header(str(self.path))
        assert found is not None
        return found


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path)


def test_what_was_followed_to_its_end_need_not_be_read(box: Box) -> None:
    box.path.write_bytes(box.data[:5000])
    box.live.start()
    with box.path.open("ab") as file:
        file.write(box.data[5000:])
    box.live.finish()
    assert box.live.evidence(box.meta()) == box.sessions.read(box.meta())


def test_a_file_that_was_replaced_is_read_anew(box: Box, tmp_path: Path) -> None:
    box.path.write_bytes(box.data)
    box.live.start()
    box.live.finish()
    other = tmp_path / "other"
    other.write_bytes(box.data)
    other.rename(box.path)
    assert box.live.evidence(box.meta()) is None


@pytest.mark.parametrize("cut", [-1, -40])
def test_a_line_that_is_not_whole_is_read_afterwards(box: Box, cut: int) -> None:
    box.path.write_bytes(box.data[:cut])
    box.live.start()
    box.live.finish()
    assert box.live.evidence(box.meta()) is None


def test_no_file_and_no_session(box: Box) -> None:
    box.live.start()
    box.live.finish()
    box.path.write_bytes(box.data)
    assert box.live.evidence(box.meta()) is None
    (box.run / f"session-{box.session}.json").write_text("{")
    idle = LiveReader(str(box.run))
    idle.finish()
    assert idle.evidence(box.meta()) is None


def test_it_gets_ready_once_the_user_has_said_something(box: Box) -> None:
    """What is looked at half-way changes nothing of what is read in the end, whatever comes of it."""
    told: list[RolloutEvidence] = []
    came = threading.Event()

    def ready(evidence: RolloutEvidence) -> None:
        told.append(evidence)
        came.set()
        raise ValueError("of no matter")

    box.live = LiveReader(str(box.run), ready)
    said = box.data.index(b"pnpm")
    box.path.write_bytes(box.data[: box.data.index(b"\n", said) + 9])
    box.live.start()
    assert came.wait(20)
    with box.path.open("ab") as file:
        file.write(box.data[box.path.stat().st_size :])
    box.live.finish()
    assert len(told) == 1
    assert told[0].user_messages
    assert box.live.evidence(box.meta()) == box.sessions.read(box.meta())


def test_getting_ready_leaves_nothing(box: Box) -> None:
    box.path.write_bytes(box.data)
    evidence = box.sessions.read(box.meta())
    found = HeuristicExtractor().extract(evidence, ())
    get_ready(evidence)
    assert HeuristicExtractor().extract(evidence, ()) == found
