"""The one token estimate: UTF-8 bytes / 4, rounded up (docs/architecture.md)."""


def estimate_tokens(text: str) -> int:
    """Tokens that ``text`` costs a model, estimated; CJK counts three bytes a character."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)
