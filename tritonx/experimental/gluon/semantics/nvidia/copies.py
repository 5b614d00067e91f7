"""Asynchronous copies of elements to shared memory."""

from __future__ import annotations

from typing import Any

from tritonx.dialects.gpu_layout.asynchronous import AsyncCommitGroupOp, AsyncCopyGlobalToLocalOp, AsyncWaitOp
from tritonx.dialects.gpu_layout.types import ASYNC_TOKEN
from tritonx.experimental.gluon.semantics.access import AccessSemantics
from tritonx.experimental.gluon.semantics.nvidia.barriers import number
from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.frontend.semantics.memory import access_properties
from tritonx.ir.declaration import SEGMENTS, sizes_of_segments
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor

_CACHE = {"": "NONE", ".ca": "CA", ".cg": "CG", ".cs": "CS", ".cv": "CV"}


class CopySemantics(AccessSemantics):
    def copy_to_shared(
        self,
        memory: shared_memory_descriptor,
        pointer: Any,
        mask: Any,
        cache: Any,
        eviction: Any,
        volatile: Any,
        policy: Any,
    ) -> None:
        """Copy what a block of pointers points to into shared memory; zeros where ``mask`` is false."""
        if not (isinstance(pointer, tensor) and pointer.dtype.is_ptr() and pointer.type.is_block()):
            raise ValueError(f"expected a block of pointers but got {pointer}")
        operands, mask = [pointer.handle], unwrap(mask)
        if mask is not None:
            pointer, mask = self.broadcast(pointer, self.to_tensor(mask))
            operands = [pointer.handle]
        if list(pointer.type.shape) != memory.shape:
            raise ValueError(
                "expected smem shape to match pointer shape but got "
                f"smem.shape = {memory.shape}, pointer.shape = {[*pointer.type.shape]}"
            )
        operands += [memory.handle, *([] if mask is None else [mask.handle])]
        properties = {
            **access_properties(cache, eviction, _CACHE),
            SEGMENTS: sizes_of_segments((1, 1, int(mask is not None), 0)),
        }
        with self.cached(policy, cache, eviction):
            self.builder.create(AsyncCopyGlobalToLocalOp, operands, [ASYNC_TOKEN], properties)
            self.mark_policy()

    def commit_copies(self) -> None:
        """Make a group of the copies since the last one."""
        self.builder.create(AsyncCommitGroupOp, (), [ASYNC_TOKEN])

    def wait_for_copies(self, outstanding: Any) -> None:
        """Wait until at most ``outstanding`` groups are under way."""
        self.builder.create(AsyncWaitOp, (), [ASYNC_TOKEN], {"num": number(outstanding, "num_outstanding")})
