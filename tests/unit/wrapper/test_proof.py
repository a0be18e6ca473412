"""What of the user's command line the proof tries: nothing that starts their programs or leads elsewhere."""

from cam.wrapper.arguments import parse_arguments
from cam.wrapper.proof import _flags


def test_only_what_decides_about_the_way_in_is_tried() -> None:
    ours = [
        *("-c", "features.hooks=false", "-c", 'developer_instructions="x"', "-c", "model_context_window=9"),
        *("--enable", "hooks"),
    ]
    theirs = (
        "mcp_servers.x.command='evil'",
        "notify=['evil']",
        "otel.exporter='x'",
        "openai_base_url='http://x'",
    )
    words = [*ours, *(word for setting in theirs for word in ("-c", setting))]
    kept = _flags(parse_arguments(["exec", *words, "hello"]))
    assert kept == [word.replace("-c", "--config") if word == "-c" else word for word in ours]
