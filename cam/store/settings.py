"""Finding the settings: user, repository, local, environment, flags; later wins."""

import os
from collections.abc import Mapping
from contextlib import suppress

from cam.core.errors import CamError, IntegrityError
from cam.core.settings import SETTINGS, Layer, Settings, merge_settings
from cam.formats.settings_file import parse_settings
from cam.store.identity import Project
from cam.store.settings_cache import SettingsCache
from cam.store.stamps import stamp_of
from cam.system.environment import Environment
from cam.system.files import read_bytes
from cam.system.git import is_tracked

SHARED_FILE = "codex-auto-memory.yaml"
LOCAL_FILE = ".codex-auto-memory.local.yaml"


def load_settings(
    environment: Environment, project: Project | None, flags: Mapping[str, str] | None = None
) -> Settings:
    """Settings as they hold in ``project``.

    Args:
        environment: names the user's file and gives the variables.
        project: its root may hold a shared and a local file.
        flags: values from the command line.
    """
    cache = SettingsCache(environment.settings_cache)
    layers = [_file_layer(environment.settings_file, "user", cache)]
    if project is not None:
        layers.append(_file_layer(os.path.join(project.root, SHARED_FILE), "project", cache))
        layers.append(_local_layer(project, cache))
    variables = {
        s.name: environment.variables[s.variable] for s in SETTINGS if environment.variables.get(s.variable)
    }
    layers.append(Layer("environment", variables, {s.name: s.variable for s in SETTINGS}))
    layers.append(Layer("flag", flags or {}, dict.fromkeys(flags or {}, "flag")))
    return merge_settings(tuple(layers))


def behind_link(path: str) -> str:
    """The file that the user's settings file is: people who keep their dotfiles together make it a link.

    What lies in a repository is anybody's, so a link there is not followed.

    Raises:
        IntegrityError: it is a link that leads to nothing.
    """
    if not os.path.islink(path):
        return path
    real = os.path.realpath(path)
    if not os.path.exists(real):
        raise IntegrityError(
            f"{path}: this link leads to {real}, and nothing is there; make it, or a new link"
        )
    return real


def _file_layer(path: str, name: str, cache: SettingsCache) -> Layer:
    """The layer of a YAML file, or of the predecessor's JSON file where there is no YAML one."""
    for candidate in (path, path.removesuffix(".yaml") + ".json"):
        stamp, layer = None, None
        try:
            real = behind_link(candidate) if name == "user" else candidate
            with suppress(OSError):
                stamp = stamp_of(os.lstat(real))
                layer = cache.layer(candidate, stamp, name)
            if layer is not None:
                return layer
            data = read_bytes(real)
        except CamError as error:
            return Layer(name, {}, {}, f"{error}; the file is ignored")
        if data is not None:
            layer = parse_settings(data.decode("utf-8-sig", "replace"), candidate, name)
            if stamp is not None:
                cache.keep(candidate, stamp, layer)
            return layer
    return Layer(name, {}, {})


def _local_layer(project: Project, cache: SettingsCache) -> Layer:
    path = os.path.join(project.root, LOCAL_FILE)
    layer = _file_layer(path, "local", cache)
    if not layer.values or not project.is_git:
        return layer
    name = LOCAL_FILE if os.path.lexists(path) else LOCAL_FILE.removesuffix(".yaml") + ".json"
    if is_tracked(project.root, name):
        warning = "git tracks this file, so it may be somebody else's; it is ignored (git rm --cached it)"
        return Layer("local", {}, {}, f"{os.path.join(project.root, name)}: {warning}")
    return layer
