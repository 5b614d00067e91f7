"""Starting and ending sessions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from tritonx.profiler.errors import BadProfile, CannotWrite, one_of
from tritonx.profiler.flags import flags
from tritonx.profiler.hooks import Hook, HookManager, LaunchHook
from tritonx.profiler.mode import BaseMode, mode_of
from tritonx.profiler.profilers import of_backend
from tritonx.profiler.recorder import RECORDER
from tritonx.profiler.session import CONTEXTS, DATA, INSTRUMENTATION, Asked, check_format
from tritonx.runtime import driver, knobs

DEFAULT_PROFILE_NAME = "proton"


def start(
    name: str | None = None,
    *,
    context: str | None = "shadow",
    data: str | None = "tree",
    backend: str | None = None,
    mode: str | BaseMode | None = None,
    hook: str | Hook | None = None,
) -> int | None:
    """Begin a session, which is active; its number. A session of this name that is there is activated again.

    ``name``: the path of the output file without its suffix. ``context``: "shadow" counts launches to the scopes of the
    program, "python" to its call stack. ``data``: "tree" adds up, "trace" keeps every launch and scope with its time.
    ``backend``: the way in which the device's driver times launches (`tritonx.backends.api.Driver.launch_timers`), by
    default its best one; "instrumentation" is that and measures regions inside of kernels
    (`tritonx.profiler.language`), which are then compiled with records of them. ``mode``: "periodic_flushing", which
    writes phases as they are complete; of "instrumentation" one of `tritonx.profiler.mode`, or its text. ``hook``:
    "triton" asks each kernel's ``launch_metadata`` for a name and metrics.

    None, and no session, in a program that the command ``proton`` runs, or where ``knobs.proton.disable`` is set.
    Raises BadProfile.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     session = tritonx.profiler.start(os.path.join(folder, "example"))
    ...     compiled = double[(1,)](np.zeros(8), BLOCK=8)
    ...     tritonx.profiler.finalize(session)
    ...     print(os.listdir(folder))
    ['example.hatchet']
    """
    if flags.command_line or knobs.proton.disable:
        return None
    if hook is not None and hook != "triton" and not isinstance(hook, Hook):
        raise BadProfile(f"hook {hook!r} is not known; there are 'triton' and instances of Hook")
    session = begin(name, context, data, backend, mode)
    if hook is not None:
        HookManager.register(hook if isinstance(hook, Hook) else LaunchHook(), session)
    return session


def begin(
    name: str | None, context: str | None, data: str | None, backend: str | None, mode: str | BaseMode | None
) -> int:
    """`start` without hooks, whatever the command and the settings say. Raises BadProfile."""
    chosen = mode_of(mode, backend)
    asked = Asked(
        DEFAULT_PROFILE_NAME if name is None else str(name),
        one_of("context", context, CONTEXTS),
        one_of("data", data, tuple(DATA)),
        backend,
        chosen,
    )
    check_format(asked)
    if backend is not None:
        _check_backend(backend)
    return RECORDER.start(asked)


def select_backend() -> str:
    """Triton's name of what times launches of the active device (`tritonx.profiler.profilers`).

    >>> from tritonx.profiler.profile import select_backend
    >>> isinstance(select_backend(), str)
    True
    """
    return of_backend(driver.get_active().get_current_target().backend)


_select_backend = select_backend  # as Triton's tests call it


def _check_backend(asked: str) -> None:
    """Whether the active driver has such a timer. Raises BadProfile."""
    if asked == INSTRUMENTATION:
        return
    ways = driver.get_active().implementation.launch_timers()
    one_of("backend", asked, (*ways, INSTRUMENTATION))


def _in_command(session: int | None, what: str) -> None:
    """Raises BadProfile for another session than the command's own."""
    if flags.command_line and session != 0:
        raise BadProfile(f"Only one session can be {what} when running from the command line.")


def activate(session: int | None = None) -> None:
    """Go on with a session, or with all. Raises UnknownSession.

    >>> tritonx.profiler.activate()
    """
    _in_command(session, "activated")
    RECORDER.set_active(session, True)
    HookManager.activate(session)


def deactivate(session: int | None = None, flushing: bool = False) -> None:
    """Pause a session, or all; what it has is kept. With ``flushing`` the times of all launches are waited for. Raises
    UnknownSession.

    >>> tritonx.profiler.deactivate()
    """
    _in_command(session, "deactivated")
    RECORDER.set_active(session, False)
    HookManager.deactivate(session)
    RECORDER.collect(wait=flushing)


def finalize(session: int | None = None, output_format: str | None = "") -> None:
    """Wait for the times of all launches, write the file of a session, or of all, and end it; nothing for a session
    that has ended. ``output_format``: "hatchet" and "hatchet_msgpack" of trees, "chrome_trace" of traces. Raises
    BadProfile and CannotWrite; the session is there then as before.

    >>> tritonx.profiler.finalize()
    """
    if session is not None:
        _in_command(session, "finalized")
    if session is not None and session not in RECORDER.sessions:
        return
    RECORDER.collect(wait=True)
    failed: Exception | None = None
    for each in RECORDER.chosen(session):
        try:
            each.write(output_format)
        except (CannotWrite, BadProfile) as error:
            failed = failed or error
            continue
        HookManager.unregister(each.number)
        RECORDER.forget(each.number)
    if failed is not None:
        raise failed


def profile(
    func: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    context: str | None = "shadow",
    data: str | None = "tree",
    backend: str | None = None,
    mode: str | None = None,
    hook: str | Hook | None = None,
) -> Any:
    """A decorator: a session, as `start` begins it, is active in each call of the function.

    >>> @tritonx.profiler.profile(name="example")
    ... def step():
    ...     return tritonx.profiler.data.get(0) is not None
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            session = start(name, context=context, data=data, backend=backend, mode=mode, hook=hook)
            try:
                return function(*args, **kwargs)
            finally:
                if session is not None:
                    deactivate(session)

        return wrapper

    return decorated if func is None else decorated(func)
