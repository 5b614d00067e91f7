"""A session's data while it is there, by phase."""

from __future__ import annotations

from typing import Any

from tritonx.profiler import writing
from tritonx.profiler.errors import BadProfile
from tritonx.profiler.flags import flags
from tritonx.profiler.recorder import RECORDER


def _check(session: int, what: str) -> None:
    if flags.command_line and session != 0:
        raise BadProfile(f"Only one session can {what} when running from the command line.")


def _literal(session: int, phase: int) -> Any:
    _check(session, "be retrieved")
    RECORDER.collect(wait=True)
    found = RECORDER.session(session)
    return found.of_phase(phase).literal(found.devices)


def get(session: int | None = 0, phase: int = 0) -> Any:
    """The data of a phase as it would be written, the times of all launches included; None for no session. Raises
    UnknownSession.

    >>> tritonx.profiler.data.get(None) is None
    True
    """
    return None if session is None else _literal(session, phase)


def get_msgpack(session: int | None = 0, phase: int = 0) -> bytes | None:
    """The same, as MessagePack. Raises MissingPackage.

    >>> tritonx.profiler.data.get_msgpack(None) is None
    True
    """
    return None if session is None else writing.msgpack(_literal(session, phase))


def advance_phase(session: int | None = 0) -> int | None:
    """Begin a phase; its number. Periodic flushing waits for the one before where kernels of other libraries are
    counted. Raises CannotWrite.

    >>> tritonx.profiler.data.advance_phase(None) is None
    True
    """
    if session is None:
        return None
    _check(session, "advance phase")
    found = RECORDER.session(session)
    number = found.advance()
    RECORDER.renew()
    if found.flushes:
        RECORDER.settle(found, number - 1)
    else:
        RECORDER.collect(wait=False)
    return number


def is_phase_complete(session: int | None = 0, phase: int = 0) -> bool:
    """Whether nothing more comes to the phase, and the times of all its launches are known; where kernels of other
    libraries are counted, those of a phase that is over are waited for.

    >>> tritonx.profiler.data.is_phase_complete(None)
    False
    """
    if session is None:
        return False
    _check(session, "check phase completion status")
    found = RECORDER.session(session)
    RECORDER.settle(found, phase)
    return found.is_complete(phase)


def clear(session: int | None = 0, phase: int = 0, clear_up_to_phase: bool = False) -> None:
    """Forget the data of a phase, or of all up to it.

    >>> tritonx.profiler.data.clear(None)
    """
    if session is None:
        return
    _check(session, "be cleared")
    RECORDER.collect(wait=True)
    RECORDER.session(session).clear(phase, clear_up_to_phase)
    RECORDER.renew()
