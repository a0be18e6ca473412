"""One tree of expected failures; each carries its error code and exit code (docs/cli.md)."""


class CamError(Exception):
    """An expected failure: what happened, where, and what to do, in one line.

    Attributes:
        code: machine-readable word for the answer envelope.
        exit_code: what the process returns.
    """

    code = "internal_error"
    exit_code = 1


class NotFoundError(CamError):
    """Something named by the caller does not exist."""

    code = "not_found"
    exit_code = 3


class InvalidInputError(CamError):
    """The call's words are off."""

    code = "invalid_input"
    exit_code = 4


class IntegrityError(CamError):
    """The store breaks one of its own rules."""

    code = "integrity_error"
    exit_code = 4


class WriteRefusedError(CamError):
    """A rule forbids this write."""

    code = "write_refused"
    exit_code = 5


class GovernanceRefusedError(WriteRefusedError):
    """An agent may not overturn what a person said, nor take text away."""

    code = "governance_refused"


class DoubledIdError(IntegrityError):
    """One id stands more than once in a scope and topic: what is to be changed is not said.

    Attributes:
        keys: scope, topic and id of each.
    """

    def __init__(self, message: str, keys: frozenset[tuple[str, str, str]]) -> None:
        super().__init__(message)
        self.keys = keys


class StoreUnavailableError(CamError):
    """The machine refused: disk full, permission, I/O error, lock not obtained."""

    code = "store_unavailable"
    exit_code = 1


class StalePlanError(CamError):
    """What a plan was made from has changed since; the caller plans again."""

    code = "stale_plan"
    exit_code = 1
