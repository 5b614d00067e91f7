"""A random kernel: its source, its arguments, and how two runs of it are compared. See `generate.py`."""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from tritonx.runtime.jit import JITFunction

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
FLOATS = ("float16", "bfloat16", "float32", "float64")


@dataclass(frozen=True)
class Features:
    """What kernels may contain; a backend's author switches off what is not there yet."""

    division: bool = True
    """Float division; devices that approximate it do not give the same bits."""
    double: bool = True
    dot: bool = True
    scans: bool = True
    sorting: bool = True
    gather: bool = True
    atomics: bool = True
    functions: bool = True
    control_flow: bool = True


EVERYTHING = Features()


@dataclass(frozen=True)
class Array:
    """An array argument. `kind`: `input`, `output` (exact), `approximate` (compared with a tolerance), `counter`
    (atomics)."""

    name: str
    dtype: str
    count: int
    kind: str


@dataclass(frozen=True)
class RandomKernel:
    """`source` defines `kernel(*arrays, *scalars)` and its helpers."""

    source: str
    grid: tuple[int, ...]
    parameters: tuple[Array, ...]
    scalars: tuple[int, ...]

    def function(self) -> JITFunction:
        """The kernel, its source known to `inspect` and to tracebacks."""
        name = f"<random kernel {hashlib.sha256(self.source.encode()).hexdigest()[:12]}>"
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(True), name)
        namespace: dict[str, Any] = {"__name__": "tritonx_random_kernel"}
        exec(compile(self.source, name, "exec"), namespace)
        return namespace["kernel"]

    def arrays(self, seed: int = 0) -> list[np.ndarray[Any, Any]]:
        """Fresh arguments: random inputs, outputs filled with ones, counters zero."""
        import numpy as np

        rng = np.random.default_rng(seed)
        made: list[np.ndarray[Any, Any]] = []
        for array in self.parameters:
            dtype = numpy_dtype(array.dtype)
            if array.kind == "input":
                made.append(_random_values(rng, array.dtype, array.count).astype(dtype))
            else:
                made.append(np.full(array.count, 0 if array.kind == "counter" else 1, dtype))
        return made

    def difference(self, expected: Sequence[Any], got: Sequence[Any], rtol: float = 1e-5) -> str | None:
        """Where two runs differ first, as text with the output's name; None where they agree."""
        import numpy as np

        for array, a, b in zip(self.parameters, expected, got, strict=True):
            is_float = array.dtype in FLOATS
            x, y = (v.astype(np.float64) if is_float else v for v in (a, b))
            if array.kind == "approximate":
                same = np.isclose(x, y, rtol=rtol, atol=rtol, equal_nan=True)
            else:
                same = (x == y) | (np.isnan(x) & np.isnan(y)) if is_float else x == y
            if not same.all():
                place = int(np.flatnonzero(~same)[0])
                wrong = int(np.count_nonzero(~same))
                return f"{array.name}[{place}] is {a[place]} and {b[place]}; {wrong} of {len(a)} elements differ"
        return None


def numpy_dtype(name: str) -> Any:
    """The NumPy dtype of a dtype of the language."""
    import ml_dtypes
    import numpy as np

    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else "bool" if name == "int1" else name)


def _random_values(rng: Any, dtype: str, count: int) -> Any:
    if dtype in FLOATS:
        return rng.standard_normal(count) * rng.choice([0.1, 1.0, 10.0], count)
    bits = numpy_dtype(dtype).itemsize * 8
    low = -(1 << (bits - 1)) if dtype in SIGNED else 0
    small = rng.integers(0, 20, count)
    large = rng.integers(low, low + (1 << bits) - 1, count, dtype=numpy_dtype(dtype), endpoint=True)
    return large if rng.random() < 0.3 else small
