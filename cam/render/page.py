"""A page of the documentation as plain text for a terminal: the same words, without Markdown's signs."""

import re

_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_FENCE = re.compile(r"\s*```")
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_RULE = re.compile(r"\|[\s|:-]*\|$")
_BREAK = re.compile(r"(?<!\\)\|")


def page_text(markdown: str) -> str:
    """The page: headings bare, table rows as a name with its text below, code and lists as they are."""
    lines: list[str] = []
    paragraph: list[str] = []
    in_code = False

    def flush() -> None:
        if paragraph:
            lines.append(" ".join(paragraph))
            paragraph.clear()

    rows = _COMMENT.sub("", markdown).splitlines()
    for line, below in zip(rows, [*rows, ""][1:], strict=True):
        if _FENCE.match(line):
            flush()
            in_code = not in_code
        elif in_code:
            lines.append(f"    {line}".rstrip())
        elif line.startswith("|"):
            flush()
            is_bare = _RULE.match(below) and not line.strip("| ").count(
                "|"
            )  # a heading of one word says little
            lines += [] if is_bare or _RULE.match(line) else _row(line)
        elif line.startswith("#"):
            flush()
            title = _plain(line.lstrip("#").strip())
            lines.append(title.upper() if line.startswith("# ") else title)
        elif not line.strip() or re.match(r"\s*(?:[-*]|\d+\.) ", line):
            flush()
            paragraph += [_plain(line.rstrip())] if line.strip() else []
            lines += [] if line.strip() else [""]
        else:
            paragraph.append(_plain(line.strip() if paragraph else line.rstrip()))
    flush()
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def _row(line: str) -> list[str]:
    cells = [_plain(cell.strip().replace("\\|", "|")) for cell in _BREAK.split(line.strip().strip("|"))]
    named, *rest = cells
    text = " · ".join(cell for cell in rest if cell)
    if not named and not text:
        return []
    return [f"  {named}", *([f"      {text}"] if text else [])]


def _plain(text: str) -> str:
    text = _LINK.sub(r"\1", text)
    return re.sub(r"\*\*([^*]+)\*\*|`([^`]+)`", lambda hit: hit[1] or hit[2], text)
