"""Settings files: YAML, and the predecessor's JSON; each key with its line."""

from typing import Any

from cam.core.settings import Layer


def parse_settings(text: str, path: str, layer: str) -> Layer:
    """Read a settings file; what is wrong with the whole file is the layer's warning.

    Args:
        text: its content; JSON is YAML enough.
        path: named in places and warnings.
        layer: the layer's name.
    """
    import yaml  # noqa: PLC0415 - only where a settings file exists

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 0
        what = getattr(error, "problem", None) or "it is not YAML"
        return Layer(layer, {}, {}, f"{path}:{line}: the file cannot be read: {what}; it is ignored")
    except (ValueError, RecursionError) as error:
        return Layer(layer, {}, {}, f"{path}: the file cannot be read: {error}; it is ignored")
    if data is None:
        return Layer(layer, {}, {})
    if not isinstance(data, dict) or not isinstance(node, yaml.MappingNode):
        return Layer(layer, {}, {}, f"{path}:1: settings are 'name: value' lines; the file is ignored")
    places = {str(key.value): f"{path}:{key.start_mark.line + 1}" for key, _ in node.value}
    return Layer(layer, {str(k): v for k, v in data.items()}, places)


def set_value(text: str, name: str, value: Any) -> str:
    """The YAML text with one top-level setting changed or added; every other line stays as it is.

    Raises:
        ValueError: the text is written in a way in which that cannot be done.
    """
    import yaml  # noqa: PLC0415

    rendered = yaml.safe_dump({name: value}, allow_unicode=True, default_flow_style=False, width=10_000)
    lines = text.splitlines(keepends=True)
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for key, item in getattr(node, "value", ()):
        if key.value == name:
            end = item.end_mark.line + (1 if item.end_mark.column else 0)
            rest = "".join(lines[max(end, key.start_mark.line + 1) :])
            changed = "".join(lines[: key.start_mark.line]) + rendered + rest
            break
    else:
        changed = text + ("" if not text or text.endswith("\n") else "\n") + rendered
    try:
        wanted = {**(yaml.safe_load(text) or {}), name: value}
        if yaml.safe_load(changed) == wanted:
            return changed
    except yaml.YAMLError:
        pass
    raise ValueError("its lines are not of the form 'name: value'")
