"""How fast and in how much memory a rollout is read, against the floors, in one run.

Usage: python bench/rollouts.py [MB …]   (default 50)

Generates a rollout with the shares by bytes of real sessions (tool outputs 22 %, turn contexts 22 %,
reasoning 19 %, token counts 9 %, messages 15 %, calls 7 %, the rest events and settings) and reads it in
processes of their own: lines alone, ``json.loads`` and ``orjson.loads`` on every line, and cam's reader
without and with orjson. Seconds are the processor's; peak memory is over that of ``python -c pass``.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SESSION = "01a22ce8-906d-7751-8244-3a9e2626d1f9"
SHARES = {
    "output": 22,
    "context": 22,
    "reasoning": 19,
    "tokens": 9,
    "message": 15,
    "call": 7,
    "rest": 6,
}
WORDS = (
    "the build runs tests in src with pnpm and writes a report to docs because every handler returns an "
    "error object so the client shows one line per failure while cargo checks the workspace for each change"
).split()


def main() -> int:
    """Generate and measure each size; 1 if a bound is missed."""
    if sys.argv[1:2] == ["--one"]:
        return one(sys.argv[2], sys.argv[3])
    base = measure("pass", "")["rss"]
    missed = False
    with tempfile.TemporaryDirectory(prefix="cam-bench-", dir=os.environ.get("CAM_BENCH_DIR")) as folder:
        for size in [float(a) for a in sys.argv[1:]] or [50.0]:
            path = os.path.join(folder, f"rollout-2026-01-01T00-00-00-{SESSION}.jsonl")
            generate(path, int(size * 1e6))
            real = os.path.getsize(path) / 1e6
            rates = {}
            for way in ("lines", "json", "orjson", "cam", "cam-orjson"):
                runs = [measure(way, path) for _ in range(5 if size <= 200 else 1)]
                best = min(runs, key=lambda m: m["s"])
                if best["note"] == "not installed":
                    continue
                rates[way] = real / best["s"]
                extra = (best["rss"] - base) / 1024
                print(f"{real:7.0f} MB  {way:10} {rates[way]:7.0f} MB/s  +{extra:5.1f} MB  {best['note']}")
                if way.startswith("cam"):
                    missed |= extra > 20
            ratios = {way: rates[way] / rates["json"] for way in rates if way.startswith("cam")}
            print("  ".join(f"{real:7.0f} MB  {w} / json {r:.2f}" for w, r in ratios.items()))
            missed |= ratios["cam"] < 1.8 or ratios.get("cam-orjson", 3) < 3
            os.unlink(path)
    return int(missed)


def measure(way: str, path: str) -> dict[str, Any]:
    """One reading in a process of its own: seconds, peak KiB, a note."""
    answer = subprocess.run(
        [sys.executable, os.path.abspath(__file__), "--one", way, path],
        check=True,
        capture_output=True,
        text=True,
    )
    result: dict[str, Any] = json.loads(answer.stdout)
    return result


def one(way: str, path: str) -> int:
    """The child: read ``path`` in one way and print what it took."""
    note = ""
    start = time.process_time()
    if way == "lines":
        with open(path, "rb") as file:
            note = f"{sum(1 for _ in file)} lines"
    elif way == "json":
        with open(path, "rb") as file:
            for line in file:
                json.loads(line)
    elif way == "orjson":
        try:
            from orjson import loads  # noqa: PLC0415
        except ImportError:
            note = "not installed"
        else:
            start = time.process_time()
            with open(path, "rb") as file:
                for line in file:
                    loads(line)
    elif way.startswith("cam"):
        sys.path.insert(0, ROOT)
        from cam.formats.rollout import hurry, parse_blocks  # noqa: PLC0415 - the others must not pay for it
        from cam.system.rollout_files import read_blocks  # noqa: PLC0415

        if way == "cam-orjson" and not hurry():
            note = "not installed"
        else:
            start = time.process_time()
            evidence = parse_blocks(read_blocks(path), path)
            note = f"{len(evidence.items)} items, {len(evidence.user_messages)} by the user"
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"s": seconds, "rss": peak, "note": note}))
    return 0


def generate(path: str, size: int) -> None:
    """Write a rollout of about ``size`` bytes, each kind held near its share."""
    rng = random.Random(7)
    spent = dict.fromkeys(SHARES, 0)
    with open(path, "wb") as file:
        head = {
            "id": SESSION,
            "timestamp": "2026-01-01T00:00:00.000Z",
            "cwd": "/home/dev/shop",
            "source": "cli",
        }
        head |= {"cli_version": "0.171.0", "thread_source": "user", "history_mode": "paginated"}
        written = file.write(
            line(0, "session_meta", {**head, "base_instructions": {"text": words(rng, 21_000)}})
        )
        records = endless(rng)
        number = 1
        while written < size:
            kind = min(SHARES, key=lambda k: spent[k] / SHARES[k])
            record, payload = next(records[kind])
            length = file.write(line(number, record, payload))
            spent[kind] += length
            written += length
            number += 1


def endless(rng: random.Random) -> dict[str, Iterator[tuple[str, dict[str, Any]]]]:
    """A stream of records per kind; an output answers the last call."""
    open_calls: list[str] = []
    return {
        "output": outputs(rng, open_calls),
        "context": contexts(rng),
        "reasoning": reasoning(rng),
        "tokens": tokens(rng),
        "message": messages(rng),
        "call": calls(rng, open_calls),
        "rest": rest(rng),
    }


def calls(rng: random.Random, open_calls: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Shell calls, some of them long patches."""
    number = 0
    while True:
        number += 1
        name = f"call_{number:08d}"
        open_calls.append(name)
        command = words(rng, rng.choice([30, 80, 200, 900]))
        yield (
            "response_item",
            {
                "type": "function_call",
                "id": f"fc_{number}",
                "name": "exec_command",
                "arguments": json.dumps({"cmd": command, "workdir": "/home/dev/shop"}),
                "call_id": name,
                "internal_chat_message_metadata_passthrough": {"turn_id": turn(number // 9)},
            },
        )


def outputs(rng: random.Random, open_calls: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the calls printed: mostly short, at times long."""
    while True:
        name = open_calls.pop() if open_calls else "call_none"
        open_calls.clear()
        body = "\n".join(words(rng, rng.randint(20, 110)) for _ in range(rng.choice([1, 4, 12, 40, 115])))
        text = f"Chunk ID: 00d1f2\nWall time: 0.05 seconds\nProcess exited with code 0\nOutput:\n{body}\n"
        yield "response_item", {"type": "function_call_output", "call_id": name, "output": text}


def contexts(rng: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Turn contexts: the same settings and instructions again and again."""
    instructions = words(rng, 4000)
    number = 0
    while True:
        number += 1
        yield (
            "turn_context",
            {
                "turn_id": turn(number),
                "cwd": "/home/dev/shop",
                "approval_policy": "never",
                "sandbox_policy": {"type": "danger-full-access"},
                "model": "gpt-5.1-codex",
                "user_instructions": instructions,
            },
        )


def reasoning(rng: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Encrypted reasoning."""
    while True:
        secret = rng.randbytes(rng.choice([500, 900, 2500])).hex()
        yield (
            "response_item",
            {"type": "reasoning", "summary": [], "content": None, "encrypted_content": secret},
        )


def tokens(rng: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Token counts, with the limits that releases of today write along."""
    while True:
        use = {
            "input_tokens": rng.randint(1, 10**6),
            "cached_input_tokens": 0,
            "cache_write_input_tokens": 0,
            "output_tokens": rng.randint(1, 10**4),
            "reasoning_output_tokens": 0,
            "total_tokens": 10,
        }
        window = {"used_percent": 12.5, "window_minutes": 300, "resets_at": 1_796_049_768}
        limits = {"limit_id": "codex", "limit_name": None, "primary": window, "secondary": window}
        limits |= {
            "credits": None,
            "individual_limit": None,
            "spend_control_reached": None,
            "plan_type": "pro",
        }
        info = {"total_token_usage": use, "last_token_usage": use, "model_context_window": 258_400}
        yield "event_msg", {"type": "token_count", "info": info, "rate_limits": limits}


def messages(rng: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """What was said, in both channels: now and then the user, mostly the assistant, boot files in between."""
    number = 0
    while True:
        number += 1
        who = "user" if number % 25 == 1 else "developer" if number % 25 == 2 else "assistant"
        text = words(rng, {"user": 160, "developer": 4000, "assistant": rng.choice([120, 600, 2000])}[who])
        kind = {"user": "user.text", "developer": "agents_md", "assistant": "unknown"}[who]
        said = {"turn_id": turn(number // 25), "content_item_kinds": [kind]}
        part = "output_text" if who == "assistant" else "input_text"
        yield (
            "response_item",
            {
                "type": "message",
                "id": f"msg_{number}",
                "role": who,
                "content": [{"type": part, "text": text}],
                "internal_chat_message_metadata_passthrough": said,
            },
        )
        if who != "developer":
            name = "UserMessage" if who == "user" else "AgentMessage"
            item = {"type": name, "id": f"msg_{number}", "content": [{"type": "Text", "text": text}]}
            yield (
                "event_msg",
                {"type": "item_completed", "thread_id": SESSION, "turn_id": turn(number), "item": item},
            )


def rest(rng: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    """Settings, starts and ends of turns, reasoning shown on the screen."""
    number = 0
    while True:
        number += 1
        yield "event_msg", {"type": "agent_reasoning", "text": words(rng, 300)}
        yield "event_msg", {"type": "task_started", "turn_id": turn(number), "model_context_window": 258_400}
        yield (
            "event_msg",
            {"type": "thread_settings_applied", "thread_id": SESSION, "thread_settings": {"model": "m"}},
        )
        yield (
            "event_msg",
            {"type": "task_complete", "turn_id": turn(number), "last_agent_message": words(rng, 200)},
        )


def line(number: int, record: str, payload: dict[str, Any]) -> bytes:
    """A line of the paginated form."""
    second = number // 40
    clock = f"{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    at = f"2026-01-{1 + second // 86400 % 28:02d}T{clock}"
    value = {"timestamp": f"{at}.{number % 1000:03d}Z", "ordinal": number, "type": record, "payload": payload}
    if record == "response_item":
        value["metadata"] = {
            "history_sequence": number,
            "sampled_through_sequence": number,
            "client_authored": False,
        }
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def turn(number: int) -> str:
    """A turn's id."""
    return f"01a22ce8-{number % 65536:04x}-72f0-9c99-9e36dd0c21f4"


def words(rng: random.Random, length: int) -> str:
    """About ``length`` characters of prose with some marks that JSON escapes."""
    text = []
    left = length
    while left > 0:
        word = rng.choice(WORDS)
        if rng.random() < 0.03:
            word = rng.choice(['"', "\\n", "`x`", "é"]) + word
        text.append(word)
        left -= len(word) + 1
    return " ".join(text)


if __name__ == "__main__":
    raise SystemExit(main())
