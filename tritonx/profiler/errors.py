"""What a user of the profiler can catch."""

from __future__ import annotations

from tritonx.runtime.errors import TritonError


class ProfilerError(TritonError):
    """The base of the profiler's errors.

    >>> issubclass(ProfilerError, tritonx.TritonError)
    True
    """


class UnknownSession(ProfilerError, IndexError):
    """There is no session, or no phase of it, of this number.

    >>> try:
    ...     tritonx.profiler.activate(1000)
    ... except UnknownSession as error:
    ...     print(error)
    Session has not been initialized: 1000 (or it is finalized)
    """


class AnotherHook(ProfilerError, RuntimeError):
    """There is one hook already where only one can be active.

    >>> issubclass(AnotherHook, RuntimeError)
    True
    """


class BadProfile(ProfilerError, ValueError):
    """What was asked for does not exist: a context, a kind of data, a backend, a mode, a format, a metric.

    >>> try:
    ...     tritonx.profiler.start("example", data="table")
    ... except BadProfile as error:
    ...     print(error)
    data 'table' is not known; there are 'tree' and 'trace'
    """


class MetricMismatch(ProfilerError, ValueError):
    """A metric of a scope was an integer, a float or a list before and is another of them now, or a list of another
    length.

    >>> session = tritonx.profiler.start("example")
    >>> try:
    ...     for value in (1.0, 1):
    ...         with tritonx.profiler.scope("step", {"a": value}):
    ...             pass
    ... except MetricMismatch as error:
    ...     print(error)
    Metric value type mismatch for valueId 0 (a): current=double, new=int64_t
    >>> from tritonx.profiler.recorder import RECORDER
    >>> RECORDER.forget(session)
    """


class CannotWrite(ProfilerError, OSError):
    """A profile could not be written; the session is kept, so that ``finalize`` can be called again.

    >>> issubclass(CannotWrite, OSError)
    True
    """


class MissingPackage(ProfilerError, ImportError):
    """A package is not installed that this needs and nothing else does.

    >>> issubclass(MissingPackage, ImportError)
    True
    """


class RecordsDropped(UserWarning):
    """A warp has made more records of its regions than it keeps.

    >>> issubclass(RecordsDropped, Warning)
    True
    """


def one_of(what: str, given: object, known: tuple[str, ...]) -> str:
    """``given`` if it is one of ``known``. Raises BadProfile."""
    if given not in known:
        listed = " and ".join(map(repr, known)) if len(known) < 3 else ", ".join(map(repr, known))
        raise BadProfile(f"{what} {given!r} is not known; there {'are' if len(known) > 1 else 'is'} {listed}")
    assert isinstance(given, str)
    return given
