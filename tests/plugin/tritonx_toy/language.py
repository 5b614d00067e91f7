"""``tl.extra.toy``: what only this chip's targets have, and tritonx's interpreter."""

from __future__ import annotations

from typing import Any

from tritonx.backends.tile import builtin_of

__all__ = ["fixed_multiply"]


@builtin_of("toy")
def fixed_multiply(x: Any, y: Any, _semantic: Any = None) -> Any:
    """The product of int16 scalars or tiles as numbers with 15 bits behind the point, rounded and saturated."""
    from tritonx_toy.dialect import FixedMultiplyOp

    x, y = _semantic.to_tensor(x), _semantic.to_tensor(y)
    if not x.dtype.is_int16() or not y.dtype.is_int16():
        raise TypeError(f"fixed_multiply takes int16, got {x.dtype} and {y.dtype}")
    x, y = _semantic.broadcast(x, y)
    return _semantic.emit(FixedMultiplyOp, [x, y], x.type)
