"""Modes of sessions: how much is measured, and when it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, TypeVar, cast

from tritonx.profiler.errors import BadProfile, one_of
from tritonx.profiler.writing import FORMATS


class _Spelled(Enum):
    def __str__(self) -> str:
        return str(self.value)


class MetricType(_Spelled):
    """What a region of a kernel is measured in.

    >>> from tritonx.profiler.mode import MetricType
    >>> str(MetricType.CYCLE)
    'cycle'
    """

    CYCLE = "cycle"
    TIME = "time"
    """Nanoseconds. Triton has no such."""


class BufferStrategy(_Spelled):
    """What happens to records that a buffer has no room for: the oldest go, or the buffer is emptied, which ``start``
    refuses.

    >>> from tritonx.profiler.mode import BufferStrategy
    >>> str(BufferStrategy.CIRCULAR)
    'circular'
    """

    CIRCULAR = "circular"
    FLUSH = "flush"


class BufferType(_Spelled):
    """Where records are kept while the kernel runs: here in global memory, whatever is asked for.

    >>> from tritonx.profiler.mode import BufferType
    >>> str(BufferType.GLOBAL)
    'global'
    """

    SHARED = "shared"
    GLOBAL = "global"


class SamplingStrategy(_Spelled):
    """Whose records are kept.

    >>> from tritonx.profiler.mode import SamplingStrategy
    >>> str(SamplingStrategy.NONE)
    'none'
    """

    NONE = "none"
    SELECTIVE = "selective"


class Granularity(_Spelled):
    """Who makes a record. ``start`` takes warps alone.

    >>> from tritonx.profiler.mode import Granularity
    >>> str(Granularity.WARP)
    'warp'
    """

    CTA = "cta"
    WARP = "warp"
    WARP_2 = "warp_2"
    WARP_4 = "warp_4"
    WARP_8 = "warp_8"
    WARP_GROUP = "warp_group"
    WARP_GROUP_2 = "warp_group_2"
    WARP_GROUP_4 = "warp_group_4"
    WARP_GROUP_8 = "warp_group_8"


class Optimize(_Spelled):
    """How the cost of records is lowered: ``time_shift`` takes what they cost on a GPU out of traces
    (`tritonx.backends.api.Driver.region_record_ticks`). The others change nothing: a clock is read whole, and where it
    is stored the assembler decides.

    >>> from tritonx.profiler.mode import Optimize
    >>> str(Optimize.CLOCK32)
    'clock32'
    """

    TIMESHIFT = "time_shift"
    SCHED_STORES = "sched_stores"
    SCHED_BARRIERS = "sched_barriers"
    CLOCK32 = "clock32"


E = TypeVar("E", bound=_Spelled)


def _table(kind: type[E]) -> dict[str, E]:
    return {str(each): each for each in kind}


metric_types = _table(MetricType)
buffer_strategies = _table(BufferStrategy)
buffer_types = _table(BufferType)
sampling_strategies = _table(SamplingStrategy)
granularities = _table(Granularity)
optimizations = _table(Optimize)


@dataclass(frozen=True)
class BaseMode:
    """A mode; as text ``name:option=value:…``.

    >>> from tritonx.profiler.mode import BaseMode
    >>> BaseMode("mine").name
    'mine'
    """

    name: str


@dataclass(frozen=True)
class PCSampling(BaseMode):
    """Samples of the program counter. ``start`` refuses it: no timer here has them.

    >>> from tritonx.profiler.mode import PCSampling
    >>> str(PCSampling(interval=500))
    'pcsampling:interval=500'
    """

    name: str = field(default="pcsampling", init=False)
    interval: int = 1000

    def __post_init__(self) -> None:
        if type(cast(object, self.interval)) is not int or self.interval <= 0:
            raise BadProfile("Interval must be a positive integer.")

    def __str__(self) -> str:
        return f"{self.name}:interval={self.interval}"


@dataclass(frozen=True)
class PeriodicFlushing(BaseMode):
    """Phases are written, and forgotten, as soon as they are complete.

    >>> from tritonx.profiler.mode import PeriodicFlushing
    >>> str(PeriodicFlushing(format="hatchet"))
    'periodic_flushing:format=hatchet'
    """

    name: str = field(default="periodic_flushing", init=False)
    format: str = ""

    def __post_init__(self) -> None:
        if self.format != "":
            one_of("output format", self.format, tuple(FORMATS))

    def __str__(self) -> str:
        return f"{self.name}:format={self.format}" if self.format else self.name


@dataclass(frozen=True)
class InstrumentationMode(BaseMode):
    """Regions of kernels. Options may be given as text. ``sampling_options`` are the numbers of the warps that record
    (``"0,4"``), for the strategy "selective"; ``buffer_size`` is the bytes of a block for all of its warps, 0 lets each
    keep 256 records.

    >>> from tritonx.profiler.mode import Default
    >>> Default(granularity="cta").granularity
    <Granularity.CTA: 'cta'>
    """

    metric_type: MetricType = MetricType.CYCLE
    sampling_strategy: SamplingStrategy = SamplingStrategy.NONE
    sampling_options: str = ""
    granularity: Granularity = Granularity.WARP
    buffer_strategy: BufferStrategy = BufferStrategy.CIRCULAR
    buffer_type: BufferType = BufferType.SHARED
    buffer_size: int = 0
    optimizations: list[Optimize] = field(default_factory=list[Optimize])

    def __post_init__(self) -> None:
        for name, kind in (
            ("metric_type", MetricType),
            ("sampling_strategy", SamplingStrategy),
            ("granularity", Granularity),
            ("buffer_strategy", BufferStrategy),
            ("buffer_type", BufferType),
        ):
            value: object = getattr(self, name)
            if isinstance(value, str):
                object.__setattr__(self, name, _looked_up(name, value, kind))
            elif not isinstance(value, kind):
                raise BadProfile(f"{name} is one of {', '.join(map(repr, _table(kind)))}, got {value!r}")
        _check_size(self.buffer_size)
        if not isinstance(cast(object, self.sampling_options), str):
            raise BadProfile(f"sampling_options are numbers as text, as '0,4', got {self.sampling_options!r}")
        chosen: object = self.optimizations
        if isinstance(chosen, str):
            chosen = [each.strip() for each in chosen.split(",") if each]
        given = cast("Sequence[object]", chosen)
        if not isinstance(cast(object, given), list | tuple):
            raise BadProfile(f"optimizations are a list, got {given!r}")
        found = [e if isinstance(e, Optimize) else _looked_up("optimization", str(e), Optimize) for e in given]
        object.__setattr__(self, "optimizations", found)

    def __str__(self) -> str:
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "name"}
        values["optimizations"] = ",".join(map(str, self.optimizations))
        return ":".join([self.name, *(f"{name}={value}" for name, value in values.items())])


LARGEST_BUFFER = 1 << 30
"""Bytes of a block; a compile takes no more either."""


def _check_size(size: object) -> None:
    """Raises BadProfile."""
    if type(size) is not int or size < 0:
        raise BadProfile(f"buffer_size is a number of bytes, got {size!r}")
    if size > LARGEST_BUFFER:
        raise BadProfile(f"buffer_size is at most {LARGEST_BUFFER} bytes of a block")


def _looked_up(what: str, value: str, kind: type[_Spelled]) -> _Spelled:
    if value not in _table(kind):
        raise BadProfile(f"Unknown {what}: {value}")
    return kind(value)


@dataclass(frozen=True)
class Default(InstrumentationMode):
    """All regions.

    >>> from tritonx.profiler.mode import Default
    >>> Default().name
    'default'
    """

    name: str = field(default="default", init=False)


@dataclass(frozen=True)
class MMA(InstrumentationMode):
    """The same, under another name, as in Triton.

    >>> from tritonx.profiler.mode import MMA
    >>> MMA().name
    'mma'
    """

    name: str = field(default="mma", init=False)


def mode_of(given: str | BaseMode | None, backend: str | None) -> BaseMode | None:
    """What ``start`` was given, as a mode. Raises BadProfile for one that does not exist, or is not offered."""
    mode = _parsed(given) if isinstance(given, str) and given else given or None
    if mode is not None and not isinstance(cast(object, mode), BaseMode):
        raise BadProfile(f"a mode is text or an object of tritonx.profiler.mode, not {mode!r}")
    if backend == "instrumentation":
        mode = mode or Default()
        if not isinstance(mode, InstrumentationMode):
            raise BadProfile(
                f"mode {mode.name!r} is none of backend 'instrumentation'; it has {', '.join(_INSTRUMENTATION)}"
            )
        _check_offered(mode)
    elif isinstance(mode, InstrumentationMode):
        raise BadProfile(f"mode {mode.name!r} measures regions of kernels: start(backend='instrumentation')")
    if isinstance(mode, PCSampling):
        raise BadProfile("unsupported mode: pcsampling (sample with the vendor's profiler)")
    return mode


def _check_offered(mode: InstrumentationMode) -> None:
    """Raises BadProfile."""
    if mode.granularity is not Granularity.WARP:
        raise BadProfile(
            f"granularity {str(mode.granularity)!r} is not offered: each warp records (granularity='warp')"
        )
    if mode.buffer_strategy is not BufferStrategy.CIRCULAR:
        raise BadProfile("buffer_strategy 'flush' is not offered: the last records are kept ('circular')")
    sampled = [part.strip() for part in mode.sampling_options.split(",") if part.strip()]
    if mode.sampling_strategy is SamplingStrategy.SELECTIVE and not (sampled and all(map(str.isdecimal, sampled))):
        raise BadProfile(f"sampling_options {mode.sampling_options!r} are no numbers of warps, as in '0,4'")
    if mode.sampling_strategy is SamplingStrategy.NONE and sampled:
        raise BadProfile("sampling_options choose warps where sampling_strategy is 'selective'")


_INSTRUMENTATION = {"default": Default, "mma": MMA}
_OPTIONS = {
    "periodic_flushing": ("format",),
    "pcsampling": ("interval",),
    **dict.fromkeys(_INSTRUMENTATION, tuple(f.name for f in fields(InstrumentationMode) if f.name != "name")),
}
"""Name of a mode → its options."""


def _parsed(text: str) -> BaseMode:
    name, *parts = text.split(":")
    options: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise BadProfile(f"mode {text!r}: {part!r} is not option=value")
        options[key] = value
    known = _OPTIONS.get(name)
    if known is None:
        raise BadProfile(f"mode {name!r} is not known; there are {', '.join(map(repr, _OPTIONS))}")
    wrong = [key for key in options if key not in known]
    if wrong:
        raise BadProfile(f"mode {name!r} has no option {wrong[0]!r}")
    if name in _INSTRUMENTATION:
        return _instrumentation(_INSTRUMENTATION[name], options)
    return PeriodicFlushing(options.get("format", "")) if name == "periodic_flushing" else PCSampling()


def _instrumentation(kind: type[Default] | type[MMA], options: dict[str, str]) -> InstrumentationMode:
    given: dict[str, Any] = {key: value for key, value in options.items() if value}
    size = options.get("buffer_size") or "0"
    given["buffer_size"] = int(size) if size.isdecimal() and len(size) < 100 else size
    return kind(**given)
