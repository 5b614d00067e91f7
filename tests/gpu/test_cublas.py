"""Products by cuBLASLt, as ``triton._C.libtriton.nvidia`` offers them through PyTorch, against products in f64."""

from __future__ import annotations

import os
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from tritonx._C.libtriton import nvidia  # noqa: E402

SEED = int(os.environ["TRITONX_SEED"])
TOLERANCE = {"float32": 2e-3, "float16": 2e-3, "bfloat16": 1.6e-2, "float8_e4m3fn": 0.13}
"""Of a result in this dtype, in parts of it; fp32 may be rounded to TF32."""


@pytest.mark.parametrize("name", TOLERANCE)
@pytest.mark.parametrize("m, n, k", [(16, 16, 16), (32, 16, 64), (128, 256, 512)])
def test_products(name: str, m: int, n: int, k: int) -> None:
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    if name.startswith("float8") and torch.cuda.get_device_capability() < (8, 9):
        pytest.skip("this GPU has no fp8")
    dtype, part = getattr(torch, name), TOLERANCE[name]
    draw = torch.Generator("cuda").manual_seed(SEED)
    a, b, c = (
        torch.randn(shape, generator=draw, device="cuda").div_(k**0.25).to(to)
        for shape, to in (((m, k), dtype), ((n, k), dtype), ((m, n), torch.float16))
    )
    library = nvidia.cublas.CublasLt(torch.empty(32 << 20, device="cuda", dtype=torch.uint8))
    found, summed = torch.empty(m, n, device="cuda").to(dtype), torch.empty(m, n, device="cuda").to(dtype)
    library.matmul(a, b, found)
    library.gemm(a, b, c, summed, 2.0, 0.5)
    product = a.double() @ b.double().T
    torch.testing.assert_close(found.double(), product, rtol=part, atol=part)
    torch.testing.assert_close(summed.double(), 2 * product + 0.5 * c.double(), rtol=part, atol=part)
