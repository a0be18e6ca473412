"""Unified diffs of one file, as ``git apply`` takes them: git's own header, then the hunks.

Lines end at line feeds alone; behind a last line without one stands the sentence that git knows.
"""

import difflib

_NO_END = "\\ No newline at end of file\n"


def render_diff(name: str, before: bytes | None, after: bytes) -> str:
    """The change of a file from ``before`` to ``after``; "" where nothing changes.

    Args:
        name: its path from the repository's root.
        before: its content, None where there is no file.
        after: its new content.

    Raises:
        UnicodeDecodeError: the content is not UTF-8.
    """
    if before == after:
        return ""
    old, new = _lines(before or b""), _lines(after)
    head = [f"diff --git a/{name} b/{name}\n"]
    if before is None:
        head.append("new file mode 100644\n")
    source = "/dev/null" if before is None else f"a/{name}"
    body = difflib.unified_diff(old, new, source, f"b/{name}")
    return "".join(head + [line if line.endswith("\n") else f"{line}\n{_NO_END}" for line in body])


def _lines(data: bytes) -> list[str]:
    parts = data.decode("utf-8").split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
