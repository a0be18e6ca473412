"""The sessions of a Codex home, each read once."""

import json
import os
import shutil

import pytest
import zstandard

from cam.core.evidence import Message, Provenance, RolloutEvidence
from cam.core.seams import SessionSource
from cam.store.sessions import CodexSessions

DATA = os.path.join(os.path.dirname(__file__), "..", "..", "data", "rollouts")


def place(home, source, day="2026/11/30", number=0, edit=None):
    """A captured session in the home, under the name that Codex would give it; returns its path and id."""
    with open(os.path.join(DATA, source), encoding="utf-8") as file:
        text = file.read()
    if edit is not None:
        text = edit(text)
    first = json.loads(text.split("\n", 1)[0])
    session = (first.get("payload") or first)["id"]
    folder = os.path.join(home, "sessions", day)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"rollout-2026-11-30T10-{number:02d}-00-{session}.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path, session


def typed(evidence: RolloutEvidence):
    return [(m.ordinal, m.text) for m in evidence.user_messages]


def test_sessions_come_oldest_first_each_once(tmp_path):
    home = str(tmp_path)
    source: SessionSource = CodexSessions(home)
    late, _ = place(home, "0.148.0/correction.jsonl", number=1)
    early, _ = place(home, "0.36.0/correction.jsonl", number=2)
    os.makedirs(f"{home}/archived_sessions")
    shutil.copy(late, f"{home}/archived_sessions/{os.path.basename(late)}")
    open(
        f"{home}/sessions/rollout-2026-11-30T11-00-00-00000000-0000-0000-0000-000000000000.jsonl", "w"
    ).close()
    metas = list(source.sessions())
    assert [m.path for m in metas] == [early, late]
    assert [len(source.read(m).user_messages) for m in metas] == [2, 2]


def test_archived_and_compressed_sessions_are_read_alike(tmp_path):
    home = str(tmp_path)
    path, session = place(home, "0.171.0/chinese.jsonl")
    sessions = CodexSessions(home)
    meta = sessions.find(session)
    assert meta is not None
    plain = typed(sessions.read(meta))
    with open(path, "rb") as file:
        packed = zstandard.ZstdCompressor().compress(file.read())
    with open(path + ".zst", "wb") as file:
        file.write(packed)
    os.unlink(path)
    assert typed(sessions.read(meta)) == plain
    os.makedirs(f"{home}/archived_sessions")
    shutil.move(path + ".zst", f"{home}/archived_sessions/{os.path.basename(path)}.zst")
    assert typed(sessions.read(meta)) == plain
    again = CodexSessions(home).find(session.upper())
    assert again is not None
    assert again.session == session


@pytest.mark.parametrize("release", ["0.148.0", "0.150.0", "0.160.0", "0.171.0"])
def test_a_pointing_fork_counts_on_from_its_base(tmp_path, release):
    home = str(tmp_path)
    place(home, f"{release}/fork.jsonl", number=1)
    _, fork = place(home, f"{release}/fork.2.jsonl", number=2)
    sessions = CodexSessions(home)
    meta = sessions.find(fork)
    assert meta is not None
    evidence = sessions.read(meta)
    assert [ordinal for ordinal, _ in typed(evidence)] == [2]
    assert "Fly.io" in evidence.user_messages[0].text
    assert evidence.problems == ()


def test_only_the_part_of_the_base_before_the_fork_counts(tmp_path):
    home = str(tmp_path)
    place(home, "0.171.0/package-manager.jsonl", number=1)
    with open(os.path.join(DATA, "0.171.0/package-manager.jsonl"), encoding="utf-8") as file:
        records = [json.loads(one) for one in file]
    base = records[0]["payload"]["id"]
    second = [r["ordinal"] for r in records if r["payload"].get("type") == "task_started"][1]

    def pointing_at(end):
        def edit(text):
            first = json.loads(text.split("\n", 1)[0])
            first["payload"]["history_base"] = {"thread_id": base, "end_ordinal_exclusive": end}
            first["payload"]["id"] = f"01a22ce8-a630-7652-b38a-{end:012d}"
            return json.dumps(first) + "\n" + text.split("\n", 1)[1]

        return edit

    sessions = CodexSessions(home)
    for end, ordinal in ((second, 2), (10_000, 3), (0, 1)):
        _, fork = place(home, "0.171.0/fork.2.jsonl", number=2, edit=pointing_at(end))
        meta = sessions.find(fork)
        assert meta is not None
        assert [o for o, _ in typed(sessions.read(meta))] == [ordinal]


