"""A merge on its way into the store: noted in the journal first, so that a crash leaves nothing half done.

What is put into place stands in a commit that nothing leads to yet. The journal file names it; whoever opens
the store next does the rest, and what was edited meanwhile is merged, as at any time.
"""

import json
import os

from cam.core.errors import StoreUnavailableError
from cam.formats.json_line import dump_line
from cam.store.git_kept import changed_files, files_at, git, is_kept, try_git
from cam.store.git_merge import merge_file
from cam.store.layout import StoreLayout
from cam.store.shadow import write_shadow
from cam.system.files import exchange, remove_file, require_writable, stage_file, take_away, write_atomic


def put_merge(root: str, head: str, merged: str) -> None:
    """Put what ``merged`` made of ``head`` into place, whole or not at all. The lock is held.

    Args:
        root: the store.
        head: the commit that stands in the store.
        merged: the one that shall.

    Raises:
        IntegrityError: something that is no regular file is in the way; nothing was changed.
        WriteRefusedError: a file is read-only; nothing was changed.
        StoreUnavailableError: git or the machine refuses; what is missing is done when the store is opened.
    """
    for name in changed_files(root, head, merged):
        require_writable(os.path.join(root, name))
    data = dump_line({"head": head, "merged": merged}).encode()
    journal = os.path.join(StoreLayout(root).journal_folder, f"git-{merged}.merge")
    write_atomic(journal, data)
    finish(root, data)
    remove_file(journal)


def finish(root: str, journal: bytes) -> None:
    """Bring the store to the state of a merge, however far an earlier try came. The lock is held.

    Nothing is done where the repository does not know the merge any more: a sync makes it again.

    Raises:
        StoreUnavailableError: git or the machine refuses.
    """
    try:
        data = json.loads(journal)
        head, merged = str(data["head"]), str(data["merged"])
    except (ValueError, KeyError, TypeError):
        return
    if not is_kept(root) or not all(_is_commit(root, name) for name in (head, merged)):
        return
    names = changed_files(root, head, merged)
    try:
        old, new = files_at(root, head, names), files_at(root, merged, names)
    except StoreUnavailableError:
        return  # a power cut took objects along
    for name in sorted(names, key=lambda name: (not _gains(old[name], new[name]), name)):
        _put(root, name, old[name], new[name])
    if try_git(root, "merge-base", "--is-ancestor", "HEAD", merged)[0] == 0:
        git(root, "reset", "-q", "--mixed", merged)


def _put(root: str, name: str, old: bytes | None, new: bytes | None) -> None:
    """Put one file into place; what an editor saves meanwhile is merged."""
    path = os.path.join(root, name)
    while True:
        found = take_away(path) if new is None else exchange(stage_file(path, new, "git"), path)
        if found in (None, old, new):
            break
        assert found is not None
        old, new = new, merge_file(name, old or b"", new or b"", found) or found
    if name.endswith(".md"):
        write_shadow(StoreLayout(root), path, new)


def _gains(old: bytes | None, new: bytes | None) -> bool:
    """Whether a file gets something: it comes first, so that what moves is seen twice, never not at all."""
    return len(new or b"") > len(old or b"")


def _is_commit(root: str, name: str) -> bool:
    return try_git(root, "cat-file", "-e", f"{name}^{{commit}}")[0] == 0
