"""Which cam this is."""

import os

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def release() -> str:
    """The installed release."""
    from importlib.metadata import version

    return version("codex-auto-memory")


def commit() -> str:
    """The commit it was built from; in a checkout the one that is checked out; "" where neither is known."""
    from cam.system.files import read_bytes

    noted = read_bytes(os.path.join(_PACKAGE, "commit.txt"))
    if noted is not None:
        return noted.decode("ascii", "replace").strip()
    root = os.path.dirname(_PACKAGE)
    if not os.path.exists(os.path.join(root, ".git")):
        return ""
    from cam.system.git import head_commit

    return head_commit(root)
