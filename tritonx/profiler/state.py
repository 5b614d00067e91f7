"""States: a name for what the program is doing, which is between the scopes and the launches."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, Self, TypeVar

from tritonx.profiler.stack import METADATA, METADATA_PREFIX, current

P = ParamSpec("P")
T = TypeVar("T")

COMPUTE_METADATA_SCOPE_NAME = METADATA
COMPUTE_METADATA_SCOPE_PREFIX = METADATA_PREFIX


class state:
    """A context manager and a decorator. A state replaces the one around it, in all active sessions.

    >>> with tritonx.profiler.state("warm-up"):
    ...     compiled = double[(1,)](np.zeros(8), BLOCK=8)
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> Self:
        enter_state(self.name)
        return self

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        exit_state()

    def __call__(self, func: Callable[P, T]) -> Callable[P, T]:
        @wraps(func)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
            enter_state(self.name)
            try:
                return func(*args, **kwargs)
            finally:
                exit_state()

        return wrapper


class metadata_state(state):
    """The state in which metadata of launches is computed, of ``kernel_name`` or of any.

    >>> tritonx.profiler.metadata_state("double").name
    '__proton_launch_metadata:double'
    """

    def __init__(self, kernel_name: str | None = None) -> None:
        super().__init__(get_metadata_state_name(kernel_name))


def enter_state(name: str) -> None:
    """Begin a state.

    >>> tritonx.profiler.enter_state("warm-up")
    >>> tritonx.profiler.exit_state()
    """
    current().push_state(name)


def exit_state() -> None:
    """End the innermost state, if there is one.

    >>> tritonx.profiler.exit_state()
    """
    current().pop_state()


def get_metadata_state_name(kernel_name: str | None = None) -> str:
    """The name of `metadata_state`.

    >>> from tritonx.profiler.state import get_metadata_state_name
    >>> get_metadata_state_name()
    '__proton_launch_metadata'
    """
    return COMPUTE_METADATA_SCOPE_PREFIX + kernel_name if kernel_name else COMPUTE_METADATA_SCOPE_NAME
