"""Products as ``triton._C.libtriton.nvidia.cublas`` offers them, on the host, against products in f64."""

from __future__ import annotations

import os
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

from tritonx.backends.nvidia import cublas  # noqa: E402
from tritonx.backends.nvidia.cublas import CublasLt, ProductError  # noqa: E402

M, N, K = 32, 48, 64
FP8 = torch.float8_e4m3fn
TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2, FP8: 0.13}
"""Of a result in this dtype, in parts of it."""


@pytest.fixture
def drawn() -> Any:
    return torch.Generator().manual_seed(int(os.environ["TRITONX_SEED"]))


@pytest.fixture
def library() -> CublasLt:
    return CublasLt(torch.empty(1024, dtype=torch.uint8))


def matrix(drawn: Any, rows: int, columns: int, dtype: Any) -> Any:
    return torch.randn(rows, columns, generator=drawn).to(dtype)


def check(found: Any, wanted: Any) -> None:
    part = TOLERANCE[found.dtype]
    torch.testing.assert_close(found.double(), wanted, rtol=part, atol=part)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_matmul(dtype: Any, drawn: Any, library: CublasLt) -> None:
    a, b = matrix(drawn, M, K, dtype), matrix(drawn, N, K, dtype)
    c = torch.full((M, N), 7.0).to(dtype)
    library.matmul(a, b, c)
    check(c, a.double() @ b.double().T)


def test_matmul_of_views(drawn: Any, library: CublasLt) -> None:
    """Triton reads the memory as if it were dense; here a view is what it is."""
    a, b = matrix(drawn, K, M, torch.float32).T, matrix(drawn, N, 2 * K, torch.float32)[:, ::2]
    c = torch.zeros(N, M).T
    library.matmul(a, b, c)
    check(c, a.double() @ b.double().T)


@pytest.mark.parametrize("alpha, beta", [(1.0, 0.0), (2.0, 0.5), (-1.0, 1.0)])
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_gemm(dtype: Any, alpha: float, beta: float, drawn: Any, library: CublasLt) -> None:
    a, b, c = matrix(drawn, M, K, dtype), matrix(drawn, N, K, dtype), matrix(drawn, M, N, torch.float16)
    d = torch.empty(M, N, dtype=dtype)
    before = c.clone()
    library.gemm(a, b, c, d, alpha, beta)
    assert c.equal(before)
    check(d, alpha * (a.double() @ b.double().T) + beta * c.double())


def test_gemm_without_its_summand(library: CublasLt) -> None:
    """What is multiplied by 0 is not read."""
    for dtype in (torch.float16, FP8):
        d = torch.empty(16, 16).to(dtype)
        library.gemm(
            torch.ones(16, 16).to(dtype),
            torch.ones(16, 16).to(dtype),
            torch.full((16, 16), torch.nan).half(),
            d,
            1.0,
            0.0,
        )
        assert d.float().eq(16).all()


def test_a_large_sum_in_fp8(library: CublasLt) -> None:
    """It saturates."""
    d = torch.empty(16, 16).to(FP8)
    full = torch.full((16, 16), 448.0).to(FP8)
    library.gemm(full, full, torch.zeros(16, 16).half(), d, -1.0, 1.0)
    assert d.float().eq(-448).all()


def half(*shape: int) -> Any:
    return torch.zeros(shape, dtype=torch.float16)


@pytest.mark.parametrize(
    "shapes, message",
    [
        (((M, K), (N, K + 1), (M, N)), r"A is \[32, 64\], B is \[48, 65\]"),
        (((M, K), (N, K), (M + 1, N)), r"C is \[33, 48\]"),
        (((M, K), (N, K), (M, N + 1)), r"C is \[32, 49\]"),
        (((K,), (N, K), (M, N)), "Only 2D matrices"),
    ],
)
def test_shapes_that_do_not_fit(shapes: Any, message: str, library: CublasLt) -> None:
    a, b, c = (half(*shape) for shape in shapes)
    with pytest.raises(ProductError, match=message):
        library.matmul(a, b, c)
    with pytest.raises(RuntimeError, match=message):
        library.gemm(a, b, c, c, 1.0, 0.0)


def test_dtypes_that_do_not_fit(library: CublasLt) -> None:
    with pytest.raises(ProductError, match="Data types do not match"):
        library.matmul(half(M, K), half(N, K).float(), half(M, N))
    with pytest.raises(ProductError, match="Data types do not match"):
        library.matmul(half(M, K), half(N, K), half(M, N).float())
    with pytest.raises(ProductError, match=r"Unsupported data type.*float64"):
        library.matmul(half(M, K).double(), half(N, K).double(), half(M, N).double())
    with pytest.raises(ProductError, match=r"C dtype must be float16, got torch\.bfloat16"):
        library.gemm(half(M, K), half(N, K), half(M, N).bfloat16(), half(M, N), 1.0, 0.0)
    with pytest.raises(ProductError, match="C and D shapes"):
        library.gemm(half(M, K), half(N, K), half(M, N), half(M, N + 1), 1.0, 0.0)


def test_matrices_of_two_devices(library: CublasLt) -> None:
    with pytest.raises(ProductError, match="on cpu, meta, cpu"):
        library.matmul(half(M, K), half(N, K).to("meta"), half(M, N))


def test_without_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cublas, "find_spec", lambda name: None)
    with pytest.raises(ProductError, match="PyTorch, which is not installed"):
        CublasLt(torch.empty(1))


def test_the_name_in_the_bindings() -> None:
    from tritonx._C import libtriton
    from tritonx._C.libtriton import nvidia

    assert libtriton.nvidia is nvidia and nvidia.cublas.CublasLt is CublasLt
