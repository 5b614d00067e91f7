"""Products of matrices by the vendor's library, as ``triton._C.libtriton.nvidia.cublas`` offers them.

Triton calls cuBLASLt itself; here PyTorch is asked (``mm``, ``addmm``, ``_scaled_mm``), which calls cuBLASLt for the
same products, on its current stream and with a workspace of its own. On the host the same calls compute there, so
programs that compare a kernel with these products need no other code.
"""

from __future__ import annotations

from importlib.util import find_spec

from tritonx.language.types.dtypes import LARGEST_FP8
from tritonx.runtime.devices.torch_interface import TorchTensor, pytorch
from tritonx.runtime.errors import TritonError

_FP8 = "torch.float8_e4m3fn"
_DTYPES = "torch.float16", "torch.bfloat16", "torch.float32", _FP8
_LARGEST = LARGEST_FP8["fp8e4nv"]


class ProductError(TritonError, RuntimeError):
    """Matrices of which there is no product, or no library to compute it. A RuntimeError, as in Triton.

    >>> issubclass(ProductError, RuntimeError)
    True
    """


class CublasLt:
    """Products of row-major matrices, of which the second is given transposed.

    ``workspace`` is what Triton lends to cuBLASLt: a tensor, of which nothing is used here. Matrices are tensors of
    fp16, bf16, fp32 or fp8 (e4m3); for fp32, PyTorch's setting says whether the units may round to TF32.

    >>> import torch
    >>> a, b, c = torch.ones(2, 3), torch.ones(4, 3), torch.empty(2, 4)
    >>> CublasLt(torch.empty(32, dtype=torch.uint8)).matmul(a, b, c)
    >>> c.tolist()
    [[3.0, 3.0, 3.0, 3.0], [3.0, 3.0, 3.0, 3.0]]
    """

    def __init__(self, workspace: TorchTensor, /) -> None:
        if find_spec("torch") is None:
            raise ProductError("these products are computed by PyTorch, which is not installed")
        self._units: dict[object, TorchTensor] = {}

    def matmul(self, a: TorchTensor, b: TorchTensor, c: TorchTensor, /) -> None:
        """``c`` = ``a`` · ``b``ᵀ. Raises `ProductError` for matrices that do not fit together."""
        torch = pytorch()
        _check_dtypes(a, b, c)
        _check_places(a, b, c)
        _check_shapes(a, b, c)
        if str(a.dtype) == _FP8:
            self._fp8(a, b, c)
        else:
            torch.mm(a, b.T, out=c)

    def gemm(
        self, a: TorchTensor, b: TorchTensor, c: TorchTensor, d: TorchTensor, alpha: float, beta: float, /
    ) -> None:
        """``d`` = ``alpha`` · ``a`` · ``b``ᵀ + ``beta`` · ``c``, with ``c`` of fp16. Raises `ProductError`."""
        torch = pytorch()
        if c.dtype != torch.float16:
            raise ProductError(f"C dtype must be float16, got {c.dtype}")
        _check_dtypes(a, b, d)
        _check_places(a, b, c, d)
        _check_shapes(a, b, c)
        if c.shape != d.shape:
            raise ProductError(f"C and D shapes must match, not {list(c.shape)} and {list(d.shape)}")
        if str(a.dtype) == _FP8:
            product = torch.empty_like(c, dtype=torch.float32)
            self._fp8(a, b, product)
            total = product.mul_(alpha).add_(c, alpha=beta) if beta else product.mul_(alpha)
            d.copy_(total.clamp_(-_LARGEST, _LARGEST))
        else:
            torch.addmm(c.type_as(a), a, b.T, beta=beta, alpha=alpha, out=d)

    def _fp8(self, a: TorchTensor, b: TorchTensor, out: TorchTensor) -> None:
        """The product of fp8 matrices whose scales are 1, summed fast as Triton has it."""
        torch = pytorch()
        if a.device not in self._units:
            self._units[a.device] = torch.ones((), device=a.device)
        unit = self._units[a.device]
        scaled = torch._scaled_mm  # pyright: ignore[reportPrivateUsage]  # no public function writes into a tensor
        scaled(a, b.T, unit, unit, out_dtype=out.dtype, use_fast_accum=True, out=out)


def _check_dtypes(a: TorchTensor, b: TorchTensor, out: TorchTensor) -> None:
    if not a.dtype == b.dtype == out.dtype:
        raise ProductError(f"Data types do not match. They are {a.dtype}, {b.dtype} and {out.dtype}.")
    if str(a.dtype) not in _DTYPES:
        raise ProductError(f"Unsupported data type. {a.dtype} is none of {', '.join(_DTYPES)}.")


def _check_places(*matrices: TorchTensor) -> None:
    if len({matrix.device for matrix in matrices}) != 1:
        raise ProductError(f"The matrices are on {', '.join(str(matrix.device) for matrix in matrices)}.")


def _check_shapes(a: TorchTensor, b: TorchTensor, c: TorchTensor) -> None:
    if not a.ndim == b.ndim == c.ndim == 2:
        raise ProductError("Only 2D matrices are supported.")
    (m, k), (n, inner), (rows, columns) = a.shape, b.shape, c.shape
    start = "Matrix dimensions do not match."
    if k != inner:
        raise ProductError(
            f"{start} A is {[m, k]}, B is {[n, inner]}: A and B, which is given transposed, have as many columns"
        )
    if (m, n) != (rows, columns):
        raise ProductError(
            f"{start} A is {[m, k]}, B is {[n, inner]}, C is {[rows, columns]}: "
            "C has a row for each of A's and a column for each of B's"
        )
