"""Running arranged cases: in the interpreter, on a backend's device, or, compiled only, for a target."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.context import Context

from tritonx.backends.api import Compilation, Options, Target, run_stages
from tritonx.backends.registry import parse_options
from tritonx.interpreter.ir_launch import Bound, bind
from tritonx.interpreter.machine import interpret
from tritonx.ir.text import print_module
from tritonx.ir.verify import verify
from tritonx.runtime import driver
from tritonx.runtime.arrays import to_device
from tritonx.runtime.compiling.compiler import compile
from tritonx.runtime.devices.drivers import driver_of
from tritonx_testing.conformance.arrangement import Arranged, Arrangement, Placed, arrange
from tritonx_testing.conformance.case import Array, Case
from tritonx_testing.conformance.device import BackendDevice, CompileOnly, Device, PythonLines, host_arguments
from tritonx_testing.conformance.pointer_groups import parameters
from tritonx_testing.conformance.rearrange import Rearrange, free_axis
from tritonx_testing.conformance.strides import Strides


class NotArranged(Exception):
    """Why a case cannot be tried in an arrangement."""


def check_arranged(case: Case, device: Device, seed: int, arrangement: Arrangement) -> None:
    """Run the case in the arrangement with fresh arguments; compiled only, look whether it compiles. Raises
    ``Mismatch``, ``NotArranged``, or whatever the compile or launch raises.
    """
    if isinstance(device, PythonLines):
        raise NotArranged("its Python lines are not rewritten, its tt is")
    arranged = fitted(case, arrangement, seed)
    if isinstance(device, CompileOnly | BackendDevice):
        options = parse_options(device.backend, device.target, arrangement.options(case))
        bound = rewritten(arranged, options, device.target)
        if isinstance(device, CompileOnly):
            stages = device.backend.stages(device.target, options)
            run_stages(bound.module, stages, Compilation(device.target, options))
            return
        arranged.check(_launch(arranged, bound, device, options))
        return
    bound = rewritten(arranged)
    interpret(bound.module, arranged.grid, bound.arguments, memory=bound.host.memory, arg_names=bound.names)
    bound.host.write_back()
    arranged.check([a.memory for a in arranged.args if isinstance(a, Placed)])


def fitted(case: Case, arrangement: Arrangement, seed: int) -> Arranged:
    """The case's arguments in this arrangement, as far as what its kernel does with its arrays lets them. Raises
    ``NotArranged``.
    """
    trial = case.trial(seed)
    bound = bind(case.kernel, host_arguments(trial), dict(trial.constants))
    known = parameters(bound.module, bound.names, bound.arguments)
    arranged = arrange(case, arrangement, seed, known, free_axis(bound.module, trial.grid))
    if arranged is None:
        raise NotArranged("its arguments are not arrays and numbers")
    return arranged


def rewritten(arranged: Arranged, options: Options | None = None, target: Target | None = None) -> Bound:
    """The kernel's ``tt``, specialised on the arguments as they lie, and rewritten for that."""
    case = arranged.case
    chosen: dict[str, Any] = {}
    if options is not None and target is not None:
        chosen = {"options": options, "target": target}
    bound = bind(case.kernel, arranged.host_arguments, dict(arranged.trials[0].constants), **chosen)
    placed = arranged.placed(bound.names)
    strides = tuple(Strides() if array is None else array.placement.strides for array in placed)
    pitches = tuple(0 if array is None else array.pitch for array in placed) if len(arranged.trials) > 1 else ()
    step = Rearrange(strides, pitches, 2 if arranged.axis is None else arranged.axis, arranged.arrangement.masks)
    step.apply(Context(), bound.module)
    verify(bound.module)
    for name, array in zip(bound.names, placed, strict=True):
        if array is not None:
            bound.host.memory.register(array.memory, name)
    return bound


def _launch(arranged: Arranged, bound: Bound, device: BackendDevice, options: Options) -> list[Array]:
    """Compile the module as a file of ``tt``, launch it, and give back the memory of the array arguments."""
    driver.set_active(device.backend)
    try:
        with tempfile.TemporaryDirectory(prefix="tritonx-arranged-") as folder:
            path = Path(folder, "kernel.ttir")
            path.write_text(print_module(bound.module))
            kernel = compile(str(path), target=device.target, options=options)
        known = dict(zip(arranged.case.kernel.arg_names, arranged.args, strict=False))
        args: list[Any] = []
        kept: dict[str, Any] = {}
        for name in bound.names:
            value = known[name]
            if isinstance(value, Placed):
                kept[name] = value.memory if device.on_host else to_device(value.memory, backend=device.name)
                value = _pointer(kept[name], value.start)
            args.append(value)
        kernel[arranged.grid](*args)
        if not device.on_host:
            driver_of(device.backend).synchronize()
        kept = {name: memory if device.on_host else memory.numpy() for name, memory in kept.items()}
        return [kept[n] for n, a in known.items() if isinstance(a, Placed)]
    finally:
        driver.reset_active()


def _pointer(memory: Any, start: int) -> Any:
    """An argument that points to an element of ``memory``, and on the host says what memory that is."""
    if isinstance(memory, np.ndarray):
        return memory.reshape(-1)[start:].view(np.uint8)
    return memory.data_ptr() + start * memory.dtype.itemsize
