"""Products of the tensor cores that accumulate in tensor memory (`tcgen05.mma`), and what tells that they are done."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, SSAValue

from tritonx.dialects.nvidia import TCGen5CommitOp, TCGen5MMAOp, TCGen5MMAScaledOp
from tritonx.dialects.tile.enums import ScaleDotElemType
from tritonx.experimental.gluon.language.nvidia.blackwell.tensor_memory import tensor_memory_descriptor
from tritonx.experimental.gluon.layouts import TensorMemoryLayout
from tritonx.experimental.gluon.semantics.nvidia.tensor_memory import TensorMemorySemantics
from tritonx.experimental.gluon.values import shared_memory_descriptor
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.ir.declaration import SEGMENTS, sizes_of_segments

MEMORY = shared_memory_descriptor | tensor_memory_descriptor

SCALED = {"e2m1": ScaleDotElemType.E2M1, "e4m3": ScaleDotElemType.E4M3, "e5m2": ScaleDotElemType.E5M2}


class TensorProductSemantics(TensorMemorySemantics):
    def tensor_core_product(
        self,
        a: object,
        b: object,
        acc: object,
        use_acc: object,
        pred: object,
        multicast: object,
        barriers: Sequence[object] | None,
        predicates: Sequence[object] | None,
    ) -> None:
        """Begin a product; the barriers are told when it is done."""
        operands = _operands(a, b, acc, multicast)
        told, when = self._barriers(barriers, predicates)
        operands += [self.predicate(use_acc).handle, self.predicate(pred).handle, *told, *when]
        sizes = sizes_of_segments((1, 1, 1, 0, 1, 1, len(told), len(when)))
        self.builder.create(TCGen5MMAOp, operands, (), {SEGMENTS: sizes, "is_async": UnitAttr()})

    def scaled_tensor_core_product(
        self,
        values: tuple[object, object, object],
        scales: tuple[object, object],
        kinds: tuple[object, object],
        use_acc: object,
        pred: object,
        multicast: object,
        barriers: Sequence[object] | None,
        predicates: Sequence[object] | None,
    ) -> None:
        """Begin a product of operands with scales."""
        operands = _operands(*values, multicast)
        acc = values[2]
        assert isinstance(acc, tensor_memory_descriptor)
        if isinstance(acc.layout, TensorMemoryLayout) and acc.layout.block[0] == 64:
            raise ValueError("tcgen05_mma_scaled does not support blocks of 64 rows")
        for scale in scales:
            if not isinstance(scale, tensor_memory_descriptor):
                raise TypeError(f"scales are in tensor memory, got {scale}")
            operands.append(scale.handle)
        properties: dict[str, Attribute] = {"is_async": UnitAttr()}
        for name, kind in zip(("a_type", "b_type"), kinds, strict=True):
            if not isinstance(kind, str) or kind not in SCALED:
                raise ValueError(f"{name} must be one of {', '.join(SCALED)}, got {kind}")
            properties[name] = enum_attribute(SCALED[kind])
        told, when = self._barriers(barriers, predicates)
        operands += [self.predicate(use_acc).handle, self.predicate(pred).handle, *told, *when]
        properties[SEGMENTS] = sizes_of_segments((1, 1, 1, 0, 1, 1, 1, 1, len(told), len(when)))
        self.builder.create(TCGen5MMAScaledOp, operands, (), properties)

    def commit_products(self, barrier: shared_memory_descriptor, pred: object, operands: Sequence[object]) -> None:
        """Have a barrier told when what was begun so far is done."""
        if operands and self.options.num_ctas > 1:
            raise ValueError("a commit tells its own block's barrier only: descs of a cluster are not supported")
        self.builder.create(TCGen5CommitOp, [barrier.handle, self.predicate(pred).handle])

    def _barriers(
        self, barriers: Sequence[object] | None, predicates: Sequence[object] | None
    ) -> tuple[list[SSAValue], list[SSAValue]]:
        """The handles of barriers and of the predicates of each."""
        if barriers is None:
            if predicates:
                raise ValueError("mbarrier_preds belong to mbarriers, which are not given")
            return [], []
        given: Sequence[object] = [True] * len(barriers) if predicates is None else predicates
        if len(given) != len(barriers):
            raise ValueError(f"{len(barriers)} mbarriers have {len(given)} predicates")
        told: list[SSAValue] = []
        for barrier in barriers:
            if not isinstance(barrier, shared_memory_descriptor):
                raise TypeError(f"mbarriers are in shared memory, got {barrier}")
            told.append(barrier.handle)
        return told, [self.predicate(each).handle for each in given]


def _operands(a: object, b: object, acc: object, multicast: object) -> list[SSAValue]:
    """The handles of a product's operands. Raises TypeError for what lies elsewhere, ValueError for what blocks of a
    cluster do together."""
    if not isinstance(a, MEMORY) or not isinstance(b, MEMORY):
        raise TypeError(f"operands are in shared or tensor memory, got {a} and {b}")
    if not isinstance(acc, tensor_memory_descriptor):
        raise TypeError(f"the accumulator is in tensor memory, got {acc}")
    if multicast:
        raise ValueError("multicast is not supported: a product tells the barriers of its own block")
    if isinstance(acc.layout, TensorMemoryLayout) and acc.layout.two_ctas:
        raise ValueError("a product by two blocks is not supported: two_ctas=False multiplies in each for itself")
    return [a.handle, b.handle, acc.handle]