def test_a_fork_of_a_fork_and_a_base_that_is_gone(tmp_path):
    home = str(tmp_path)
    _, base = place(home, "0.171.0/fork.jsonl", number=1)
    path, fork = place(home, "0.171.0/fork.2.jsonl", number=2)

    def again(text):
        first = json.loads(text.split("\n", 1)[0])
        first["payload"] |= {"id": "01a22ce8-ffff-7652-b38a-fff42e8b4c02"}
        first["payload"]["history_base"] = {"thread_id": fork, "end_ordinal_exclusive": 31}
        return json.dumps(first) + "\n" + text.split("\n", 1)[1].replace("Fly.io", "Render")

    _, third = place(home, "0.171.0/fork.2.jsonl", number=3, edit=again)
    sessions = CodexSessions(home)
    meta = sessions.find(third)
    assert meta is not None
    assert [o for o, _ in typed(sessions.read(meta))] == [3]
    os.unlink(path)
    evidence = CodexSessions(home).read(meta)
    assert [text for _, text in typed(evidence)] == [
        "In this experiment, try Render instead just to compare, don't change the default."
    ]
    assert fork in str(evidence.problems[0])
    assert base


def test_a_fork_that_points_at_itself_ends(tmp_path):
    home = str(tmp_path)

    def edit(text):
        first = json.loads(text.split("\n", 1)[0])
        first["payload"]["history_base"]["thread_id"] = first["payload"]["id"]
        return json.dumps(first) + "\n" + text.split("\n", 1)[1]

    _, fork = place(home, "0.171.0/fork.2.jsonl", edit=edit)
    sessions = CodexSessions(home)
    meta = sessions.find(fork)
    assert meta is not None
    assert "leads back to itself" in str(sessions.read(meta).problems[0])


def test_a_repeating_fork_adds_nothing_twice(tmp_path):
    """The oldest forks say nowhere where the parent's lines end: its own file tells."""
    home = str(tmp_path)
    _, parent = place(home, "0.36.0/package-manager.jsonl", number=1)

    def fork(text):
        at = "2026-11-30T16:00:00.00"
        lines = [json.loads(one) for one in text.split("\n") if one]
        own = {"id": "11111111-2222-4333-8444-555555555555", "timestamp": at + "0Z", "cwd": "/home/dev/shop"}
        extra = [json.loads(one) for one in text.split("\n") if "skip the lint" in one]
        said = json.loads(json.dumps(extra).replace(extra[0]["payload"]["content"][0]["text"], "Use biome."))
        records = [{"timestamp": at, "type": "session_meta", "payload": own}, *lines, *said]
        return "".join(json.dumps(r | {"timestamp": at + "1Z"}) + "\n" for r in records)

    _, child = place(home, "0.36.0/package-manager.jsonl", number=2, edit=fork)
    sessions = CodexSessions(home)
    everything = [pair for m in sessions.sessions() for pair in typed(sessions.read(m))]
    assert [text for _, text in everything].count("Use biome.") == 1
    assert len(everything) == 3
    meta = sessions.find(child)
    assert meta is not None
    evidence = sessions.read(meta)
    assert typed(evidence) == [(3, "Use biome.")]
    assert evidence.meta.parent == parent


def test_sub_agents_and_codex_own_memory_sessions_say_nothing_of_the_user(tmp_path):
    home = str(tmp_path)
    place(home, "0.171.0/subagent.2.jsonl", number=1)
    place(
        home,
        "0.171.0/correction.jsonl",
        number=2,
        edit=lambda text: text.replace('"/home/dev/shop"', json.dumps(f"{home}/memories")),
    )
    sessions = CodexSessions(home)
    for meta in sessions.sessions():
        assert not meta.is_primary
        evidence = sessions.read(meta)
        assert evidence.user_messages == ()
        assert not evidence.meta.is_primary
        assert [i for i in evidence.items if isinstance(i, Message) and i.who is Provenance.SUBAGENT]


