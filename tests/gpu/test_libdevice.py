"""`tl.extra.libdevice` on an NVIDIA GPU gives the bits of Triton's own kernels, or is as near to the true value as they
are, for every overload of every name. (Triton contracts products that have several uses.)

Triton's cubins are loaded and launched by the driver here, so that neither PyTorch nor Triton's launcher is needed."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tritonx.backends import registry
from tritonx.backends.api import KernelImage, Parameter
from tritonx.runtime.arrays import to_device
from tritonx.runtime.devices.drivers import driver_of
from tritonx.runtime.driver import get_active
from tritonx_testing.conformance.values import DTYPES, floats, integers
from tritonx_testing.library_kernels import BLOCK, WARPS, functions, kernels

pytestmark = pytest.mark.skipif(find_spec("triton") is None, reason="the Triton wheel is not installed")

PROGRAMS = 16
EXACT: dict[str, Callable[..., Any]] = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "acosh": np.arccosh, "asinh": np.arcsinh,
    "atanh": np.arctanh, "asin": np.arcsin, "acos": np.arccos, "pow": np.power, "hypot": np.hypot,
}  # fmt: skip
"""Functions of f64 in more than its precision, where the bits may differ."""
NEAR = 2.0**-49
"""How far results may lie apart, against their size or 1, of functions that are not in `EXACT`: two fused products."""
SEED = int(os.environ["TRITONX_SEED"])


def operand(rng: np.random.Generator, name: str, dtype: str) -> Any:
    """Numbers of every size, those near 1 and those that functions treat specially."""
    count = BLOCK * PROGRAMS
    if not dtype.startswith("fp"):
        small = rng.integers(0, 8, count).astype(DTYPES[dtype])
        return small if name in ("jn", "yn") else np.where(rng.random(count) < 0.5, integers(rng, dtype, count), small)
    bits = np.dtype(DTYPES[dtype]).itemsize * 8
    anything = rng.integers(0, 2**bits - 1, count, dtype=f"u{bits // 8}", endpoint=True).view(DTYPES[dtype])
    near = rng.uniform(-8, 8, count).astype(DTYPES[dtype])
    return np.choose(rng.integers(0, 3, count), [anything, near, floats(rng, dtype, count, special=True)])


def launch_theirs(kernel: str, binary: str, arrays: list[Any]) -> None:
    """Run Triton's kernel; behind its own parameters it has two for memory that these kernels do not need."""
    backend = registry.get_backend("cuda")
    driver = driver_of(backend)
    device = driver.current_device()
    parameters = tuple(Parameter(f"p{i}", "*i8") for i in range(len(arrays) + 2))
    metadata = {
        "num_warps": WARPS, "num_ctas": 1, "shared": 0, "global_scratch_size": 0, "global_scratch_align": 1,
        "warp_size": 32,
    }  # fmt: skip
    image = KernelImage(kernel, base64.b64decode(binary), parameters, metadata, driver.current_target())
    loaded = driver.load(image, device)
    driver.make_launcher(image, loaded)(PROGRAMS, 1, 1, driver.current_stream(device), *arrays, 0, 0)


def as_near(kernel: str, operands: list[Any], outputs: list[Any], module: Any) -> Any:
    """Where our result is not further from the true value than the worst of Triton's is, in units of the last place; of
    f32 the library's f64 function is that value."""
    ours, theirs = outputs
    name, _, result = functions()[kernel]
    with np.errstate(all="ignore"):
        usual = np.isfinite(ours) & np.isfinite(theirs)
        wide = kernel.replace("fp32", "fp64")
        if result == "fp32" and wide != kernel and wide in functions():
            exact = [a.astype(DTYPES[t]) for a, t in zip(operands, functions()[wide][1], strict=True)]
            arrays = [to_device(a) for a in (*exact, np.zeros(ours.shape, np.float64))]
            getattr(module, wide)[(PROGRAMS,)](*arrays, num_warps=WARPS)
            true = arrays[-1].numpy().astype(np.longdouble)
        elif result == "fp64" and name in EXACT:
            true = EXACT[name](*(a.astype(np.longdouble) for a in operands))
        else:
            return usual & (np.abs(ours - theirs) <= NEAR * np.maximum(1.0, np.abs(theirs)))
        unit = np.spacing(np.abs(true).astype(ours.dtype)).astype(np.longdouble)
        errors = [np.where(usual & np.isfinite(true), np.abs(x - true) / unit, 0) for x in outputs]
        return usual & (errors[0] <= errors[1].max())


@pytest.mark.real_gpu
def test_bit_for_bit_or_as_near(tmp_path: Path) -> None:
    backend = get_active().backend
    if backend.name != "cuda":
        pytest.skip("the library is NVIDIA's")
    capability = driver_of(backend).current_target().arch
    chosen = sorted(functions())
    script = Path(__file__).parents[1] / "peer" / "libdevice_oracle.py"
    done = subprocess.run(
        [sys.executable, str(script), str(capability)], input="\n".join(chosen), capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    theirs = json.loads(done.stdout)
    assert len(theirs) > 300
    module, rng, wrong = kernels("tritonx", chosen, str(tmp_path)), np.random.default_rng(SEED), list[str]()
    for kernel, made in theirs.items():
        name, types, result = functions()[kernel]
        operands = [operand(rng, name, t) for t in types]
        outputs: list[Any] = []
        for run in ("here", "Triton"):
            arrays = [to_device(a) for a in (*operands, np.full(BLOCK * PROGRAMS, 77, DTYPES[result]))]
            if run == "here":
                getattr(module, kernel)[(PROGRAMS,)](*arrays, num_warps=WARPS)
            else:
                launch_theirs(kernel, made["cubin"], arrays)
            outputs.append(arrays[-1].numpy())
        word = f"u{outputs[0].dtype.itemsize}"
        different = outputs[0].view(word) != outputs[1].view(word)
        if different.any() and result.startswith("fp"):
            different &= ~as_near(kernel, operands, outputs, module)
        if different.any():
            at = int(np.flatnonzero(different)[0])
            given = ", ".join(repr(x[at]) for x in operands)
            wrong.append(
                f"{name}({given}) is {outputs[0][at]!r}, Triton's {outputs[1][at]!r}; "
                f"{int(different.sum())} of {different.size} differ"
            )
    assert not wrong, f"{len(wrong)} of {len(theirs)} (seed {SEED}):\n" + "\n".join(wrong)
