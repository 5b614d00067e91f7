"""Descriptors of arrays that hosts make for kernels of Gluon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tritonx.experimental.gluon.layouts import NVMMASharedLayout
from tritonx.runtime.devices.dtype_names import item_bytes, type_name
from tritonx.tools.tensor_descriptor import ImpossibleDescriptor, strides_of
from tritonx.tools.tensor_descriptor import TensorDescriptor as PlainDescriptor

__all__ = ["TensorDescriptor"]


@dataclass
class TensorDescriptor:
    """Blocks of ``block_shape`` elements of ``base``, which lie in shared memory by ``layout``; ``shape`` and
    ``strides`` (elements) describe the whole. ``padding`` is what lies outside: ``zero`` or ``nan``. Raises
    ImpossibleDescriptor for what the copy engine cannot copy.

    >>> from tritonx.experimental.gluon.layouts import NVMMASharedLayout
    >>> layout = NVMMASharedLayout(64, 32, 2)
    >>> TensorDescriptor.from_tensor(np.zeros((8, 16), np.float32), [8, 16], layout).strides
    [16, 1]
    """

    base: Any
    shape: Sequence[int]
    strides: Sequence[int]
    block_shape: Sequence[int]
    layout: NVMMASharedLayout
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self) -> None:
        PlainDescriptor(self.base, self.shape, self.strides, self.block_shape, self.padding, self.round_f32_to_tf32)
        layout = self.layout
        if not isinstance(layout, NVMMASharedLayout):  # pyright: ignore[reportUnnecessaryIsInstance]  # users pass anything
            raise ImpossibleDescriptor(f"Layout must be NVMMASharedLayout, got {layout!r}")
        if layout.rank != len(self.block_shape):
            raise ImpossibleDescriptor("layout rank must match block shape rank")
        size = item_bytes(self.base.dtype)
        if 8 * size != layout.element_bitwidth:
            raise ImpossibleDescriptor(
                f"the layout is one of {layout.element_bitwidth}-bit elements, not of {type_name(self.base.dtype)}"
            )
        least = layout.swizzle_byte_width // (size * (2 if layout.fp4_padded else 1))
        if self.block_shape[-1] < least:
            raise ImpossibleDescriptor(
                f"Expected block_shape[-1] to be at least {least} but got {self.block_shape[-1]}"
            )

    @property
    def mode(self) -> str:
        """How the engine finds a block: by tiles."""
        return "tiled"

    @staticmethod
    def from_tensor(
        tensor: Any,
        block_shape: Sequence[int],
        layout: NVMMASharedLayout,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
    ) -> TensorDescriptor:
        """Of a whole tensor."""
        return TensorDescriptor(
            tensor, tensor.shape, strides_of(tensor), [*block_shape], layout, padding, round_f32_to_tf32
        )
