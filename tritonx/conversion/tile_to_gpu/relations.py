"""How the layouts of an op's operands and results hang together.

An op is written in a *version*, named by one encoding, its key; the relation of its class says which encodings the
operands and results then have. For elementwise ops the key is the common encoding; for a reduction it is the
operand's, and the results have slices of it. Relations go both ways: `key_of_result` finds the key under which a
result has a wanted encoding, `keys_from_operands` the keys that fit what operands have already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation

from tritonx.conversion.tile_to_gpu.blocked import default_encoding
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import arith, math, tile
from tritonx.ir.types import is_tensor, shape_of, type_of
from tritonx.layouts import LayoutError, axis_bits, infer, linear_layout
from tritonx.layouts.encodings import DistributedEncoding, Ints, SliceEncoding

Encodings = list[DistributedEncoding | None]
"""One for each operand or result; None for what is no tensor, or (operands) may come in any layout."""


class Relation:
    """The relation of ops whose tensors all have one encoding, the key. Other classes derive from it."""

    free_source = False
    """The op makes its result from scalars: any version costs next to nothing."""

    def operands(self, op: Any, key: DistributedEncoding) -> Encodings:
        return [key if is_tensor(type_of(v)) else None for v in op.operands]

    def results(self, op: Any, key: DistributedEncoding) -> Encodings:
        return [key if is_tensor(type_of(r)) else None for r in op.results]

    def key_of_result(self, op: Any, index: int, wanted: DistributedEncoding) -> DistributedEncoding | None:
        """The version in which result `index` has the encoding, None when there is none."""
        return wanted

    def keys_from_operands(self, op: Any, given: Encodings) -> list[DistributedEncoding]:
        """Versions in which some operand has what it is given as; empty when nothing is given."""
        found: list[DistributedEncoding] = []
        for encoding in given:
            if encoding is not None and encoding not in found:
                found.append(encoding)
        return found

    def fits(self, op: Any, key: DistributedEncoding) -> bool:
        """Whether the op can be emitted in this version."""
        return True

    def default_key(self, op: Any, target: GpuTarget) -> DistributedEncoding:
        """The version for an op that nothing else decides about."""
        for value in (*op.results, *op.operands):
            if is_tensor(type_of(value)):
                return plain(shape_of(type_of(value)), target)
        raise LayoutError(f"{op.name} has no tensor")


def plain(shape: Ints, target: GpuTarget) -> DistributedEncoding:
    """The default encoding of a shape."""
    return default_encoding(shape, target.num_warps, target.warp_size, target.num_ctas)


class FreeSource(Relation):
    free_source = True

    def operands(self, op: Any, key: DistributedEncoding) -> Encodings:
        return [None] * len(op.operands)


class ExpandDims(Relation):
    def operands(self, op: Any, key: DistributedEncoding) -> Encodings:
        return [infer.expanded_source(key, op.axis.value.data)]

    def keys_from_operands(self, op: Any, given: Encodings) -> list[DistributedEncoding]:
        """Only a slice says how the larger tile lies; any other layout would put it on few threads."""
        source, axis = given[0], op.axis.value.data
        return [source.parent] if isinstance(source, SliceEncoding) and source.dim == axis else []


class Trans(Relation):
    def operands(self, op: Any, key: DistributedEncoding) -> Encodings:
        order = [int(axis) for axis in op.order.get_values()]
        return [infer.transposed_source(key, order, shape_of(type_of(op.results[0])))]

    def keys_from_operands(self, op: Any, given: Encodings) -> list[DistributedEncoding]:
        if given[0] is None:
            return []
        order = [int(axis) for axis in op.order.get_values()]
        return [infer.transposed(given[0], order, shape_of(type_of(op.operands[0])))]


class Reshape(Relation):
    def operands(self, op: Any, key: DistributedEncoding) -> Encodings:
        return [infer.reshaped(key, shape_of(type_of(op.results[0])), shape_of(type_of(op.operands[0])))]

    def keys_from_operands(self, op: Any, given: Encodings) -> list[DistributedEncoding]:
        if given[0] is None:
            return []
        return [infer.reshaped(given[0], shape_of(type_of(op.operands[0])), shape_of(type_of(op.results[0])))]


@dataclass(frozen=True)
class Together(Relation):
    """Two tiles of one layout become one. The key is the result's encoding; ``part`` finds the operands' from it, if
    they have one, and ``whole`` the reverse; both take the shape of what they are given the encoding of.
    """

    part: Callable[[DistributedEncoding, Ints], DistributedEncoding | None]
    whole: Callable[[DistributedEncoding, Ints], DistributedEncoding]
    refusal: str

    def operands(self, op: Any, key: DistributedEncoding) -> Encodings:
        part = self.part(key, shape_of(type_of(op.results[0])))
        if part is None:
            raise LayoutError(self.refusal)
        return [part, part]

    def key_of_result(self, op: Any, index: int, wanted: DistributedEncoding) -> DistributedEncoding | None:
        part = self.part(wanted, shape_of(type_of(op.results[0])))
        return None if part is None else wanted

    def keys_from_operands(self, op: Any, given: Encodings) -> list[DistributedEncoding]:
        shape = shape_of(type_of(op.operands[0]))
        return [self.whole(encoding, shape) for encoding in dict.fromkeys(given) if encoding is not None]

    def default_key(self, op: Any, target: GpuTarget) -> DistributedEncoding:
        shape = shape_of(type_of(op.operands[0]))
        return self.whole(plain(shape, target), shape)


APART = "the pair is not in one thread's registers"
JOIN = Together(infer.split_from, infer.joined, APART)
CAT = Together(
    infer.concatenated_source, infer.concatenated, "the result's registers are not those of the two operands"
)
"""Registers of both operands one after another, in no promised order: the result needs twice as many of them."""


class Split(Relation):
    """The key is the operand's encoding."""

    def results(self, op: Any, key: DistributedEncoding) -> Encodings:
        part = infer.split_from(key, shape_of(type_of(op.operands[0])))
        if part is None:
            raise LayoutError(APART)
        return [part, part]

    def key_of_result(self, op: Any, index: int, wanted: DistributedEncoding) -> DistributedEncoding | None:
        return infer.joined(wanted, shape_of(type_of(op.results[0])))

    def keys_from_operands(self, op: Any, given: Encodings) -> list[DistributedEncoding]:
        source, shape = given[0], shape_of(type_of(op.operands[0]))
        return [] if source is None or infer.split_from(source, shape) is None else [source]

    def default_key(self, op: Any, target: GpuTarget) -> DistributedEncoding:
        shape = shape_of(type_of(op.results[0]))
        return infer.joined(plain(shape, target), shape)