def test_a_session_that_is_gone_is_an_error_and_not_empty(tmp_path):
    home = str(tmp_path)
    path, session = place(home, "0.171.0/chinese.jsonl")
    sessions = CodexSessions(home)
    meta = sessions.find(session)
    assert meta is not None
    os.unlink(path)
    with pytest.raises(FileNotFoundError):
        sessions.read(meta)
    assert sessions.find(session) is None


def test_a_file_that_cannot_be_opened_does_not_hide_the_others(tmp_path):
    home = str(tmp_path)
    place(home, "0.171.0/chinese.jsonl", number=1)
    with open(f"{home}/sessions/rollout-2026-11-30T10-00-00-x.jsonl.zst", "wb") as file:
        file.write(b"not compressed")
    sessions = CodexSessions(home)
    assert len(list(sessions.sessions())) == 1
    assert len(sessions.problems) == 1
    assert "compressed data" in str(sessions.problems[0])


def test_headers_are_read_without_reading_the_file(tmp_path):
    home = str(tmp_path)
    path, _ = place(home, "0.171.0/chinese.jsonl")
    os.truncate(path, 5 * 1024**3)  # sparse: reading it all would take seconds
    assert len(list(CodexSessions(home).sessions())) == 1


@pytest.mark.parametrize("release", ["0.58.0", "0.125.0", "0.145.0", "0.148.0", "0.171.0"])
@pytest.mark.parametrize("name", ["correction", "commands", "chinese", "noise-and-injection", "fork"])
def test_a_session_that_grew_is_read_on_where_that_is_safe(tmp_path, monkeypatch, release, name):
    monkeypatch.setattr("cam.store.sessions._LARGE", 0)
    home = str(tmp_path)
    path, _ = place(home, f"{release}/{name}.jsonl")
    with open(path, "rb") as file:
        lines = file.readlines()
    source = CodexSessions(home)
    whole = source.read(source.header(path))
    read_on = 0
    for cut in range(2, len(lines) + 1):
        with open(path, "wb") as file:
            file.writelines(lines[:cut])
        sessions = CodexSessions(home)
        meta = sessions.header(path)
        after = len(sessions.read(meta).user_messages)
        with open(path, "ab") as file:
            file.writelines(lines[cut:])
        grown = sessions.read_on(meta, after)
        if grown is None:
            continue
        read_on += 1
        assert grown.size == whole.size
        assert grown.items == whole.items[len(whole.items) - len(grown.items) :]
        assert [o for o, _ in typed(whole)][after:] == [o for o, _ in typed(grown) if o > after]
    ends = sum(b'"type":"task_complete"' in line for line in lines)
    assert (read_on > 0) == (ends >= 2)


def test_a_session_that_was_rewritten_is_not_read_on(tmp_path, monkeypatch):
    monkeypatch.setattr("cam.store.sessions._LARGE", 0)
    home = str(tmp_path)
    path, _ = place(home, "0.171.0/correction.jsonl")
    sessions = CodexSessions(home)
    meta = sessions.header(path)
    after = len(sessions.read(meta).user_messages)
    assert sessions.read_on(meta, after) is not None
    assert sessions.read_on(meta, 0) is None  # somebody has not read what stands in front
    with open(path, "rb") as file:
        data = file.read()
    for at in (300, sessions.index.place(meta)[0].at - 50):
        with open(path, "r+b") as file:
            file.write(data[:at] + b"#" + data[at + 1 :])
        assert sessions.read_on(meta, after) is None
    with open(path, "r+b") as file:
        file.write(data)
    assert sessions.read_on(meta, after) is not None
    with open(path, "ab") as file:
        file.writelines(data.splitlines(keepends=True)[3:])  # a copy of the history behind the history
    sessions.read(meta)
    assert sessions.read_on(meta, after) is None
