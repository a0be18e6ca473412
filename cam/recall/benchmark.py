"""Benchmark: how well and how fast recall answers questions that a person labelled by hand.

A label names what should be found; nothing in it depends on what a search returned, so a record that recall
misses can be labelled, and every miss is listed. Each question is put to a freshly opened memory, so that
reading is part of its time; one is put to a new process as well.
"""

import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from cam.core.errors import InvalidInputError, NotFoundError, StoreUnavailableError
from cam.core.records import MemoryRecord, MemoryRef
from cam.core.tokens import estimate_tokens
from cam.recall.flow import Recall
from cam.recall.indexed import RecordsOnDisk
from cam.recall.rebuild import digest
from cam.recall.request import SearchRequest, check_query
from cam.store.layout import StoreLayout
from cam.system.files import explain, read_bytes

MAX_LABELS = 1000
MAX_BYTES = 1 << 20
MAX_REFS = 100
TOP = 5
SAMPLES = 5

_KEYS = {"id", "query", "expected_ids", "false_ids", "provenance"}


@dataclass(frozen=True, slots=True)
class Label:
    """One question.

    Attributes:
        id: its name, once among all.
        query: as a person would ask.
        expected: refs that answer it.
        wrong: refs that must not come up.
    """

    id: str
    query: str
    expected: tuple[str, ...]
    wrong: tuple[str, ...] = ()


