"""The rollout reader on real sessions of twelve releases, and on the shapes they lack."""

import json
import os
from typing import Any

import pytest

from cam.core.evidence import Generation, Message, Provenance, RolloutEvidence, ToolCall
from cam.core.lines import SkippedLine
from cam.formats.rollout import RolloutReader, parse_blocks, parse_header, parse_rollout

DATA = os.path.join(os.path.dirname(__file__), "..", "..", "data", "rollouts")
CAPTURED = sorted(
    os.path.join(release, name)
    for release in os.listdir(DATA)
    if os.path.isdir(os.path.join(DATA, release))
    for name in os.listdir(os.path.join(DATA, release))
)
SESSION = "01a22ce8-906d-7751-8244-3a9e2626d1f9"
PARENT = "01a22ce7-ac74-74b2-83d7-7abb044221ce"
PATH = f"/x/rollout-2026-11-30T14-42-48-{SESSION}.jsonl"
NOT_TYPED = ("AGENTS.md instructions", "<environment_context>", "<turn_aborted>", "<subagent_notification>")


def data(name: str) -> bytes:
    with open(os.path.join(DATA, name), "rb") as file:
        return file.read()


def lines_of(raw: bytes) -> list[bytes]:
    return raw.split(b"\n")[:-1] if not raw else [line + b"\n" for line in raw.split(b"\n")[:-1]]


def read(*values: Any, **given: Any) -> RolloutEvidence:
    lines = [v if isinstance(v, (bytes, SkippedLine)) else json.dumps(v).encode() + b"\n" for v in values]
    return parse_rollout(lines, PATH, **given)


def header(**more: Any) -> dict[str, Any]:
    payload = {
        "id": SESSION,
        "timestamp": "2026-11-30T14:42:48.568Z",
        "cwd": "/home/dev/shop",
        "source": "cli",
    }
    return line("session_meta", {**payload, "cli_version": "0.98.0", **more}, at="14:42:48.660")


