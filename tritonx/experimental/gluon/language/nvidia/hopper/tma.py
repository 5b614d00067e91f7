"""Copies of blocks of arrays by the copy engine (TMA)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from tritonx.experimental.gluon.layouts import NVMMASharedLayout
from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.language.builtins.builtin import INJECTED, builtin
from tritonx.language.types.dtypes import block_type, dtype
from tritonx.language.values.base import base_type, base_value
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tuples import tuple as language_tuple

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tritonx.experimental.gluon.semantics import GluonSemantics


class tensor_descriptor_type(base_type):
    """A descriptor of an array, blocks of which lie in shared memory by ``layout``.

    >>> from tritonx.experimental.gluon import language as ttgl
    >>> layout, block = ttgl.NVMMASharedLayout(128, 16, 2), ttgl.block_type(ttgl.float16, [64, 64])
    >>> sizes, steps = ttgl.tuple_type([ttgl.int32] * 2), ttgl.tuple_type([ttgl.int64] * 2)
    >>> tensor_descriptor_type(block, sizes, steps, layout).nbytes_per_cta
    8192
    """

    def __init__(self, block_type: block_type, shape_type: Any, strides_type: Any, layout: Any) -> None:
        self.block_type = block_type
        self.shape_type = shape_type
        self.strides_type = strides_type
        layout = unwrap(layout)
        if not isinstance(layout, NVMMASharedLayout):
            raise AssertionError(f"Expected layout to be a NVMMASharedLayout, got {layout!r}")
        self.layout = layout

    @property
    def nbytes_per_cta(self) -> int:
        """Bytes of a block in one block of a cluster."""
        parts = sum(any(basis) for basis in self.layout.cga_layout)
        return self.block_type.nbytes >> parts

    def leaves(self) -> Sequence[base_type]:
        return [_descriptor_handle(self), *self.shape_type.leaves(), *self.strides_type.leaves()]

    def rebuild(self, handles: Iterator[SSAValue]) -> base_value:
        handle = next(handles)
        shape, strides = self.shape_type.rebuild(handles), self.strides_type.rebuild(handles)
        return tensor_descriptor(handle, shape, strides, self.block_type, self.layout)

    def _key(self) -> tuple[object, ...]:
        return (self.block_type, self.shape_type, self.strides_type, self.layout)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tensor_descriptor_type) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((self.block_type, self.layout))

    def __str__(self) -> str:
        return f"tensor_descriptor<{self.block_type}, {self.layout}>"

    def mangle(self) -> str:
        return f"TD{self.block_type.mangle()}_{self.layout.mangle()}TD"


class _descriptor_handle(base_type):
    """The descriptor itself, without the numbers beside it."""

    def __init__(self, of: tensor_descriptor_type) -> None:
        self.of = of
        self.block_type, self.layout = of.block_type, of.layout

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _descriptor_handle) and (self.block_type, self.layout) == (
            other.block_type,
            other.layout,
        )

    def __hash__(self) -> int:
        return hash((self.block_type, self.layout))

    def mangle(self) -> str:
        return self.of.mangle()


class tensor_descriptor(base_value):
    """A value of `tensor_descriptor_type`: a descriptor with the array's extents and strides.

    >>> issubclass(tensor_descriptor, base_value)
    True
    """

    def __init__(self, handle: SSAValue, shape: Any, strides: Any, block_type: block_type, layout: Any) -> None:
        self.handle = handle
        self.shape, self.strides = language_tuple([*shape]), language_tuple([*strides])
        self.type = tensor_descriptor_type(block_type, self.shape.type, self.strides.type, layout)

    def handles(self) -> list[SSAValue]:
        return [self.handle, *self.shape.handles(), *self.strides.handles()]

    @property
    def nbytes_per_cta(self) -> int:
        return self.type.nbytes_per_cta

    @property
    def block_type(self) -> block_type:
        return self.type.block_type

    @property
    def block_shape(self) -> tuple[int, ...]:
        return self.type.block_type.shape

    @property
    def dtype(self) -> dtype:
        return self.type.block_type.element_ty

    @property
    def layout(self) -> NVMMASharedLayout:
        return self.type.layout


def block_policy(cache_policy: object) -> Any:
    """A policy that the copy engine has: of the second-level cache alone."""
    policy = unwrap(cache_policy)
    if policy is None:
        return None
    if getattr(policy, "cache_modifier", None) is not None:
        raise ValueError("TMA operations do not support cache modifiers")
    if policy.l1 is not None:
        raise ValueError("TMA operations do not support L1 eviction policies")
    if policy.l2_prefetch_size is not None:
        raise ValueError("TMA operations do not support L2 prefetch size")
    return policy


@builtin
def async_load(
    tensor_desc: tensor_descriptor,
    coord: Any,
    barrier: shared_memory_descriptor,
    result: shared_memory_descriptor,
    pred: Any = True,
    multicast: Any = False,
    cache_policy: Any = None,
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """Copy the block at ``coord`` to shared memory, if ``pred`` is true. Its bytes arrive at ``barrier``, which has to
    expect them."""
    _semantic.block_load(tensor_desc, coord, barrier, result, pred, unwrap(multicast), block_policy(cache_policy))


@builtin
def async_store(
    tensor_desc: tensor_descriptor,
    coord: Any,
    src: shared_memory_descriptor,
    cache_policy: Any = None,
    _semantic: GluonSemantics = INJECTED,
) -> None:
    """Copy shared memory to the block at ``coord``; `store_wait` waits for it."""
    _semantic.block_store(tensor_desc, coord, src, block_policy(cache_policy))


@builtin
def async_copy_global_to_shared(*args: Any, _semantic: GluonSemantics = INJECTED, **kwargs: Any) -> NoReturn:
    """`async_load`, as it was called: raises RuntimeError, as in Triton 3.9."""
    raise RuntimeError("async_copy_global_to_shared has been removed; call async_load instead")


@builtin
def async_copy_shared_to_global(*args: Any, _semantic: GluonSemantics = INJECTED, **kwargs: Any) -> NoReturn:
    """`async_store`, as it was called: raises RuntimeError, as in Triton 3.9."""
    raise RuntimeError("async_copy_shared_to_global has been removed; call async_store instead")


@builtin
def async_atomic_add(
    tensor_desc: tensor_descriptor, coord: Any, src: shared_memory_descriptor, _semantic: GluonSemantics = INJECTED
) -> None:
    """Add shared memory to the block at ``coord``; `store_wait` waits for it."""
    _semantic.block_reduce("ADD", tensor_desc, coord, src)


@builtin
def async_atomic_min(
    tensor_desc: tensor_descriptor, coord: Any, src: shared_memory_descriptor, _semantic: GluonSemantics = INJECTED
) -> None:
    """Leave in the block at ``coord`` the smaller of its elements and those in shared memory."""
    _semantic.block_reduce("MIN", tensor_desc, coord, src)


@builtin
def async_atomic_max(
    tensor_desc: tensor_descriptor, coord: Any, src: shared_memory_descriptor, _semantic: GluonSemantics = INJECTED
) -> None:
    """Leave in the block at ``coord`` the larger of its elements and those in shared memory."""
    _semantic.block_reduce("MAX", tensor_desc, coord, src)


@builtin
def async_atomic_and(
    tensor_desc: tensor_descriptor, coord: Any, src: shared_memory_descriptor, _semantic: GluonSemantics = INJECTED
) -> None:
    """Combine the block at ``coord`` with shared memory by ``and`` of bits."""
    _semantic.block_reduce("AND", tensor_desc, coord, src)


@builtin
def async_atomic_or(
    tensor_desc: tensor_descriptor, coord: Any, src: shared_memory_descriptor, _semantic: GluonSemantics = INJECTED
) -> None:
    """Combine the block at ``coord`` with shared memory by ``or`` of bits."""
    _semantic.block_reduce("OR", tensor_desc, coord, src)


@builtin
def async_atomic_xor(
    tensor_desc: tensor_descriptor, coord: Any, src: shared_memory_descriptor, _semantic: GluonSemantics = INJECTED
) -> None:
    """Combine the block at ``coord`` with shared memory by exclusive ``or`` of bits."""
    _semantic.block_reduce("XOR", tensor_desc, coord, src)


@builtin
def store_wait(pendings: Any, read_only: Any = True, _semantic: GluonSemantics = INJECTED) -> None:
    """Wait until at most ``pendings`` stores are under way; with ``read_only`` only until no others read shared memory,
    whose writes other blocks may see later."""
    _semantic.wait_for_stores(unwrap(pendings), bool(unwrap(read_only)))


@builtin
def make_tensor_descriptor(
    base: Any,
    shape: Any,
    strides: Any,
    block_shape: Any,
    layout: Any,
    padding_option: Any = "zero",
    _semantic: GluonSemantics = INJECTED,
) -> tensor_descriptor:
    """A descriptor of an array that the kernel makes: ``base`` with its extents and strides (in elements, the last one
    is 1), blocks of which lie in shared memory by ``layout``. Raises ValueError for what the engine cannot copy."""
    return _semantic.make_block_descriptor(
        base, unwrap(shape), unwrap(strides), unwrap(block_shape), unwrap(layout), unwrap(padding_option)
    )
