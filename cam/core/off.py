"""The switch of the environment: ``CAM_OFF``."""

from collections.abc import Mapping


def is_off(variables: Mapping[str, str]) -> bool:
    """Whether ``CAM_OFF`` switches cam off.

    Args:
        variables: of the environment.
    """
    return variables.get("CAM_OFF", "") not in ("", "0", "false", "no")