class Reduce(Relation):
    """The key is the operands' encoding, the results have a slice of it."""

    def results(self, op: Any, key: DistributedEncoding) -> Encodings:
        sliced = infer.reduced(key, op.axis.value.data)
        return [sliced if is_tensor(type_of(r)) else None for r in op.results]

    def key_of_result(self, op: Any, index: int, wanted: DistributedEncoding) -> DistributedEncoding | None:
        axis = op.axis.value.data
        return wanted.parent if isinstance(wanted, SliceEncoding) and wanted.dim == axis else None

    def fits(self, op: Any, key: DistributedEncoding) -> bool:
        """The axis lies along bits of its own, inside a block."""
        bits = axis_bits(linear_layout(key, shape_of(type_of(op.operands[0]))), op.axis.value.data)
        return bits is not None and not bits.blocks

    def default_key(self, op: Any, target: GpuTarget) -> DistributedEncoding:
        return plain(shape_of(type_of(op.operands[0])), target)


class Scan(Relation):
    def fits(self, op: Any, key: DistributedEncoding) -> bool:
        """Besides, warps step together and further than lanes: a warp's total is known before warps exchange
        theirs.
        """
        bits = axis_bits(linear_layout(key, shape_of(type_of(op.operands[0]))), op.axis.value.data)
        if bits is None or bits.blocks:
            return False
        warps = [step for _, step in bits.warps]
        between = [step for _, step in (*bits.registers, *bits.lanes) if warps and min(warps) < step < max(warps)]
        return not between and not any(warps and step > min(warps) for _, step in bits.lanes)


class Gather(Relation):
    """Source in any layout; indices and result share one."""

    def operands(self, op: Any, key: DistributedEncoding) -> Encodings:
        return [None, key]

    def keys_from_operands(self, op: Any, given: Encodings) -> list[DistributedEncoding]:
        return [given[1]] if given[1] is not None else []


class Anything(Relation):
    """Operands in any layout, results in any: the op goes through memory (histogram) or looks at elements one by
    one.
    """

    def operands(self, op: Any, key: DistributedEncoding) -> Encodings:
        return [None] * len(op.operands)

    def keys_from_operands(self, op: Any, given: Encodings) -> list[DistributedEncoding]:
        return []


ELEMENTWISE = Relation()
FREE = FreeSource()

RELATIONS: dict[type[Operation], Relation] = {
    arith.ConstantOp: FREE,
    tile.SplatOp: FREE,
    tile.MakeRangeOp: FREE,
    tile.ExpandDimsOp: ExpandDims(),
    tile.TransOp: Trans(),
    tile.ReshapeOp: Reshape(),
    tile.JoinOp: JOIN,
    tile.SplitOp: Split(),
    tile.CatOp: CAT,
    tile.ReduceOp: Reduce(),
    tile.ScanOp: Scan(),
    tile.GatherOp: Gather(),
    tile.HistogramOp: Anything(),
    tile.UnsplatOp: Anything(),
    tile.PrintOp: Anything(),
    tile.AssertOp: Anything(),
}
"""Classes whose relation is not that of elementwise ops."""


def relation_of(op: Operation) -> Relation:
    """The relation of an op that computes on tensors."""
    return RELATIONS.get(op.__class__, ELEMENTWISE)


HEAVY: tuple[type[Operation], ...] = (
    math.ExpOp,
    math.Exp2Op,
    math.LogOp,
    math.Log2Op,
    math.SinOp,
    math.CosOp,
    math.SqrtOp,
    math.RsqrtOp,
    math.ErfOp,
    arith.DivfOp,
    arith.DivSIOp,
    arith.DivUIOp,
    arith.RemSIOp,
    arith.RemUIOp,
    tile.PreciseDivFOp,
    tile.PreciseSqrtOp,
    tile.ExternElementwiseOp,
)
"""Ops that take about eight times as long as an addition."""
