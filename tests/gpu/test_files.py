"""`ttg` files that Triton writes, pipelined loops with asynchronous copies among them, run here as they are."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
from tritonx.runtime.arrays import to_device

RNG = np.random.default_rng(int(os.environ["TRITONX_SEED"]))

if importlib.util.find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)


def file_of(directory: Path, kernel: Any, signature: dict[str, str], constants: dict[str, Any], **options: int) -> Path:
    """Triton's `ttgir` for compute capability 8.0."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = kernel.arg_names
    aligned = {(names.index(n),): [["tt.divisibility", 16]] for n in signature}
    source = ASTSource(
        kernel,
        {n: signature.get(n, "constexpr") for n in names},
        constexprs={(names.index(k),): v for k, v in constants.items()},
        attrs=aligned,
    )
    made = triton.compile(source, target=GPUTarget("cuda", 80, 32), options=options)
    path = directory / f"{kernel.__name__}.ttgir"
    path.write_text(made.asm["ttgir"])
    return path


def kernels() -> Any:
    spec = importlib.util.spec_from_file_location("their_kernels", Path(__file__).with_name("their_kernels.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_a_pipelined_product(tmp_path: Path, stages: int) -> None:
    m, n, k = 256, 128, 512
    pointers = dict.fromkeys(["a", "b"], "*fp16") | {"c": "*fp32", "K": "i32"}
    path = file_of(
        tmp_path, kernels().product, pointers, {"N": n, "BM": 64, "BN": 64, "BK": 32}, num_warps=4, num_stages=stages
    )
    if stages > 2:
        assert "ttg.async_copy_global_to_local" in path.read_text()
    a, b = (RNG.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
    kernel = tritonx.compile(str(path))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    for _ in range(10):
        c = to_device(np.full((m, n), np.nan, np.float32))
        kernel[(m // 64, n // 64, 1)](to_device(a), to_device(b), c, k)
        np.testing.assert_allclose(c.numpy(), exact, atol=2e-2, rtol=1e-3)


def test_a_reduction(tmp_path: Path) -> None:
    path = file_of(tmp_path, kernels().softmax, {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"BLOCK": 1024}, num_warps=8)
    x = RNG.standard_normal((64, 1000), dtype=np.float32)
    y = to_device(np.full(x.shape, np.nan, np.float32))
    tritonx.compile(str(path))[(64, 1, 1)](to_device(x), y, 1000)
    wide = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    np.testing.assert_allclose(y.numpy(), wide / wide.sum(1, keepdims=True), rtol=2e-6)
