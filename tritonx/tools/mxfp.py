"""Microscaling formats on PyTorch's tensors: elements of four bits (E2M1) and scales of eight (E8M0).

After the OCP Microscaling Formats (MX) specification, version 1.0. Triton's module ``triton.tools.mxfp``; needs
PyTorch, which is imported when something is made.
"""

# pyright: basic
# PyTorch is optional: its tensors have no type here.

from __future__ import annotations

from itertools import pairwise
from types import ModuleType

E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""The magnitude that each three bits below the sign mean."""

E8M0_BIAS = 127
E8M0_NAN = 255
E8M0_LARGEST = 254


class DimensionOutOfRange(ValueError, AssertionError):
    """There is no such dimension to pack along; Triton asserts it."""


def _torch() -> ModuleType:
    import torch  # pyright: ignore[reportMissingImports]  # only where the user has it

    return torch


class _Codes:
    """Codes of a format in ``data`` (uint8), made of numbers, or empty with a ``size`` for `random`."""

    def __init__(self, data=None, size: int | tuple[int, ...] | None = None, device: object = None) -> None:
        if data is None and size is None:
            raise ValueError("Either parameter data or size must be provided")
        self.device: object = device
        if data is None:
            self.size = size if isinstance(size, tuple) else (size,)
            return
        if not isinstance(data, _torch().Tensor):
            raise TypeError("Parameter data must be a torch tensor")
        self.device = data.device
        self.data = self._from_float(data)

    def _from_float(self, values):
        raise NotImplementedError

    def _drawn(self, low: int, high: int):
        torch = _torch()
        return torch.randint(low, high, size=self.size, dtype=torch.uint8, device=self.device)

    def _looked_up(self, dtype: object, meaning):
        torch = _torch()
        if dtype != torch.float32:
            raise ValueError(f"the numbers are given as float32 only, not as {dtype}")
        return meaning(self.data)


class MXFP4Tensor(_Codes):
    """Numbers as E2M1: a sign, two bits of exponent (bias 1) and one of mantissa; no infinities and no NaN.

    ``data`` of float32 is rounded to the nearest, ties to an even mantissa; what is larger than 6, infinite or NaN
    becomes 6 with its sign.

    >>> import torch
    >>> MXFP4Tensor(torch.tensor([0.2, 0.7, -2.4, 100.0])).to(torch.float32).tolist()
    [0.0, 0.5, -2.0, 6.0]
    """

    def random(self) -> MXFP4Tensor:
        """Every code alike."""
        self.data = self._drawn(0, 16)
        return self

    def to(self, dtype: object):
        """The numbers, as ``torch.float32``."""
        torch = _torch()

        def meaning(codes):
            numbers = [*E2M1, *(-number for number in E2M1)]
            return torch.tensor(numbers, dtype=torch.float32, device=codes.device)[codes.long()]

        return self._looked_up(dtype, meaning)

    def _from_float(self, values):
        torch = _torch()
        magnitude = torch.nan_to_num(values.abs(), nan=E2M1[-1], posinf=E2M1[-1]).clamp(max=E2M1[-1])
        middles = [(a + b) / 2 for a, b in pairwise(E2M1)]
        edges = torch.tensor(middles, dtype=magnitude.dtype, device=values.device)
        below = torch.bucketize(magnitude, edges)  # a tie goes down
        above = torch.bucketize(magnitude, edges, right=True)  # and here up
        code = torch.where(below % 2 == 0, below, above)
        return (torch.signbit(values).to(torch.uint8) << 3) | code.to(torch.uint8)

    def to_packed_tensor(self, dim: int):
        """Two neighbours along ``dim`` in a byte, the first in its low half; an odd end is filled with zero."""
        torch = _torch()
        data = self.data
        if not 0 <= dim < data.ndim:
            raise DimensionOutOfRange("The dimension to pack along is not within the range of tensor dimensions")
        low = data[(slice(None),) * dim + (slice(0, None, 2),)]
        high = torch.zeros_like(low)
        odd = data[(slice(None),) * dim + (slice(1, None, 2),)]
        high[(slice(None),) * dim + (slice(0, odd.shape[dim]),)] = odd
        return (high << 4) | low

    def unpack_packed_tensor(self, packed_tensor, dim: int, original_shape: tuple[int, ...]):
        """What `to_packed_tensor` made, one code a byte, without what it filled up."""
        torch = _torch()
        halves = torch.stack((packed_tensor & 0xF, packed_tensor >> 4), dim=dim + 1)
        data = halves.flatten(dim, dim + 1)
        return data[(slice(None),) * dim + (slice(0, original_shape[dim]),)].to(torch.uint8)


class MXScaleTensor(_Codes):
    """Powers of two as E8M0: the exponent with a bias of 127; 255 is NaN.

    ``data`` of float32 is rounded down to a power of two; what is not positive and finite is NaN.

    >>> import torch
    >>> MXScaleTensor(torch.tensor([0.3, 1.0, 100.0])).to(torch.float32).tolist()
    [0.25, 1.0, 64.0]
    """

    def random(self, low: float | None = None, high: float | None = None) -> MXScaleTensor:
        """Every power of two from ``low`` to ``high`` alike, without NaN."""
        torch = _torch()

        def exponent(number: float) -> int:
            return int(torch.log2(torch.tensor(number))) + E8M0_BIAS

        first = 0 if low is None else max(0, exponent(low))
        last = E8M0_LARGEST if high is None else min(E8M0_LARGEST, max(0, exponent(high)))
        if first > last:
            raise ValueError("Low must be less than or equal to high")
        self.data = self._drawn(first, last + 1)
        return self

    def to(self, dtype: object):
        """The numbers, as ``torch.float32``."""
        torch = _torch()

        def meaning(codes):
            powers = torch.pow(2.0, codes.to(torch.float32) - E8M0_BIAS)
            return torch.where(codes == E8M0_NAN, torch.full_like(powers, torch.nan), powers)

        return self._looked_up(dtype, meaning)

    def _from_float(self, values):
        torch = _torch()
        valid = torch.isfinite(values) & (values > 0)
        exponent = torch.floor(torch.log2(torch.where(valid, values, torch.ones_like(values))))
        codes = (exponent + E8M0_BIAS).clamp(0, E8M0_LARGEST).to(torch.uint8)
        return torch.where(valid, codes, torch.full_like(codes, E8M0_NAN))


def fp8e8m0_to_float32(scale):
    """The powers of two that bytes mean as E8M0, as float32: 2^-127 of 0, NaN of 255.

    >>> import torch
    >>> fp8e8m0_to_float32(torch.tensor([127, 128, 255], dtype=torch.uint8)).tolist()
    [1.0, 2.0, nan]
    """
    torch = _torch()
    codes = scale.view(torch.uint8)
    powers = torch.ldexp(torch.ones_like(codes, dtype=torch.float32), codes.to(torch.int32) - E8M0_BIAS)
    return torch.where(codes == E8M0_NAN, torch.nan, powers)
