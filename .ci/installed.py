"""A kernel on the CPU, with an installed tritonx; writes its first stage to ``add.ttir``."""

from importlib.metadata import distribution
from pathlib import Path

import numpy as np

import tritonx
import tritonx.language as tl


@tritonx.jit
def add(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(z_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


x, y = np.random.default_rng(0).random((2, 10_003), np.float32)
z = np.empty_like(x)
compiled = add[(tritonx.cdiv(x.size, 1024),)](x, y, z, x.size, BLOCK=1024)
assert np.array_equal(z, x + y)
Path("add.ttir").write_text(compiled.asm["ttir"])
made = distribution("tritonx")
assert made.metadata["License-Expression"] == "Apache-2.0 WITH LLVM-exception"
assert "LLVM Exceptions" in (made.read_text("licenses/LICENSE") or ""), "the wheel has no license"
here = Path(tritonx.__file__).resolve()
assert here.is_relative_to(Path(__file__).resolve().parent / "venv"), f"{here} is not what was installed"
