"""The two integer functions that hosts and kernels share."""

from __future__ import annotations

from tritonx.language.values.constexpr_function import constexpr_function


@constexpr_function
def cdiv(x: int, y: int) -> int:
    """``x / y`` rounded up, for a positive ``y``.

    >>> tritonx.cdiv(10, 4)
    3
    """
    return (x + y - 1) // y


@constexpr_function
def next_power_of_2(n: int) -> int:
    """The smallest power of two that is not less than ``n``; 0 for 0.

    >>> tritonx.next_power_of_2(5), tritonx.next_power_of_2(8)
    (8, 8)
    """
    return 1 << (n - 1).bit_length() if n > 0 else 0
