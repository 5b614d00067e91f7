"""Where cases run: the interpreter, a backend with its driver, or a target without a device, compiled only or executed
as `ttg`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from tritonx.backends import registry
from tritonx.backends.api import Backend, Compilation, Options, PassStage, Target, run_stages
from tritonx.interpreter.function import interpreted
from tritonx.interpreter.ir_launch import bind, launch
from tritonx.runtime import driver
from tritonx.runtime.arrays import to_device
from tritonx.runtime.devices.drivers import driver_of
from tritonx_testing.conformance.case import Array, Case, Mismatch, Output, Trial

HOST = 1
"""DLPack's number for the host's own memory."""


class Device(Protocol):
    """Runs trials; ``name`` is what ``find`` takes."""

    name: str

    def run(self, case: Case, trial: Trial) -> list[Array]:
        """Launch, and the contents of the outputs afterwards, in order."""
        ...

    def unsupported(self, case: Case) -> str | None:
        """Why the case does not apply here; None where it must pass."""
        ...

    def usable(self) -> bool:
        """Whether the device still works, after something went wrong on it."""
        ...


def check(case: Case, device: Device, seed: int) -> None:
    """Run ``case`` on ``device`` with fresh arguments, or look at its code where nothing runs. Raises ``Mismatch``, or
    whatever the compile or launch raises.

    >>> from tritonx_testing.conformance import cases, find
    >>> case = next(case for case in cases() if case.name.startswith("elementwise/"))
    >>> check(case, find("cpu"), seed=1)
    """
    trial = case.trial(seed)
    if isinstance(device, CompileOnly):
        from tritonx_testing.conformance.structure import fault

        wrong = fault(*device.compile(case, trial))
        if wrong is not None:
            raise Mismatch(wrong)
        return
    buffers = device.run(case, trial)
    outputs = [a for a in trial.args if isinstance(a, Output)]
    for output, buffer in zip(outputs, buffers, strict=True):
        output.check(buffer)


def host_arguments(trial: Trial) -> list[Any]:
    """The arguments with arrays on the host."""
    return [a.buffer() if isinstance(a, Output) else a.copy() if isinstance(a, np.ndarray) else a for a in trial.args]


def _outputs(trial: Trial, args: Sequence[object]) -> list[Any]:
    return [a for a, given in zip(args, trial.args, strict=True) if isinstance(given, Output)]


class Interpreter:
    """The IR that the front end makes, executed by the meanings of its ops."""

    name = "interpreter"

    def run(self, case: Case, trial: Trial) -> list[Array]:
        args = host_arguments(trial)
        launch(case.kernel, trial.grid, *args, **trial.constants)
        return _outputs(trial, args)

    def unsupported(self, case: Case) -> str | None:
        return None

    def usable(self) -> bool:
        return True


class PythonLines:
    """The kernel's own Python lines, as under ``TRITONX_INTERPRET=1``."""

    name = "python"

    def run(self, case: Case, trial: Trial) -> list[Array]:
        args = host_arguments(trial)
        interpreted(case.kernel)[trial.grid](*args, **trial.constants)
        return _outputs(trial, args)

    def unsupported(self, case: Case) -> str | None:
        return None

    def usable(self) -> bool:
        return True


class BackendDevice:
    """The current device of a backend."""

    def __init__(self, backend: Backend) -> None:
        self.name = backend.name
        self.backend = backend
        self.on_host = HOST in backend.dlpack_device_types
        self.target = driver_of(backend).current_target()

    def run(self, case: Case, trial: Trial) -> list[Array]:
        driver.set_active(self.backend)
        try:
            args = host_arguments(trial)
            if not self.on_host:
                places = [i for i, a in enumerate(args) if isinstance(a, np.ndarray)]
                for place in places:
                    args[place] = to_device(args[place], backend=self.name)
            kernel: Any = case.kernel
            kernel[trial.grid](*args, **trial.constants, **case.options)
            return [a if self.on_host else a.numpy() for a in _outputs(trial, args)]
        finally:
            driver.reset_active()

    def unsupported(self, case: Case) -> str | None:
        return unsupported(case, self.backend, self.target)

    def usable(self) -> bool:
        try:
            return self.on_host or bool(to_device(np.ones(1), backend=self.name).numpy()[0] == 1)
        except Exception:
            return False