def line(record: str, payload: dict[str, Any], at: str = "14:43:00.000", **more: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-11-30T{at}Z", **more, "type": record, "payload": payload}


def said(role: str, *texts: str, at: str = "14:43:00.000", **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return line("response_item", {"type": "message", "role": role, "content": content, **more}, at)


def event(kind: str, at: str = "14:43:00.001", **payload: Any) -> dict[str, Any]:
    return line("event_msg", {"type": kind, **payload}, at)


def call(name: str, arguments: Any, call_id: str = "c1", at: str = "14:43:01.000") -> dict[str, Any]:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    payload = {"type": "function_call", "name": name, "arguments": given, "call_id": call_id}
    return line("response_item", payload, at)


def output(value: Any, call_id: str = "c1", at: str = "14:43:02.000") -> dict[str, Any]:
    return line("response_item", {"type": "function_call_output", "call_id": call_id, "output": value}, at)


def typed(evidence: RolloutEvidence) -> list[str]:
    return [m.text for m in evidence.user_messages]


def calls(evidence: RolloutEvidence) -> list[ToolCall]:
    return [i for i in evidence.items if isinstance(i, ToolCall)]


def texts(evidence: RolloutEvidence, who: Provenance) -> list[str]:
    return [i.text for i in evidence.items if isinstance(i, Message) and i.who is who]


def turns_in(raw: bytes) -> list[str]:
    """What was typed, by Codex's own record of it; in the oldest form every text without marks."""
    events, items = [], []
    for one in raw.split(b"\n"):
        if not one:
            continue
        value = json.loads(one)
        payload = value.get("payload") or value
        if payload.get("type") == "user_message":
            events.append(payload["message"])
        elif payload.get("type") == "item_completed" and payload["item"]["type"] == "UserMessage":
            events.append(payload["item"]["content"][0]["text"])
        elif value.get("type") == "message" and value.get("role") == "user":
            text = value["content"][0]["text"]
            if not text.startswith("<environment_context>"):
                items.append(text)
    return events or items


# Real sessions


@pytest.mark.parametrize("name", CAPTURED)
def test_each_statement_of_a_real_session_is_read_once(name: str) -> None:
    raw = data(name)
    evidence = parse_rollout(lines_of(raw), name)
    wanted = turns_in(raw)
    assert wanted
    if "subagent.2" in name:
        assert not evidence.meta.is_primary
        assert typed(evidence) == []
        assert texts(evidence, Provenance.SUBAGENT) == wanted
    else:
        assert evidence.meta.is_primary
        assert typed(evidence) == wanted
        assert [m.ordinal for m in evidence.user_messages] == list(range(1, len(wanted) + 1))
    assert not [t for t in typed(evidence) if t.startswith(("Warning: ", *NOT_TYPED))]
    assert evidence.problems == ()
    assert evidence.skipped == {}
    assert evidence.size == len(raw)


@pytest.mark.parametrize("name", CAPTURED)
def test_each_answer_and_call_of_a_real_session_is_read_once(name: str) -> None:
    raw = data(name)
    evidence = parse_rollout(lines_of(raw), name)
    payloads = [v.get("payload") or v for v in map(json.loads, raw.split(b"\n")[:-1])]
    answers = [p["content"][0]["text"] for p in payloads if p.get("role") == "assistant"]
    named = [p["call_id"] for p in payloads if p.get("type") in ("function_call", "custom_tool_call")]
    assert texts(evidence, Provenance.ASSISTANT) == answers
    assert len(calls(evidence)) == len(named)


@pytest.mark.parametrize("name", [n for n in CAPTURED if "commands" in n])
def test_commands_of_a_real_session(name: str) -> None:
    evidence = parse_rollout(lines_of(data(name)), name)
    found = [(c.command, c.exit_code, c.files) for c in calls(evidence)]
    assert [code for _, code, _ in found] == [0, 101, 0, 0]
    assert found[0][0] == "true # cargo build --workspace"
    assert found[1][0] == "sh -c 'echo error[E0308]: mismatched types; exit 101'"
    assert found[2][0] is None
    assert [os.path.basename(f) for f in found[2][2]] == ["lib.rs"]
    assert calls(evidence)[2].output.startswith("Success. Updated the following files:\nA src/lib.rs")
    if "0.20.0" not in name:
        assert {i.cwd for i in evidence.items} == {"/home/dev/shop"}


def test_summary_is_the_harness_own() -> None:
    evidence = parse_rollout(lines_of(data("0.98.0/compaction.jsonl")), "x")
    kinds = [(i.kind, i.text[:32]) for i in evidence.items if isinstance(i, Message) and i.kind == "summary"]
    assert kinds == [("summary", "Another language model started t")]


@pytest.mark.parametrize("name", [n for n in CAPTURED if "0.29" not in n and "0.20" not in n])
def test_an_event_stands_in_for_a_torn_item_and_the_other_way_round(name: str) -> None:
    raw = lines_of(data(name))
    whole = parse_rollout(raw, name)
    for channel in (
        b'"type":"message"',
        b'"type":"user_message"',
        b'"type":"UserMessage"',
        b'"type":"agent_message"',
    ):
        torn = [
            one[: len(one) // 2] + b"\n" if channel in one and b'"developer"' not in one else one
            for one in raw
        ]
        evidence = parse_rollout(torn, name)
        assert typed(evidence) == typed(whole)
        assert texts(evidence, Provenance.ASSISTANT) == texts(whole, Provenance.ASSISTANT)


# Headers


def test_headers_of_the_three_generations() -> None:
    bare = parse_header(data("0.20.0/fork.jsonl").split(b"\n")[0], PATH)
    envelope = parse_header(data("0.36.0/fork.jsonl").split(b"\n")[0], PATH)
    paginated = parse_header(data("0.171.0/fork.2.jsonl").split(b"\n")[0], PATH)
    child = parse_header(data("0.171.0/subagent.2.jsonl").split(b"\n")[0], PATH)
    assert None not in (bare, envelope, paginated, child)
    assert (bare.generation, bare.cwd, bare.is_primary) == (Generation.BARE, None, True)
    assert bare.git_remote == "https://git.example.com/acme/shop.git"
    assert (envelope.generation, envelope.cwd) == (Generation.ENVELOPE, "/home/dev/shop")
    assert paginated.generation is Generation.PAGINATED
    assert (paginated.base_session, paginated.base_ordinal) == ("01a22ce8-a37b-7f22-8ee0-3ab47c529860", 19)
    assert paginated.parent == paginated.base_session
    assert paginated.is_primary
    assert child.session == "01a22ce8-a9aa-71a3-97ea-65cea1cad607"
    assert (child.source, child.parent) == ("subagent", "01a22ce8-a8f0-7851-ab61-9337a63cf0ae")
    assert not child.is_primary


@pytest.mark.parametrize(
    ("more", "primary"),
    [
        ({"source": "vscode"}, True),
        ({"source": {"custom": "editor"}}, True),
        ({"source": {"internal": "memory_consolidation"}}, False),
        ({"source": {"subagent": "review"}}, False),
        ({"thread_source": "memory_consolidation"}, False),
        ({"thread_source": "subagent"}, False),
        ({"thread_source": "user", "forked_from_id": PARENT}, True),
        ({"source": None, "git": None}, True),
    ],
)
def test_whose_session_it_is(more: dict[str, Any], primary: bool) -> None:
    meta = parse_header(json.dumps(header(**more)).encode(), PATH)
    assert meta is not None
    assert meta.is_primary is primary


@pytest.mark.parametrize(
    "raw", [b"", b"null", b"[]", b"{}", b'{"type":"session_meta"}', b'{"type":"message"}', b"\xff{"]
)
def test_what_is_no_header(raw: bytes) -> None:
    assert parse_header(raw, PATH) is None


def test_a_torn_header_leaves_the_rest() -> None:
    raw = json.dumps(header()).encode()
    evidence = read(raw[: len(raw) - 20] + b"\n", said("user", "Use tabs."))
    assert typed(evidence) == ["Use tabs."]
    assert evidence.meta.session == SESSION
    assert evidence.meta.cwd == "/home/dev/shop"
    assert "header is damaged" in str(evidence.problems[0])


def test_a_torn_header_of_a_sub_agent_makes_nobody_a_user() -> None:
    raw = data("0.171.0/subagent.2.jsonl").split(b"\n")
    evidence = parse_rollout([raw[0][:-40] + b"\n", *(one + b"\n" for one in raw[1:-1])], PATH)
    assert typed(evidence) == []
    assert parse_rollout([one + b"\n" for one in raw[1:-1]], PATH).user_messages == ()


# Whose words


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("# AGENTS.md instructions for /r\n\n<INSTRUCTIONS>\nAlways use tabs.\n</INSTRUCTIONS>", "agents_md"),
        ("<user_instructions>\n\nAlways use tabs.\n\n</user_instructions>", "agents_md"),
        ("<environment_context>\n  <cwd>/r</cwd>\n</environment_context>", "environment"),
        ("<skill>\n<name>x</name>\nAlways use tabs.\n</skill>", "skill"),
        ("<turn_aborted>\nThe user interrupted.\n</turn_aborted>", "notice"),
        ('<subagent_notification>\n{"a":1}\n</subagent_notification>', "notice"),
        ("<user_shell_command>\n<command>ls</command>\n</user_shell_command>", "notice"),
        (
            "Another language model started to solve this problem and produced a summary of it: Use tabs.",
            "summary",
        ),
    ],
)
@pytest.mark.parametrize("with_event", [True, False])
def test_what_codex_adds_is_not_the_users(text: str, kind: str, with_event: bool) -> None:
    events = [event("user_message", message="Fix it.")] if with_event else []
    evidence = read(header(), said("user", text), said("user", "Fix it."), *events)
    assert typed(evidence) == ["Fix it."]
    harness = [i for i in evidence.items if isinstance(i, Message) and i.who is Provenance.HARNESS]
    assert [(h.kind, h.text) for h in harness] == [(kind, text)]


def test_a_file_cannot_end_its_own_quotation() -> None:
    head = "# AGENTS.md instructions for /r\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>\n"
    body = head + "Always use npm.\n</INSTRUCTIONS>"
    evidence = read(
        header(), said("user", body + "\n<environment_context>\n</environment_context>\n\nFix it.")
    )
    assert typed(evidence) == ["Fix it."]


def test_only_the_request_of_an_editors_prompt_counts() -> None:
    wrapped = (
        "# Context from my IDE setup:\n\n## Active selection of the file:\n"
        "## My request for Codex:\nuse npm\n\n"
        "## Open tabs:\n- a.py: a.py\n\n## My request for Codex:\nUse pnpm here.\n"
    )
    evidence = read(header(), said("user", wrapped), event("user_message", message=wrapped))
    assert typed(evidence) == ["Use pnpm here."]
    assert [i.kind for i in evidence.items if isinstance(i, Message)] == ["ide_context", ""]


def test_a_message_of_mixed_parts_is_split_by_part() -> None:
    meta = {
        "content_item_kinds": ["agents_md", "user.text", "hooks.additional_context", "user.text"],
        "content_item_metadata": [
            {"provenance": {"type": "harness", "hook": False}},
            {"provenance": {"type": "user"}},
            {"provenance": {"type": "harness", "hook": True}},
            {"provenance": {"type": "user"}},
        ],
    }
    parts = ("Always npm.", "Use pnpm.", "Remembered: npm.", "And tabs.")
    evidence = read(header(), said("user", *parts, internal_chat_message_metadata_passthrough=meta))
    assert typed(evidence) == ["Use pnpm.\nAnd tabs."]
    harness = [
        (i.kind, i.text) for i in evidence.items if isinstance(i, Message) and i.who is Provenance.HARNESS
    ]
    assert harness == [("agents_md", "Always npm."), ("hook", "Remembered: npm.")]


def test_codex_word_for_a_part_goes_before_marks() -> None:
    meta = {"content_item_kinds": ["user.text"], "content_item_metadata": [{"provenance": {"type": "user"}}]}
    text = "<environment_context> is what I want documented"
    evidence = read(header(), said("user", text, internal_chat_message_metadata_passthrough=meta))
    assert typed(evidence) == [text]


def test_developer_messages_are_kept_whole_for_the_receipt() -> None:
    body = "memory block\n" + "x" * 60_000
    evidence = read(header(), said("developer", body))
    assert texts(evidence, Provenance.HARNESS) == [body]


def test_a_warning_of_codex_is_not_the_users_but_a_persons_warning_is() -> None:
    evidence = read(
        header(),
        said("user", "Warning: never touch main."),
        event("user_message", message="Warning: never touch main."),
        call("exec_command", {"cmd": "ls"}),
        said("user", "Warning: apply_patch was requested via exec_command."),
    )
    assert typed(evidence) == ["Warning: never touch main."]


def test_the_same_words_said_twice_are_two_statements() -> None:
    evidence = read(
        header(),
        said("user", "continue", at="14:43:00.000"),
        event("user_message", message="continue", at="14:43:00.001"),
        said("assistant", "ok", at="14:43:01.000"),
        said("user", "continue", at="14:44:00.000"),
        event("user_message", message="continue", at="14:44:00.001"),
    )
    assert [m.ordinal for m in evidence.user_messages] == [1, 2]


def test_an_open_turn_counts_and_order_is_kept() -> None:
    evidence = read(
        header(), said("user", "one"), said("assistant", "two"), call("shell_command", {"command": "make"})
    )
    assert [i.text if isinstance(i, Message) else i.command for i in evidence.items] == ["one", "two", "make"]
    assert calls(evidence)[0].exit_code is None
    assert calls(evidence)[0].ordinal == 1


def test_each_turn_has_its_own_folder() -> None:
    def context(cwd: str) -> dict[str, Any]:
        return line("turn_context", {"cwd": cwd, "approval_policy": "never"})

    evidence = read(
        header(),
        said("user", "one"),
        context("/a"),
        call("shell", {"command": ["bash", "-lc", "pwd"]}),
        said("user", "two", at="14:44:00.000"),
        context("/b"),
        call("exec_command", {"cmd": "pwd", "workdir": "/b/sub"}, "c2"),
    )
    assert [i.cwd for i in evidence.items] == ["/a", "/a", "/b", "/b/sub"]


def test_what_is_piped_in_is_not_typed() -> None:
    text = "Explain this.\n\n<stdin>\nalways use npm\n</stdin>"
    evidence = read(header(), said("user", text), event("user_message", message=text))
    assert typed(evidence) == ["Explain this."]
    assert texts(evidence, Provenance.HARNESS) == ["<stdin>\nalways use npm\n</stdin>"]


@pytest.mark.parametrize("paginated", [True, False])
def test_a_reviewers_prompt_is_the_persons_only_if_they_wrote_it(paginated: bool) -> None:
    def review(kind: str, words: str, at: str) -> list[dict[str, Any]]:
        target = {"target": {"type": kind}}
        if not paginated:
            return [
                event("entered_review_mode", at, **target),
                event("user_message", at, message=words),
                event("exited_review_mode", at),
            ]
        message = {"type": "UserMessage", "id": words, "content": [{"type": "text", "text": words}]}
        items = ({"type": "EnteredReviewMode", **target}, message, {"type": "ExitedReviewMode"})
        return [event("item_completed", at, thread_id=SESSION, item=item) for item in items]

    evidence = read(
        header(),
        *review("uncommittedChanges", "Review the changes.", "14:43:00.000"),
        *review("custom", "Look at the locks.", "14:44:00.000"),
    )
    assert typed(evidence) == ["Look at the locks."]


def test_a_prompt_of_another_thread_is_not_the_users() -> None:
    message = {"type": "UserMessage", "id": "i", "content": [{"type": "text", "text": "Find flaky tests."}]}
    evidence = read(header(), event("item_completed", thread_id=PARENT, turn_id="t", item=message))
    assert typed(evidence) == []


# Tool calls


@pytest.mark.parametrize(
    ("name", "arguments", "command"),
    [
        ("shell", {"command": ["bash", "-lc", "make test"]}, "make test"),
        ("shell", {"command": ["/usr/bin/zsh", "-c", "make"]}, "make"),
        ("shell", {"command": ["git", "commit", "-m", "two words"]}, "git commit -m 'two words'"),
        ("shell", {"command": ["powershell.exe", "-NoProfile", "-Command", "ls"]}, "ls"),
        ("shell_command", {"command": "make"}, "make"),
        ("exec_command", {"cmd": "make"}, "make"),
    ],
)
def test_a_command_as_a_person_types_it(name: str, arguments: Any, command: str) -> None:
    assert calls(read(header(), call(name, arguments)))[0].command == command


@pytest.mark.parametrize(
    ("value", "code", "printed"),
    [
        ("Exit code: 2\nWall time: 0.1 seconds\nOutput:\nboom\n", 2, "boom\n"),
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nok", 0, "ok"),
        ('{"output":"hi","metadata":{"exit_code":3,"duration_seconds":0.1}}', 3, "hi"),
        ({"output": "hi", "metadata": {"exit_code": 4}}, 4, "hi"),
        ([{"type": "input_text", "text": "Exit code: 5\nOutput:\nhi"}], 5, "hi"),
        ("aborted by user after 3.2s", None, "aborted by user after 3.2s"),
        ("Wall time: 1 seconds\nOutput:\nExit code: 7\n", None, "Exit code: 7\n"),
        (None, None, ""),
        ({"weird": [1]}, None, ""),
    ],
)
def test_how_a_command_ended(value: Any, code: int | None, printed: str) -> None:
    found = calls(read(header(), call("exec_command", {"cmd": "x"}), output(value)))[0]
    assert (found.exit_code, found.output) == (code, printed)


def test_a_long_output_keeps_head_and_tail() -> None:
    found = calls(read(header(), call("exec_command", {"cmd": "x"}), output("a" * 50_000 + "the end")))[0]
    assert found.output.startswith("aaaa")
    assert found.output.endswith("the end")
    assert len(found.output) < 4200


def test_what_a_running_process_prints_later_belongs_to_its_start() -> None:
    evidence = read(
        header(),
        call("exec_command", {"cmd": "make watch"}),
        output("Wall time: 1 seconds\nProcess running with session ID 77\nOutput:\nstarting\n"),
        call("write_stdin", {"session_id": 77, "chars": ""}, "c2"),
        output("Wall time: 9 seconds\nProcess running with session ID 77\nOutput:\nbuilding\n", "c2"),
        call("write_stdin", {"session_id": 77, "chars": "q"}, "c3"),
        output("Wall time: 1 seconds\nProcess exited with code 3\nOutput:\nbye\n", "c3"),
    )
    assert [(c.command, c.exit_code, c.output) for c in calls(evidence)] == [
        ("make watch", 3, "starting\nbuilding\nbye\n")
    ]


def test_local_shell_and_mcp_and_patch_calls() -> None:
    action = {"type": "exec", "command": ["ls", "-l"], "working_directory": "/w"}
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n*** Delete File: c.py\n*** End Patch"
    evidence = read(
        header(),
        line(
            "response_item",
            {"type": "local_shell_call", "call_id": "l", "status": "completed", "action": action},
        ),
        output("x", "l"),
        line(
            "response_item",
            {"type": "custom_tool_call", "call_id": "p", "name": "apply_patch", "input": patch},
        ),
        line(
            "response_item",
            {"type": "custom_tool_call_output", "call_id": "p", "output": "Exit code: 0\nOutput:\n"},
        ),
        call("mcp__docs__search", {"q": "x"}, "m"),
        event(
            "mcp_tool_call_end",
            call_id="m",
            invocation={"server": "docs", "tool": "search", "arguments": {"q": "x"}},
            result={"Ok": {"content": [{"type": "text", "text": "found"}]}},
        ),
        output([{"type": "input_text", "text": "found"}], "m"),
    )
    shell, patched, mcp = calls(evidence)
    assert (shell.command, shell.cwd, shell.output) == ("ls -l", "/w", "x")
    assert (patched.name, patched.files, patched.exit_code) == ("apply_patch", ("a.py", "b.py", "c.py"), 0)
    assert (mcp.name, mcp.command, mcp.output) == ("mcp__docs__search", None, "found")


def test_items_stand_in_where_no_call_was_written() -> None:
    def item(**value: Any) -> dict[str, Any]:
        return event("item_completed", thread_id=SESSION, turn_id="t", item=value)

    command = {"command": ["/bin/bash", "-lc", "make"], "cwd": "file:///w%20x", "exit_code": 2}
    evidence = read(
        header(),
        item(type="CommandExecution", id="a", aggregated_output="no rule", **command),
        item(type="FileChange", id="b", changes={"/w/x.py": {"type": "add"}}, status="failed", stdout=""),
        item(type="McpToolCall", id="c", server="docs", tool="get", arguments={}, result={"content": "text"}),
        call("exec_command", {"cmd": "ls"}, "d"),
        item(type="CommandExecution", id="d", aggregated_output="y", **command),
    )
    found = [(c.name, c.command, c.exit_code, c.output) for c in calls(evidence)]
    assert found == [
        ("exec_command", "make", 2, "no rule"),
        ("apply_patch", None, 1, ""),
        ("mcp__docs__get", None, None, "text"),
        ("exec_command", "ls", 2, "y"),
    ]
    assert calls(evidence)[0].cwd == "/w x"


def test_a_reused_call_id_is_a_new_call() -> None:
    evidence = read(
        header(),
        call("exec_command", {"cmd": "one"}, "same", at="14:43:01.000"),
        output("Exit code: 0\nOutput:\n1", "same", at="14:43:01.100"),
        call("exec_command", {"cmd": "two"}, "same", at="14:43:02.000"),
        output("Exit code: 1\nOutput:\n2", "same", at="14:43:02.100"),
    )
    assert [(c.command, c.exit_code) for c in calls(evidence)] == [("one", 0), ("two", 1)]


def test_a_rollout_printed_by_a_tool_stays_output() -> None:
    inner = data("0.171.0/correction.jsonl").decode()
    evidence = read(
        header(), said("user", "show the log"), call("exec_command", {"cmd": "cat"}), output(inner)
    )
    assert typed(evidence) == ["show the log"]
    assert calls(evidence)[0].output.startswith('{"timestamp"')


# Damage


def test_half_a_line_and_then_the_whole_one() -> None:
    whole = json.dumps(said("user", "Use pnpm."), separators=(",", ":")).encode()
    for torn in (whole[:60] + b"\n" + whole + b"\n", whole[:60] + whole + b"\n"):
        evidence = parse_rollout([json.dumps(header()).encode() + b"\n", *lines_of(torn)], PATH)
        assert typed(evidence) == ["Use pnpm."]
        assert evidence.skipped["torn"] == 1
        assert evidence.problems


def test_a_record_behind_half_a_token_count_is_found() -> None:
    count = json.dumps(event("token_count", info={"a": {"b": 1}}), separators=(",", ":")).encode()
    whole = json.dumps(said("user", "Use pnpm."), separators=(",", ":")).encode()
    evidence = parse_rollout([json.dumps(header()).encode() + b"\n", count[:70] + whole + b"\n"], PATH)
    assert typed(evidence) == ["Use pnpm."]


def test_a_torn_end_is_left_for_the_next_read() -> None:
    lines = [json.dumps(v).encode() + b"\n" for v in (header(), said("user", "one"), said("user", "two"))]
    evidence = parse_rollout([lines[0], lines[1], lines[2][:50]], PATH)
    assert typed(evidence) == ["one"]
    assert evidence.size == len(lines[0]) + len(lines[1])
    assert evidence.skipped == {"torn": 1}
    assert evidence.problems == ()


def test_odd_bytes_and_odd_lines() -> None:
    evidence = read(
        b"\xef\xbb\xbf" + json.dumps(header()).encode() + b"\r\n",
        b"\n",
        b"null\n",
        b"[1]\n",
        b"\0\0\0\0\n",
        b"\0\0" + json.dumps(said("user", "after nul", at="14:43:01.000")).encode() + b"\n",
        json.dumps(said("user", "a\u2028b\x85c", at="14:43:02.000"), ensure_ascii=False).encode() + b"\r\n",
        json.dumps(said("user", "caf\u00e9", at="14:43:03.000"), ensure_ascii=False).encode("latin-1")
        + b"\n",
        json.dumps(said("user", "half \ud83d", at="14:43:04.000")).encode() + b"\n",
        SkippedLine(100_000_000),
        b"[" * 100_000 + b"\n",
    )
    assert typed(evidence) == ["after nul", "a\u2028b\x85c", "caf\ufffd", "half ?"]
    assert evidence.skipped == {
        "null": 1,
        "not_an_object": 1,
        "nul": 1,
        "bad_utf8": 1,
        "too_long": 1,
        "torn": 1,
    }


def test_a_doubled_line_counts_once() -> None:
    one = said("user", "Use pnpm.")
    evidence = read(header(), one, one, event("user_message", message="Use pnpm."))
    assert typed(evidence) == ["Use pnpm."]
    assert evidence.skipped == {"repeated": 1}


@pytest.mark.parametrize(
    "name", ["0.145.0/correction.jsonl", "0.150.0/chinese.jsonl", "0.171.0/correction.jsonl"]
)
def test_a_history_that_a_resume_copied_counts_once(name: str) -> None:
    raw = lines_of(data(name))
    later = [one.replace(b'{"timestamp":"2026-11-30T', b'{"timestamp":"2026-12-01T') for one in raw]
    assert typed(parse_rollout([*raw, *later], PATH)) == typed(parse_rollout(raw, PATH))


def test_images_tags_are_not_words() -> None:
    parts = ("<image name=[Image #1]>", "</image>", "Match this design.")
    assert typed(read(header(), said("user", *parts))) == ["Match this design."]


def test_records_with_and_without_ordinals() -> None:
    raw = lines_of(data("0.171.0/correction.jsonl"))
    mixed = [
        one.replace(b'"ordinal":', b'"old_ordinal":') if n % 3 == 1 else one for n, one in enumerate(raw)
    ]
    bare = [
        json.dumps({k: v for k, v in json.loads(o).items() if k != "ordinal"}).encode() + b"\n"
        for o in raw[1:]
    ]
    whole = parse_rollout(raw, PATH)
    assert typed(parse_rollout(mixed, PATH)) == typed(whole)
    assert typed(parse_rollout([raw[0], *bare], PATH)) == typed(whole)


def test_images_are_dropped_before_json() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64," + "iVBOR" * 400_000}
    message = said("user", "Match this design.")
    message["payload"]["content"].append(image)
    evidence = read(header(), message, call("view", {}), output([{"type": "image", "data": "QUJD" * 9000}]))
    assert typed(evidence) == ["Match this design."]
    assert calls(evidence)[0].output == ""


def test_a_compacted_line_does_not_double_the_history() -> None:
    history = [said("user", "Use pnpm.")["payload"], said("assistant", "ok")["payload"]]
    evidence = read(
        header(),
        said("user", "Use pnpm."),
        said("assistant", "ok"),
        line("compacted", {"message": "They use pnpm.", "replacement_history": history}),
    )
    assert typed(evidence) == ["Use pnpm."]
    assert texts(evidence, Provenance.ASSISTANT) == ["ok"]
    assert texts(evidence, Provenance.HARNESS) == ["They use pnpm."]


def test_unknown_kinds_are_counted() -> None:
    evidence = read(
        header(),
        said("user", "hi"),
        line("novelty", {"type": "x"}),
        event("surprise"),
        {"type": "odd", "a": 1},
    )
    assert evidence.skipped == {"unknown:novelty/x": 1, "unknown:event_msg/surprise": 1, "unknown:odd": 1}
    assert evidence.problems == ()


def test_a_form_that_cam_does_not_know_is_a_problem() -> None:
    evidence = read(
        header(cli_version="0.300.0"), event("task_started", turn_id="t"), line("utterance", {"words": "x"})
    )
    assert "0.300.0" in str(evidence.problems[0])
    assert "does not know" in str(evidence.problems[0])
    assert read(header()).problems == ()


# Forks


def test_a_real_fork_of_0_125_says_only_its_own() -> None:
    """Its parent's lines have new times, and keep the ids of their turns."""
    evidence = parse_rollout(lines_of(data("../forks/0.125.0-child.jsonl")), PATH)
    parent = parse_rollout(lines_of(data("../forks/0.125.0-parent.jsonl")), PATH)
    assert [(m.ordinal, m.text) for m in evidence.user_messages] == [(4, "go on")]
    assert typed(parent)[:3] == ["hello", "go on", "with prompt"]
    assert texts(evidence, Provenance.ASSISTANT) == ["ANSWER-4"]
    assert evidence.meta.session != parent.meta.session == evidence.meta.parent


def test_a_fork_that_repeats_its_parent_says_only_its_own() -> None:
    """Lines keep their times, turns have no ids."""
    parent = lines_of(data("0.98.0/correction.jsonl"))
    child = header(
        forked_from_id=json.loads(parent[0])["payload"]["id"], timestamp="2026-12-01T09:00:00.000Z"
    )
    child["timestamp"] = "2026-12-01T09:00:00.010Z"
    own = [said("user", "Now use nox."), event("user_message", message="Now use nox.")]
    for value in own:
        value["timestamp"] = "2026-12-01T09:01:00.000Z"
    evidence = read(child, *parent, *own)
    assert typed(evidence) == ["Now use nox."]
    assert evidence.user_messages[0].ordinal == 3
    assert evidence.meta.session == SESSION
    assert evidence.skipped["replayed"] > 0
    assert calls(evidence) == []


def test_a_fork_whose_repeated_lines_got_new_times() -> None:
    """Turn ids hold their own time."""
    parent = [json.loads(one) for one in lines_of(data("0.145.0/correction.jsonl"))]
    for value in parent:
        value["timestamp"] = "2026-11-30T15:00:00.001Z"
    born = "01a22cff-0000-7000-8000-000000000000"
    turn = "01a22cff-0100-7000-8000-000000000000"
    child = header(id=born, forked_from_id=parent[0]["payload"]["id"], timestamp="2026-11-30T15:00:00.000Z")
    child["timestamp"] = "2026-11-30T15:00:00.001Z"
    own = [
        event("task_started", turn_id=turn),
        said("user", "Now use nox."),
        event("user_message", message="Now use nox."),
    ]
    for value in own:
        value["timestamp"] = "2026-11-30T15:00:00.002Z"
    evidence = read(child, *parent, *own)
    assert [(m.text, m.ordinal) for m in evidence.user_messages] == [("Now use nox.", 3)]


def test_where_a_fork_does_not_say_the_parents_words_tell() -> None:
    parent = [
        header(id=PARENT),
        said("user", "one"),
        said("assistant", "yes"),
        said("user", "two", at="14:43:05.000"),
    ]
    own = [said("assistant", "fine", at="14:43:06.000"), said("user", "three", at="14:43:07.000")]
    child = header(timestamp="2026-11-30T14:00:00.000Z", forked_from_id=PARENT)
    evidence = read(child, *parent, *own, parent=["one", "two"])
    assert [(m.text, m.ordinal) for m in evidence.user_messages] == [("three", 3)]
    reader = RolloutReader(PATH)
    for value in (child, *parent, *own):
        reader.feed(json.dumps(value).encode() + b"\n")
    assert reader.replay_is_a_guess


def test_a_later_header_does_not_replace_the_first() -> None:
    evidence = read(header(), said("user", "one"), header(id=PARENT, cwd="/elsewhere"), said("user", "two"))
    assert evidence.meta.session == SESSION
    assert evidence.meta.cwd == "/home/dev/shop"
    assert typed(evidence) == ["one", "two"]


def test_a_pointing_fork_counts_on_from_its_base() -> None:
    evidence = parse_rollout(lines_of(data("0.171.0/fork.2.jsonl")), PATH, before=1)
    assert [m.ordinal for m in evidence.user_messages] == [2]


# Size


def test_memory_stays_bounded_and_the_persons_words_stay() -> None:
    reader = RolloutReader(PATH)
    reader.feed(json.dumps(header()).encode() + b"\n")
    for n in range(4000):
        at = f"14:{n // 60 % 60:02d}:{n % 60:02d}.{n % 1000:03d}"
        if n % 100 == 0:
            reader.feed(json.dumps(said("user", f"rule {n}", at=at)).encode() + b"\n")
        reader.feed(json.dumps(call("exec_command", {"cmd": f"make {n}"}, f"c{n}", at)).encode() + b"\n")
        reader.feed(json.dumps(output("x" * 6000, f"c{n}", at)).encode() + b"\n")
    evidence = reader.evidence()
    assert typed(evidence) == [f"rule {n}" for n in range(0, 4000, 100)]
    kept = sum(len(c.output) + len(c.command or "") for c in calls(evidence))
    assert kept < 6_000_000
    assert calls(evidence)[-1].command == "make 3999"


def test_of_a_long_file_the_answer_to_which_a_person_replied_is_kept() -> None:
    def line(value: object) -> bytes:
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"

    reader = RolloutReader(PATH)
    reader.feed(line(header()))
    for n in range(3000):
        at = f"14:{n // 60 % 60:02d}:{n % 60:02d}.{n % 1000:03d}"
        if n == 10:
            reader.feed(line(said("assistant", "Shall I use pnpm from now on?", at=at)))
            reader.feed(line(said("user", "Yes.", at=at)))
        reader.feed(line(call("exec_command", {"cmd": f"make {n}"}, f"c{n}", at)))
        reader.feed(line(output("x" * 3000, f"c{n}", at)))
    evidence = reader.evidence()
    assert [i.text for i in evidence.items if isinstance(i, Message) and i.who is not Provenance.HARNESS] == [
        "Shall I use pnpm from now on?",
        "Yes.",
    ]
    assert evidence.skipped["thinned"] > 1000
    assert calls(evidence)[-1].command == "make 2999"


@pytest.mark.parametrize("behind", [True, False])
def test_in_a_long_file_each_turn_keeps_its_folder(behind: bool) -> None:
    def line(value: object) -> bytes:
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"

    def turn(n: int) -> list[bytes]:
        at = f"14:{n // 60 % 60:02d}:{n % 60:02d}.000"
        stamp = f"2026-11-30T{at}Z"
        where = {"cwd": f"/repo/{n % 3}", "more": "x" * 500}
        where = where if behind else {"turn_id": f"t{n}", **where}
        context = line({"timestamp": stamp, "type": "turn_context", "payload": where})
        start = line(
            {"timestamp": stamp, "type": "event_msg", "payload": {"type": "task_started", "turn_id": f"t{n}"}}
        )
        user = line(said("user", f"rule {n}", at=at))
        work = [
            part
            for k in range(8)
            for part in (
                line(call("exec_command", {"cmd": "make"}, f"c{n}-{k}", at)),
                line(output("x" * 900, f"c{n}-{k}", at)),
                context,
            )
        ]
        return [user, context, *work] if behind else [start, context, user, *work]

    raw = [line(header()), *(part for n in range(600) for part in turn(n))]
    blocks = [b"".join(raw[at : at + 40]) for at in range(0, len(raw), 40)]
    evidence = parse_blocks(blocks, PATH)
    assert evidence.skipped["thinned"] > 3000
    assert evidence.size == sum(map(len, raw))
    assert [(m.text, m.cwd, m.ordinal) for m in evidence.user_messages] == [
        (f"rule {n}", f"/repo/{n % 3}", n + 1) for n in range(600)
    ]


@pytest.mark.parametrize("name", CAPTURED)
def test_blocks_say_what_lines_say(name: str) -> None:
    raw = data(name)
    by_line = parse_rollout(lines_of(raw), PATH)
    for size in (1000, 1 << 20):
        lines, blocks = lines_of(raw), []
        while lines:
            block = lines.pop(0)
            while lines and len(block) < size:
                block += lines.pop(0)
            blocks.append(block)
        assert parse_blocks(blocks, PATH) == by_line


def test_a_growing_file_is_read_as_it_grows() -> None:
    raw = lines_of(data("0.171.0/package-manager.jsonl"))
    reader = RolloutReader(PATH)
    seen = []
    for one in raw:
        reader.feed(one)
        seen.append(typed(reader.evidence()))
    assert seen[-1] == typed(parse_rollout(raw, PATH))
    assert all(earlier == seen[-1][: len(earlier)] for earlier in seen)
