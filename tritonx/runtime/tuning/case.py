"""A kernel with launches to tune it for, found in a file: what ``tritonx tune`` takes, and another process can too.

    @tritonx.autotune([...], key=["n"])
    @tritonx.jit
    def kernel(...): ...

    def tuning_inputs():
        for n in (1 << 20, 1 << 24):
            x, y = ...
            yield lambda meta: (tritonx.cdiv(n, meta["BLOCK"]),), (x, y, n), {}

``tuning_inputs`` gives launches: the grid, the arguments by position, those by name (which may be left out). Each
process that measures calls it for arrays of its own, on its own device.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from tritonx.runtime.autotuner import Autotuner
from tritonx.runtime.config import Config
from tritonx.runtime.errors import TritonError
from tritonx.runtime.tuning.launches import TunedLaunches

INPUTS = "tuning_inputs"

Launch = tuple[object, tuple[object, ...], dict[str, object]]
"""Grid, arguments by position and by name."""


class NoCase(TritonError):
    """A file does not hold what is to be tuned; says what is missing."""


@dataclass(frozen=True)
class Case:
    """The kernel named ``kernel`` in ``file``, and the ``number``-th launch that its function ``inputs`` gives."""

    file: str
    kernel: str
    number: int = 0
    inputs: str = INPUTS


def kernels(file: str) -> tuple[str, ...]:
    """The names of the tuned kernels in a file. Raises ``NoCase`` where the file cannot be imported."""
    return tuple(name for name, value in vars(module(file)).items() if isinstance(value, Autotuner))


def tuner(case: Case) -> Autotuner:
    found = getattr(module(case.file), case.kernel, None)
    if not isinstance(found, Autotuner):
        known = ", ".join(kernels(case.file)) or "none"
        raise NoCase(f"{case.file} has no tuned kernel {case.kernel!r}; those it has: {known}")
    return found


@lru_cache(maxsize=8)
def launches(file: str, inputs: str = INPUTS) -> tuple[Launch, ...]:
    """The launches to tune for: grid, arguments by position and by name. Raises ``NoCase`` where there are none."""
    make: Callable[[], Iterable[Any]] | None = getattr(module(file), inputs, None)
    if not callable(make):
        raise NoCase(f"--inputs: {file} has no function {inputs}() that gives launches: (grid, arguments, keywords)")
    found = tuple(_launch(*launch) for launch in make())
    if not found:
        raise NoCase(f"{inputs}() of {file} gives no launches")
    return found


def _launch(grid: object, args: Sequence[object], kwargs: Mapping[str, object] | None = None) -> Launch:
    return grid, tuple(args), dict(kwargs or {})


@lru_cache(maxsize=64)
def module(file: str) -> ModuleType:
    """The file as a module, imported once; its folder can be imported from. Raises ``NoCase``."""
    path = Path(file).resolve()
    name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path) if path.is_file() else None
    if spec is None or spec.loader is None:
        raise NoCase(f"{file or '.'} is no file of Python's")
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    sys.modules[name] = found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


# In a process that measures ------------------------------------------------------------------------------------------


def see_only(variable: str, device: str) -> None:
    """Before the device's library is started in this process: of the devices there is only this one."""
    os.environ[variable] = device


@lru_cache(maxsize=8)
def _prepared(case: Case) -> tuple[TunedLaunches, Sequence[Config]]:
    grid, args, kwargs = launches(case.file, case.inputs)[case.number]
    return tuner(case).prepared(grid, args, kwargs)


def prepare(case: Case) -> None:
    """Import the file and make the launch's arrays, in this process, on its device; `measure` does it otherwise."""
    _prepared(case)


def measure(case: Case, number: int, text: str, count: int) -> list[float]:
    """Milliseconds of each of ``count`` runs of the configuration of that number, of those that pruning leaves, in this
    process, on its device. What the cache does not have is compiled. Raises ``NoCase`` where the configuration is not
    the one that ``text`` is: what a backend proposes, or a pruning leaves, is another here."""
    here, configs = _prepared(case)
    found = str(configs[number]) if number < len(configs) else "none"
    if found != text:
        raise NoCase(f"configuration {number} of {case.kernel} is {found} where it is measured, and not {text}")
    return [*here.times(configs[number], count)]
