"""The memoised way from an encoding and a shape to its linear layout."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeGuard, get_args

from tritonx.layouts.distributed import distributed_layout
from tritonx.layouts.encodings import DistributedEncoding, Encoding, SharedEncoding
from tritonx.layouts.linear import LinearLayout
from tritonx.layouts.shared import shared_layout
from tritonx.layouts.tiling import storage_shape

_SHARED = get_args(SharedEncoding)
_DISTRIBUTED = get_args(DistributedEncoding)


@lru_cache(maxsize=4096)
def linear_layout(encoding: Encoding, shape: tuple[int, ...]) -> LinearLayout:
    """The layout of a tensor or buffer of this logical shape (extents are padded to powers of two).

    Distributed encodings give (register, lane, warp, block) → (dim0, ...), shared ones (offset, block) → (dim0, ...).
    Raises LayoutError when the encoding cannot lay out the shape.
    """
    stored = storage_shape(shape)
    if is_shared(encoding):
        return shared_layout(encoding, stored)
    assert is_distributed(encoding)
    return distributed_layout(encoding, stored)


def is_shared(encoding: object) -> TypeGuard[SharedEncoding]:
    """Whether the encoding places a tensor in shared memory."""
    return isinstance(encoding, _SHARED)


def is_distributed(encoding: object) -> TypeGuard[DistributedEncoding]:
    """Whether the encoding spreads a tensor over registers."""
    return isinstance(encoding, _DISTRIBUTED)
