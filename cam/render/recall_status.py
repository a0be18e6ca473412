"""What there is to find, and whether it reads the same twice, for people and as data."""

from typing import Any

from cam.core.display import counted, one_line
from cam.recall.status import Rebuilt, Status
from cam.render.gc import size
from cam.render.records import problem_data


def status_data(status: Status) -> dict[str, Any]:
    """``recall status --json``."""
    return {
        "canonical": {"root": status.root, "records": status.records},
        "mode": "local-read-only",
        "active": status.active,
        "archived": status.records - status.active,
        "notes": status.notes,
        "files": status.files,
        "bytes": status.bytes,
        "index_policy": status.policy,
        "indexes": [
            {
                "scope": str(index.scope),
                "state": str(index.state),
                "records": index.records,
                "bytes": index.bytes,
                "fresh": index.is_fresh,
            }
            for index in status.indexes
        ],
        "problems": problem_data(status.problems),
        "problem_count": len(status.problems),
    }


def status_text(status: Status) -> str:
    """A line for what is there, and one for each index."""
    counts = (
        f"{counted(status.records, 'record')} ({status.active:,} active) and {counted(status.notes, 'note')}"
    )
    lines = [f"{counts} in {counted(status.files, 'file')}, {size(status.bytes)}: {status.root}"]
    if status.policy == "off":
        lines.append("no index is kept (recall_index is off)")
    elif not status.indexes:
        lines.append("no index yet: the next search makes one")
    lines += [
        f"  index {index.scope} {index.state}: {counted(index.records, 'record')}, "
        f"{size(index.bytes)}, " + ("fresh" if index.is_fresh else "renewed by the next search")
        for index in status.indexes
    ]
    return "\n".join(lines)


def rebuilt_data(rebuilt: Rebuilt) -> dict[str, Any]:
    """``recall rebuild --json``."""
    return {
        "format": "cam-recall-rebuild/v1",
        "canonical_digest": rebuilt.canonical,
        "rebuilt_digest": rebuilt.rebuilt,
        "index_digest": rebuilt.indexed,
        "equivalent": rebuilt.is_equivalent,
        "difference": rebuilt.difference or None,
        "records": rebuilt.records,
        "problems": problem_data(rebuilt.problems),
        "problem_count": len(rebuilt.problems),
    }


def rebuilt_text(rebuilt: Rebuilt) -> str:
    """The verdict, and the first difference where there is one."""
    if rebuilt.is_equivalent:
        compared = "read twice" if rebuilt.indexed is None else "read twice and held by the index"
        return f"{counted(rebuilt.records, 'record')}, {compared}: all the same\n  {rebuilt.canonical}"
    return f"Not the same: {rebuilt.difference}\nThe index was built anew from the files."


def benchmark_text(report: dict[str, Any], output: str) -> str:
    """A line for each way of answering, and the questions that recall missed."""
    lines = [f"{counted(report['labels'], 'label')}; the report is in {output}", ""]
    lines += [
        f"{config['name']:<14} recall@5 {config['recall_at_5']:.3f}  mrr {config['mrr']:.3f}  "
        f"{counted(config['injected_tokens'], 'token')}"
        for config in report["configs"]
    ]
    measured = report["measurements"]
    lines.append(
        f"95 % within {measured['p95_latency_ms']} ms, {measured['cold_process_ms']} ms in a new process"
    )
    lines += [f"missed: {one_line(miss['query'])}" for miss in report["misses"]]
    return "\n".join(lines)