def read_labels(data: bytes) -> tuple[Label, ...]:
    """Read labels: a JSON object a line.

    Raises:
        InvalidInputError: too many, too large, or a line that is no label; it is named.
    """
    if not 1 <= len(data) <= MAX_BYTES:
        raise InvalidInputError(f"labels have 1 to {MAX_BYTES:,} bytes, not {len(data):,}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"labels are not UTF-8 (byte {error.start})") from None
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not 1 <= len(lines) <= MAX_LABELS:
        raise InvalidInputError(f"there are {len(lines)} labels; 1 to {MAX_LABELS:,} are measured")
    labels = tuple(_label(line, number) for number, line in lines)
    if len({label.id for label in labels}) < len(labels):
        raise InvalidInputError("two labels have the same id")
    return labels


def benchmark(
    layout: StoreLayout, labels: Sequence[Label], labels_digest: str, *, now: str, command: str
) -> dict[str, Any]:
    """Measure.

    Args:
        layout: of the store.
        labels: what to ask.
        labels_digest: SHA-256 of the labels' file.
        now: ISO-8601 UTC.
        command: how it was called.

    Returns:
        The report, as docs/recall.md describes it.

    Raises:
        NotFoundError: a label names a record that is not there.
    """
    begun = time.perf_counter()
    records = {str(record.ref): record for record in RecordsOnDisk(layout).records()}
    load = time.perf_counter() - begun
    missing = [ref for label in labels for ref in (*label.expected, *label.wrong) if ref not in records]
    if missing:
        raise NotFoundError(f"labels name records that are not there: {', '.join(missing[:5])}")
    disk = _disk_bytes(layout)
    waits: list[float] = []

    def cam(query: str) -> list[str]:
        cards = None
        for _ in range(SAMPLES):
            at = time.perf_counter()
            cards = Recall(layout, now=now).search(SearchRequest(query, state="all", page_size=TOP)).cards
            waits.append(time.perf_counter() - at)
        return [str(card.ref) for card in cards or ()]

    found = _measured(labels, cam)
    grep = _measured(labels, lambda query: _grep(query, records))
    whole = sum(_tokens(records, refs) for refs in found["returned"].values())
    first = sum(_cards(records, refs) + _tokens(records, refs[:1]) for refs in found["returned"].values())
    waits.sort()
    return {
        "schema": "cam-recall-benchmark/v1",
        "generated_at": now,
        "labels": len(labels),
        "configs": [
            {"name": "grep-baseline", **grep["quality"], "injected_tokens": _sum(records, grep)},
            {"name": "whole-records", **found["quality"], "injected_tokens": whole},
            {"name": "cards-first", **found["quality"], "injected_tokens": first},
        ],
        "vector_config": None,
        "misses": found["misses"],
        "measurements": {
            "samples_per_query": SAMPLES,
            "load_ms": round(1000 * load, 3),
            "p95_latency_ms": round(1000 * waits[max(0, -(-len(waits) * 95 // 100) - 1)], 3),
            "cold_process_ms": round(1000 * _cold(layout, labels[0].query), 3),
            "disk_bytes": disk,
            "disk_growth_bytes": _disk_bytes(layout) - disk,
            "peak_rss_bytes": _peak_bytes(),
        },
        "provenance": {
            "corpus_digest": digest(records.values()),
            "labels_digest": labels_digest,
            "command": command,
        },
    }


def run_benchmark(
    layout: StoreLayout, labels_path: str, output: str, *, now: str, command: str
) -> dict[str, Any]:
    """Measure by a file of labels and write the report to a new file.

    Raises:
        InvalidInputError: the labels are off, or ``output`` is there already or in no folder.
        NotFoundError: the labels are not there, or name a record that is not.
        StoreUnavailableError: the report cannot be written.
    """
    if os.path.lexists(output):
        raise InvalidInputError(f"--output: {output} is there already; name a new file")
    if not os.path.isdir(os.path.dirname(output) or "."):
        raise InvalidInputError(f"--output: there is no folder {os.path.dirname(output)}")
    data = read_bytes(labels_path)
    if data is None:
        raise NotFoundError(f"--labels: there is no file {labels_path}")
    report = benchmark(layout, read_labels(data), sha256(data).hexdigest(), now=now, command=command)
    try:
        with open(output, "x", encoding="utf-8") as file:
            file.write(json.dumps(report, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        raise StoreUnavailableError(explain(error, output)) from error
    return report


def _label(line: str, number: int) -> Label:
    try:
        data = json.loads(line)
    except ValueError:
        data = None
    if not isinstance(data, dict) or not data.keys() <= _KEYS:
        raise InvalidInputError(f"line {number} is no label: a JSON object of {', '.join(sorted(_KEYS))}")
    name, query = data.get("id"), data.get("query")
    if not (isinstance(name, str) and 1 <= len(name) <= 256 and isinstance(query, str)):
        raise InvalidInputError(f"line {number}: id and query are texts, the id of 1 to 256 characters")
    try:
        check_query(query)
        expected = _refs(data.get("expected_ids"), 1)
        return Label(name, query, expected, _refs(data.get("false_ids", []), 0))
    except InvalidInputError as error:
        raise InvalidInputError(f"line {number}: {error}") from None


def _refs(value: object, least: int) -> tuple[str, ...]:
    if not isinstance(value, list) or not least <= len(value) <= MAX_REFS:
        raise InvalidInputError(f"expected_ids has 1 to {MAX_REFS} refs, false_ids as many at most")
    refs = tuple(str(MemoryRef.parse(str(ref))) for ref in value)
    if len(set(refs)) < len(refs):
        raise InvalidInputError("a ref stands twice")
    return refs


def _measured(labels: Sequence[Label], search: Callable[[str], list[str]]) -> dict[str, Any]:
    returned = {label.id: search(label.query)[:TOP] for label in labels}
    misses = []
    recall = mean_rank = wrong = 0.0
    for label in labels:
        refs = returned[label.id]
        lost = [ref for ref in label.expected if ref not in refs]
        if lost:
            misses.append({"id": label.id, "query": label.query, "missing": lost, "returned": refs})
        recall += 1 - len(lost) / len(label.expected)
        mean_rank += next((1 / n for n, ref in enumerate(refs, 1) if ref in label.expected), 0.0)
        wrong += sum(ref in refs for ref in label.wrong) / len(label.wrong) if label.wrong else 0.0
    names = (f"recall_at_{TOP}", "mrr", "false_recall")
    values = (recall, mean_rank, wrong)
    quality = {name: round(value / len(labels), 6) for name, value in zip(names, values, strict=True)}
    return {"returned": returned, "misses": misses, "quality": quality}


def _grep(query: str, records: dict[str, MemoryRecord]) -> list[str]:
    """Records by how many of the query's words they hold, as a person would with grep."""
    words = {word for word in re.findall(r"\w+", query.lower()) if len(word) > 2} or {query.lower()}
    scores = {ref: sum(word in record.text.lower() for word in words) for ref, record in records.items()}
    return sorted((ref for ref, score in scores.items() if score), key=lambda ref: (-scores[ref], ref))


def _sum(records: dict[str, MemoryRecord], measured: dict[str, Any]) -> int:
    return sum(_tokens(records, refs) for refs in measured["returned"].values())


def _tokens(records: dict[str, MemoryRecord], refs: Sequence[str]) -> int:
    return sum(estimate_tokens(records[ref].text) for ref in refs)


def _cards(records: dict[str, MemoryRecord], refs: Sequence[str]) -> int:
    """What cards cost: a summary and its ref each."""
    return sum(estimate_tokens(f"{records[ref].summary}\n  {ref}\n") for ref in refs)


def _cold(layout: StoreLayout, query: str) -> float:
    """A search in a new process, start included; the best of three."""
    line = [
        sys.executable,
        "-I",  # a folder called cam in the current one is not this program
        "-m",
        "cam",
        "recall",
        "search",
        query,
        "--state",
        "all",
        f"--memory-root={layout.root}",
    ]
    best = float("inf")
    for _ in range(3):
        at = time.perf_counter()
        subprocess.run(line, capture_output=True, check=False)
        best = min(best, time.perf_counter() - at)
    return best


def _disk_bytes(layout: StoreLayout) -> int:
    folder = layout.cache_file("recall")
    names = os.listdir(folder) if os.path.isdir(folder) else ()
    return sum(os.stat(os.path.join(folder, name)).st_size for name in names)


def _peak_bytes() -> int:
    """The process's largest memory; the system counts kilobytes, but for macOS."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
