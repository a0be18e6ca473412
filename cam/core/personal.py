"""Paths that say whose machine it is: a home folder with a person's name in it. Pure, linear in the text.

Names that stand for anybody (``/home/user``, ``/Users/<you>``, ``/home/$USER``) and accounts of services and
images (``runner``, ``ubuntu``, ``node``) say nothing of a person.
"""

import re
from dataclasses import dataclass
from functools import cache

from cam.core.secrets import around

NOBODY = frozenset(
    "user users username user-name user_name yourname your-name your_name yourusername your-username "
    "you me my myuser myname name someone somebody anyone nobody person people foo bar baz test "
    "tester example guest default public shared all home linuxbrew runner runneradmin ubuntu debian "
    "fedora centos arch alpine ec2-user azureuser vagrant docker node app application web www www- "
    "data nginx git jenkins circleci travis gitlab-runner builder build ci dev developer deploy "
    "deployer admin administrator root postgres mysql redis vscode codespace gitpod jovyan coder "
    "agent sandbox worker service svc host container containeradministrator xxx xxxx abc placeholder".split()
)
"""Names, in lower case, that stand for anybody or for a machine's account."""


@dataclass(frozen=True, slots=True)
class PersonalPath:
    """One path that names a person.

    Attributes:
        start: where the person's name begins, in characters.
        end: where it ends.
    """

    start: int
    end: int


def find_personal_paths(text: str, home: str = "") -> list[PersonalPath]:
    """Every path in ``text`` that names a person, in order, none overlapping another.

    Args:
        text: any text.
        home: the home folder of the person who asks; where it is an unusual one, it counts as well.
    """
    found = [
        PersonalPath(hit.start("name"), hit.end("name"))
        for begin, end in around(text, _MARKS, before=_REACH, after=2 * _REACH)
        for hit in _homes().finditer(text, begin, end)
        if hit["name"].lower() not in NOBODY
    ]
    home = home.rstrip("/")
    if home.count("/") >= 2 and not _homes().match(home + "/"):
        name = len(home.rsplit("/", 1)[0]) + 1
        at = text.find(home)
        while at >= 0:
            if not text[at + len(home) : at + len(home) + 1].isalnum():
                found.append(PersonalPath(at + name, at + len(home)))
            at = text.find(home, at + len(home))
    return sorted(found, key=lambda path: path.start)


_MARKS = ("Users", "home", "Documents and Settings")
"""One stands in every such path."""

_REACH = 80
"""Characters: a path begins no further before its mark, and its name ends within twice that behind."""


@cache
def _homes() -> re.Pattern[str]:
    """``/home/NAME`` needs something below it, since ``/home/settings`` is often an address on a site."""
    word = r"[^\W_](?:[\w.@+-]{0,62}\w)?"
    before = r"(?<![\w.$}~)\]/-])(?:/private|/var|/mnt/[a-z]|/[a-z]|/host|/export|/Volumes/[\w ]{1,40})?"
    windows = r"(?<![A-Za-z])[A-Za-z]:[\\/]{1,4}(?:Users|Documents and Settings)[\\/]{1,4}"
    link = r"file:/{2,3}(?:[A-Za-z]:/)?"
    return re.compile(
        rf"(?:(?:{before}/|{link})Users/|{windows}|(?:{before}/|{link})home/(?={word}/))"
        rf"(?P<name>{word})(?![\w@$%{{<*])"
    )
