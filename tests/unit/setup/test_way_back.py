"""The way back to a file's bytes before is exact, and holds nothing of what stayed."""

import json

from hypothesis import given
from hypothesis import strategies as st

from cam.setup.integrations.way_back import way_back, way_from_data, way_to_data

LINES = st.lists(st.sampled_from([b"", b"a", b"b\r", b"token = 'x'", b"[mcp]", b"\xff"]), max_size=12)
FILES = st.none() | LINES.map(b"\n".join)


@given(FILES, FILES)
def test_the_way_back_is_exact(before: bytes | None, after: bytes | None) -> None:
    way = way_from_data(json.loads(json.dumps(way_to_data(way_back(before, after)))))
    assert way.before(after) == before


def test_what_stands_between_two_pieces_is_not_kept() -> None:
    before = b'model = "x"\n\n[env]\ntoken = "sk-secret"\n\n[tail]\n'
    after = b'cam = 1\nmodel = "x"\n\n[env]\ntoken = "sk-secret"\n\n[mcp_servers.cam]\n\n[tail]\n# end\n'
    way = way_back(before, after)
    assert way.before(after) == before
    assert all(not line.strip() for _, _, old in way.parts for line in old)
