"""One JSON object on one line, whatever texts it holds."""

import json
import re
from typing import Any


def dump_line(data: Any) -> str:
    """One JSON line that any reader splits right: no raw control character, no lone surrogate."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    if _SPLITS.search(text):
        text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text


_SPLITS = re.compile("[\ud800-\udfff\x7f\x85\u2028\u2029]")
