"""Metrics: numbers by name that a scope or a launch carries, and how those of one place add up."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, cast

from tritonx.profiler.errors import BadProfile, MetricMismatch
from tritonx.profiler.stack import program_level
from tritonx.profiler.tensor_metric import TensorMetric, is_remote, of_array
from tritonx.runtime import driver
from tritonx.runtime.errors import TimesLost

FLOPS_WIDTHS = (8, 16, 32, 64)
"""Bits of the operands that ``flops8`` to ``flops64`` count operations on."""

FLOATS = frozenset({"flops", *(f"flops{width}" for width in FLOPS_WIDTHS)})
"""Metrics that are floats whatever they are given as; ``bytes`` is an integer."""

EXCLUSIVE = "(exc)"
"""What the name of a metric ends in that a scope does not add up over those inside of it."""

PROPERTY = "(pty)"
"""What the name of a metric ends in whose last value counts: it adds up over nothing."""

Number = int | float
Value = Number | list[Number]


def _number(name: str, value: Any) -> Number:
    if hasattr(value, "item"):  # a scalar of an array library
        value = value.item()
    if not isinstance(value, int | float):
        raise BadProfile(f"metric {name!r} is a {type(value).__name__}; metrics are numbers and sequences of numbers")
    if name in FLOATS:
        return float(value)
    return int(value) if name == "bytes" or isinstance(value, bool) else value


def number_or_list(name: str, value: Any) -> Value:
    """``value`` as a number or a list of numbers. An array of a device is copied to the host, which waits for it."""
    if type(value) is int:
        return float(value) if name in FLOATS else value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        found = [_number(name, each) for each in cast("Sequence[Any]", value)]
        return found[0] if len(found) == 1 else found
    return _number(name, value)


def checked(metrics: object) -> dict[str, Value]:
    """Metrics with their values as numbers and lists of numbers. Raises BadProfile."""
    found: dict[str, Value] = {}
    given = cast("Mapping[object, Any]", metrics)
    if not isinstance(metrics, Mapping) or not all(isinstance(name, str) for name in given):
        raise BadProfile(f"metrics are values by name, not {metrics!r}")
    for name, value in cast("Mapping[str, Any]", given).items():
        if _is_left_out(name, value):
            continue
        found[name] = value if type(value) is float and name != "bytes" else number_or_list(name, value)
    return found


def _is_left_out(name: str, value: object) -> bool:
    """Whether it is in a device's memory while launches are recorded: to read it would end the recording."""
    if type(value) in (int, float) or not is_remote(value) or not driver.get_active().implementation.is_recording():
        return False
    why = f"metric {name!r} is in a device's memory and has no value while a graph is recorded: it is left out"
    warnings.warn(why, TimesLost, stacklevel=program_level())
    return True


_NO_METRICS = frozenset({"name", "function", "stream"})
"""Of what a launch's metadata say."""


def of_launch(said: Mapping[str, object]) -> dict[str, Value]:
    """The metrics among a launch's metadata: numbers, and arrays of them. Raises BadProfile."""
    found: dict[str, Value] = {}
    for name, value in said.items():
        if name not in _NO_METRICS and is_metric(value) and not _is_left_out(name, value):
            found[name] = number_or_list(name, value)
    return found


def transform_tensor_metrics(metrics: Mapping[str, object]) -> tuple[dict[str, Value], dict[str, TensorMetric]]:
    """Metrics as numbers and lists of numbers, and those that a device has as where they are. Raises BadProfile.

    >>> from tritonx.profiler.metric import transform_tensor_metrics
    >>> transform_tensor_metrics({"flops": 1, "bytes": 3.0, "sizes": [1, 2]})
    ({'flops': 1.0, 'bytes': 3, 'sizes': [1, 2]}, {})
    """
    floats = {**dict.fromkeys(FLOATS, True), "bytes": False}
    remote = {name: of_array(value, floats=floats.get(name)) for name, value in metrics.items() if is_remote(value)}
    return checked({name: value for name, value in metrics.items() if name not in remote}), remote


def is_metric(value: object) -> bool:
    """Whether a value of a launch's metadata is one: numbers, and arrays of them."""
    return isinstance(value, int | float) or hasattr(value, "data_ptr") or hasattr(value, "tolist")


def add(sums: MutableMapping[str, Value], metrics: Mapping[str, Value]) -> None:
    """Add ``metrics`` to ``sums``, lists by element. Raises MetricMismatch, and nothing is added then."""
    for name, value in metrics.items():
        before = sums.get(name)
        if before is not None and (type(value) is list or type(before) is not type(value)):
            _check_alike([*sums].index(name), name, before, value)
    for name, value in metrics.items():
        before = sums.get(name)
        if before is None:
            sums[name] = value
        elif name.endswith(PROPERTY):
            sums[name] = value
        elif isinstance(before, list):
            assert isinstance(value, list)
            sums[name] = [a + b for a, b in zip(before, value, strict=True)]
        else:
            assert not isinstance(value, list)
            sums[name] = before + value


def written_name(name: str) -> str:
    """As a profile has it, without what says how the metric adds up."""
    return name.removesuffix(EXCLUSIVE).removesuffix(PROPERTY).strip()


def _check_alike(number: int, name: str, before: Value, value: Value) -> None:
    """``number`` is the metric's in its scope."""
    if not isinstance(before, list) and not isinstance(value, list):
        was, now = ("double" if isinstance(v, float) else "int64_t" for v in (before, value))
        raise MetricMismatch(f"Metric value type mismatch for valueId {number} ({name}): current={was}, new={now}")
    was, now = (f"a list of {len(v)}" if isinstance(v, list) else "a number" for v in (before, value))
    if was != now:
        raise MetricMismatch(f"metric {name!r} was {was} in this scope and is {now} now")