class CompileOnly:
    """A target: cases are compiled up to the last stage that needs no device's tools, and nothing runs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.backend, self.target = registry.parse_target(name)

    def run(self, case: Case, trial: Trial) -> list[Array]:
        raise NotImplementedError(f"{self.name} only compiles")

    def compile(self, case: Case, trial: Trial) -> tuple[dict[str, Any], Compilation]:
        """The artifact of each stage, by name. Raises what the compile raises."""
        options = options_for(case, self.backend, self.target)
        module = bind(case.kernel, host_arguments(trial), dict(trial.constants), options, self.target).module
        compilation = Compilation(self.target, options)
        made = run_stages(module, self.backend.stages(self.target, options), compilation)
        return made, compilation

    def unsupported(self, case: Case) -> str | None:
        return unsupported(case, self.backend, self.target)

    def usable(self) -> bool:
        return True


class Executed:
    """The `ttg` that a target's stages make, executed on the host: every warp by itself, shared memory in bytes. What
    is wrong with it is a mismatch, whatever it computes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.backend, self.target = registry.parse_target(name.removeprefix(EXECUTED))

    def run(self, case: Case, trial: Trial) -> list[Array]:
        from tritonx.interpreter.asynchronous import Setting, Warps, execute
        from tritonx.ir.pipeline import run_passes

        args = host_arguments(trial)
        options = options_for(case, self.backend, self.target)
        bound = bind(case.kernel, args, dict(trial.constants), options, self.target)
        for stage in self.backend.stages(self.target, options):
            if isinstance(stage, PassStage):
                run_passes(bound.module, stage.passes)
        setting = Setting(warps=Warps.APART, poison=False)
        memory, names = bound.host.memory, bound.names
        found = execute(bound.module, trial.grid, bound.arguments, setting, memory=memory, arg_names=names)
        if found:
            raise Mismatch("\n".join(map(str, found)))
        bound.host.write_back()
        return _outputs(trial, args)

    def unsupported(self, case: Case) -> str | None:
        return unsupported(case, self.backend, self.target)

    def usable(self) -> bool:
        return True


EXECUTED = "ttg:"
"""In front of a target: what its stages make is executed, and not compiled further."""


def options_for(case: Case, backend: Backend, target: Target) -> Options:
    """The case's options as the backend understands them."""
    return registry.parse_options(backend, target, case.options)


def unsupported(case: Case, backend: Backend, target: Target) -> str | None:
    """Why a target's compile need not take the case; None where it must."""
    try:
        options = options_for(case, backend, target)
    except ValueError as refusal:
        if not case.optional:
            raise
        return str(refusal)
    missing = case.needs - set(options.supported_fp8_dtypes)
    return f"{target} has no {', '.join(sorted(missing))}" if missing else None


def find(name: str) -> Device:
    """The device of this name; ``backend:arch`` only compiles for that target, ``ttg:backend:arch`` executes the `ttg`
    that it makes. Raises NoBackend for an unknown one and NoDevice where it does not start.

    >>> find("cpu").name
    'cpu'
    """
    if name in ("interpreter", "python"):
        return Interpreter() if name == "interpreter" else PythonLines()
    if name.startswith(EXECUTED):
        return Executed(name)
    if ":" in name:
        return CompileOnly(name)
    return BackendDevice(registry.get_backend(name))


def names() -> list[str]:
    """The interpreter in both its forms, and every backend that has a device here. Of those for the host's arrays it is
    the one that gets them unless another is named.

    >>> "cpu" in names()
    True
    """
    found = ["interpreter", "python"]
    on_host = False
    for name, backend in registry.available().items():
        if HOST in backend.dlpack_device_types:
            if on_host:
                continue
            on_host = True
        if driver.ActiveDriver(backend).is_active():
            found.append(name)
    return found
