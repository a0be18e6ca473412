"""Writing settings files: one value changed, everything else as it was."""

import os
import stat

from cam.core.errors import IntegrityError, InvalidInputError, WriteRefusedError
from cam.core.settings import BY_NAME
from cam.formats.settings_file import parse_settings, set_value
from cam.store.identity import Project
from cam.store.settings import LOCAL_FILE, SHARED_FILE, behind_link
from cam.system.environment import Environment
from cam.system.files import read_bytes, write_atomic

USER_TEMPLATE = """\
# Settings of cam for all your repositories; 'cam config list' shows what holds and where it comes from.
"""

SHARED_TEMPLATE = """\
# Settings of cam that everybody who works in this repository shares.
# Paths, programs and anything that moves data may not be set here.
"""

_TEMPLATES = {
    "user": USER_TEMPLATE,
    "project": SHARED_TEMPLATE,
    "local": "# Settings of cam for this checkout alone.\n",
}


def settings_path(environment: Environment, project: Project | None, where: str) -> str:
    """The settings file of a layer; of the user's one that is a link, what it leads to.

    Raises:
        IntegrityError: the user's file is a link that leads to nothing.
        InvalidInputError: there is no such layer, or no project here.
    """
    if where == "user":
        return behind_link(environment.settings_file)
    if where not in _TEMPLATES:
        raise InvalidInputError(f"no settings file {where!r}; there are user, project and local")
    if project is None:
        raise InvalidInputError("there is no project here (the home folder and / have none); use --in user")
    return os.path.join(project.root, SHARED_FILE if where == "project" else LOCAL_FILE)


def ensure_settings(path: str, where: str) -> bool:
    """Create the settings file with its one comment; False if it was there.

    Raises:
        CamError: it cannot be written.
    """
    if read_bytes(path) is not None:
        return False
    write_atomic(path, _TEMPLATES[where].encode())
    if where == "project":
        os.chmod(path, 0o644)  # it is shared
    return True


def change_setting(path: str, where: str, name: str, value: str) -> None:
    """Set one value in a settings file; comments, order, permissions and everything else stay.

    Raises:
        InvalidInputError: the value is not allowed.
        WriteRefusedError: the shared file may not hold this setting.
        IntegrityError: the file cannot be read as settings; it is left alone.
    """
    setting = BY_NAME[name]
    if where == "project" and not setting.shared:
        raise WriteRefusedError(f"{name} may not be set for everybody; use --in user or --in local")
    try:
        checked = setting.check(value)
    except ValueError as error:
        raise InvalidInputError(f"{name} must be {error}") from None
    ensure_settings(path, where)
    mode = stat.S_IMODE(os.stat(path).st_mode)
    text = (read_bytes(path) or _TEMPLATES[where].encode()).decode("utf-8", "surrogateescape")
    layer = parse_settings(text, path, where)
    if layer.warning:
        raise IntegrityError(f"{layer.warning}; mend it first: cam config edit --in {where}")
    plain = list(checked) if isinstance(checked, tuple) else checked
    try:
        changed = set_value(text, name, plain)
    except ValueError as error:
        raise IntegrityError(f"{path}: {error}; change it by hand: cam config edit --in {where}") from None
    write_atomic(path, changed.encode("utf-8", "surrogateescape"))
    os.chmod(path, mode)
