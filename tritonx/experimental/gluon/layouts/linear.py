"""The linear layout that Triton 3.9 gives an encoding on a shape."""

from __future__ import annotations

from collections.abc import Sequence

from tritonx.layouts.dims import REGISTER
from tritonx.layouts.encodings import BlockedEncoding, Encoding
from tritonx.layouts.errors import LayoutError
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.lookup import linear_layout


def linear_of(encoding: Encoding, shape: Sequence[int]) -> LinearLayout:
    """That of `tritonx.layouts.linear_layout`, but for blocked encodings without registers that hold copies because a
    thread's elements are more than the tensor has. Raises LayoutError for shapes that are no powers of two."""
    if len(shape) != encoding.rank or not all(size > 0 and size & (size - 1) == 0 for size in shape):
        raise LayoutError(f"the shape must be {encoding.rank} powers of two, got {list(shape)}")
    layout = linear_layout(encoding, tuple(shape))
    return layout.drop_zero_bases(REGISTER) if isinstance(encoding, BlockedEncoding) else layout
