"""Sixty questions of a working day over a store of 120 records; in half of them the words differ."""

import json
from hashlib import sha256
from pathlib import Path

from cam.core.records import MemoryRecord, MemoryScope, new_id
from tests.unit.recall.ask import search

DATA = Path(__file__).parents[2] / "data" / "recall" / "everyday.jsonl"


def id_of(summary: str) -> str:
    return new_id(summary, sha256(summary.encode()).hexdigest())


def test_three_cards_answer_nine_of_ten_questions() -> None:
    lines = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    written = [line["record"] for line in lines if "record" in line]
    records = [
        MemoryRecord(MemoryScope.PROJECT, r["topic"], id_of(r["summary"]), r["summary"], tuple(r["details"]))
        for r in written
    ]
    labels = {id_of(r["summary"]): r["label"] for r in written}
    questions = [line for line in lines if "query" in line]
    missed = [
        question["query"]
        for question in questions
        if not {labels[card.ref.id] for card in search(records, question["query"], page_size=3).cards}
        & set(question["gold"])
    ]
    assert (len(records), len(questions)) == (120, 60)
    assert len(missed) <= 6, missed
