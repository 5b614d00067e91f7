"""Triton's module ``triton._C.libproton.proton``: sessions, scopes and data of `tritonx.profiler` by numbers.

Nothing is refused or ignored for ``knobs.proton.disable`` or the command ``proton``, which `tritonx.profiler` heeds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tritonx import profiler
from tritonx.profiler import context, data, profilers, tensor_metric
from tritonx.profiler import enter_state as enter_state
from tritonx.profiler import exit_state as exit_state
from tritonx.profiler.flags import flags
from tritonx.profiler.metric import checked
from tritonx.profiler.ops import OPS
from tritonx.profiler.profile import begin
from tritonx.profiler.recorder import RECORDER
from tritonx.profiler.stack import NUMBERS
from tritonx.profiler.state import COMPUTE_METADATA_SCOPE_NAME, COMPUTE_METADATA_SCOPE_PREFIX
from tritonx.profiler.tensor_metric import TensorMetric as TensorMetric
from tritonx.runtime.errors import NotOffered

metadata_scope_name = COMPUTE_METADATA_SCOPE_NAME
metadata_scope_prefix = COMPUTE_METADATA_SCOPE_PREFIX
metric_type_int64_index = tensor_metric.INT64
metric_type_double_index = tensor_metric.DOUBLE
metric_type_vector_int64_index = tensor_metric.INT64_LIST
metric_type_vector_double_index = tensor_metric.DOUBLE_LIST

# ---- sessions


def start(path: str, contextSourceName: str, dataName: str, profilerName: str, mode: str = "") -> int:
    """Begin a session; its number. ``profilerName`` is one of `get_available_profilers`; Triton's are the best way of
    the active device. Raises BadProfile.

    >>> from tritonx._C.libproton import proton
    >>> session = proton.start("example", "shadow", "tree", "cupti")
    >>> proton.get_context_depth(session)
    0
    >>> tritonx.profiler.data.clear(session)
    >>> from tritonx.profiler.recorder import RECORDER
    >>> RECORDER.forget(session)
    """
    return begin(path, contextSourceName, dataName, profilers.way_of(profilerName), mode)


def activate(sessionId: int) -> None:
    """Raises UnknownSession."""
    profiler.activate(sessionId)


def activate_all() -> None:
    profiler.activate()


def deactivate(sessionId: int, flushing: bool) -> None:
    """Raises UnknownSession."""
    profiler.deactivate(sessionId, flushing)


def deactivate_all(flushing: bool) -> None:
    profiler.deactivate(None, flushing)


def finalize(sessionId: int, outputFormat: str) -> None:
    """Raises BadProfile, CannotWrite."""
    profiler.finalize(sessionId, outputFormat)


def finalize_all(outputFormat: str) -> None:
    """Raises BadProfile, CannotWrite."""
    profiler.finalize(None, outputFormat)


def get_available_profilers() -> list[str]:
    """Triton's names, and the ways in which launches of the active device can be timed."""
    return profilers.available()


def select_profiler_from_triton_backend(tritonBackend: str) -> str:
    """What times launches of a backend. Raises BadProfile."""
    return profilers.of_backend(tritonBackend)


# ---- scopes


def record_scope() -> int:
    """A number for a scope or an op, given once."""
    return next(NUMBERS)


def enter_scope(scopeId: int, name: str) -> None:
    """Begin a scope, in this thread; nothing without a session."""
    if flags.profiling_on:
        RECORDER.enter_scope(name, {}, number=scopeId)


def exit_scope(scopeId: int, name: str) -> None:
    """End it, and those inside of it that are open."""
    RECORDER.leave_scope(scopeId)


def enter_op(scopeId: int, name: str) -> None:
    """Launches of this thread have this name until `exit_op`."""
    OPS.enter(scopeId, name)


def exit_op(scopeId: int, name: str) -> None:
    """End it; an op without a launch counts as a scope."""
    OPS.exit(scopeId)


def add_metrics(
    scopeId: int, metrics: Mapping[str, object], tensorMetrics: Mapping[str, TensorMetric] | None = None
) -> None:
    """Add metrics to an open scope, or to the next launch of an op. Those in a device's memory are copied to the host
    at once. Raises BadProfile, MetricMismatch."""
    found = checked({**metrics, **{name: each.read() for name, each in (tensorMetrics or {}).items()}})
    if not OPS.add(scopeId, found):
        RECORDER.add(scopeId, found)


def set_metric_kernels(
    tensorMetricKernel: int,
    scalarMetricKernel: int,
    stream: int,
    tensorMetricKernelNumThreads: int = 1,
    tensorMetricKernelSharedMemBytes: int = 0,
    scalarMetricKernelNumThreads: int = 1,
    scalarMetricKernelSharedMemBytes: int = 0,
) -> None:
    """Kernels with which Triton's library copies metrics on a device. `add_metrics` launches none."""


# ---- regions of kernels


def init_function_metadata(
    functionId: int,
    functionName: str,
    scopeIdNames: Sequence[tuple[int, str]],
    scopeIdParents: Sequence[tuple[int, int]],
    metadataPath: str,
) -> None:
    """Say what the regions of a kernel are called. Raises NotOffered while regions are measured."""
    _refuse_while_measuring("init_function_metadata")


def destroy_function_metadata(functionId: int) -> None:
    """Forget them; nothing is kept."""


def enter_instrumented_op(streamId: int, functionId: int, buffer: int, size: int) -> None:
    """Say where a launch records its regions. Raises NotOffered while regions are measured."""
    _refuse_while_measuring("enter_instrumented_op")


def exit_instrumented_op(streamId: int, functionId: int, buffer: int, size: int) -> None:
    """Read what it has recorded. Raises NotOffered while regions are measured."""
    _refuse_while_measuring("exit_instrumented_op")


def _refuse_while_measuring(name: str) -> None:
    """Without a session that measures there is nothing to read, in Triton too."""
    if flags.instrumentation_on:
        raise NotOffered(
            f"tritonx does not offer triton._C.libproton.proton.{name}: launches hand over what they record"
        )


# ---- data


def get_context_depth(sessionId: int) -> int:
    """Raises UnknownSession."""
    RECORDER.session(sessionId)
    return context.depth(sessionId) or 0


def get_data(sessionId: int, phase: int) -> str:
    """JSON. Raises UnknownSession."""
    return json.dumps(data.get(sessionId, phase))


def get_data_msgpack(sessionId: int, phase: int) -> bytes:
    """Raises UnknownSession, MissingPackage."""
    return data.get_msgpack(sessionId, phase) or b""


def clear_data(sessionId: int, phase: int, clearUpToPhase: bool = False) -> None:
    """Raises UnknownSession."""
    data.clear(sessionId, phase, clearUpToPhase)


def advance_data_phase(sessionId: int) -> int:
    """The number of the phase that begins. Raises UnknownSession."""
    return data.advance_phase(sessionId) or 0


def is_data_phase_complete(sessionId: int, phase: int) -> bool:
    """Raises UnknownSession."""
    return data.is_phase_complete(sessionId, phase)
