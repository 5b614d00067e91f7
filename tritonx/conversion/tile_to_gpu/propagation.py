"""How the layouts of an op's operands and results hang together.

An op is written for one encoding, its *key*; the propagation through the constraint that it declares
(`tritonx.dialects.layout_constraints`) says which encodings the operands and results then have. For elementwise ops the
key is the common encoding; for a reduction it is the operand's, and the results have slices of it. It goes both ways:
 `key_of_result` finds the key under which a result has a wanted encoding, `keys_from_operands` the keys that fit
what operands have already. What they choose, the verifier of the constraint holds against.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tritonx.conversion.tile_to_gpu.blocked import default_encoding
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.dialects import arith, math, tile
from tritonx.dialects import layout_constraints as constraints
from tritonx.dialects.layout_constraints import LayoutConstraint, constraint_of, values_of
from tritonx.ir.failure import PassError
from tritonx.ir.properties import integer_property, integers_property
from tritonx.ir.types import is_tensor, shape_of, type_of
from tritonx.layouts import LayoutError, axis_bits, infer, linear_layout
from tritonx.layouts.dims import BLOCK, LANE, REGISTER, WARP
from tritonx.layouts.encodings import DistributedEncoding, Ints, SliceEncoding
from tritonx.layouts.gf2 import rank

Encodings = list[DistributedEncoding | None]
"""One for each operand or result; None for what is no tensor, or may come (a result: be made) in any layout."""


class Propagation:
    """Of ops whose tensors all have one encoding, the key, besides those that the constraint leaves out. Other classes
    derive from it.
    """

    free_source = False
    """The op makes its result from scalars: any key costs next to nothing."""

    computes = True
    """The op takes time for each register, rather than giving registers other names."""

    def operands(self, op: Operation, key: DistributedEncoding) -> Encodings:
        free = _in_any_layout(op)
        return [key if is_tensor(type_of(v)) and v not in free else None for v in op.operands]

    def results(self, op: Operation, key: DistributedEncoding) -> Encodings:
        free = _in_any_layout(op)
        return [key if is_tensor(type_of(r)) and r not in free else None for r in op.results]

    def leaves_out(self, op: Operation, value: SSAValue) -> bool:
        """Whether the operand or result may have any layout, whatever the others have."""
        return value in _in_any_layout(op)

    def key_of_result(self, op: Operation, index: int, wanted: DistributedEncoding) -> DistributedEncoding | None:
        """The key for which result `index` has the encoding, None when there is none."""
        return wanted

    def keys_from_operands(self, op: Operation, given: Encodings) -> list[DistributedEncoding]:
        """Keys for which some operand has what it is given as; empty when nothing is given."""
        free = _in_any_layout(op)
        found: list[DistributedEncoding] = []
        for operand, encoding in zip(op.operands, given, strict=True):
            if encoding is not None and encoding not in found and operand not in free:
                found.append(encoding)
        return found

    def fits(self, op: Operation, key: DistributedEncoding) -> bool:
        """Whether the op can be emitted for this key."""
        return True

    def default_key(self, op: Operation, target: GpuTarget) -> DistributedEncoding:
        """The key of an op that nothing else decides about."""
        free = _in_any_layout(op)
        tensors = [v for v in (*op.results, *op.operands) if is_tensor(type_of(v))]
        if not tensors:
            raise PassError(op, f"{op.name} has no tensor whose layout could be chosen")
        decides = next((v for v in tensors if v not in free), tensors[0])
        return plain(shape_of(type_of(decides)), target)


def _in_any_layout(op: Operation) -> frozenset[SSAValue]:
    """The operands and results that the op's constraint leaves out."""
    names: tuple[str, ...] = getattr(constraint_of(op), "besides", ())
    return frozenset(value for name in names for value in values_of(op, name))


def plain(shape: Ints, target: GpuTarget) -> DistributedEncoding:
    """The default encoding of a shape."""
    return default_encoding(shape, target.num_warps, target.warp_size, target.num_ctas)


def shares_out_less(encoding: DistributedEncoding, shape: Ints) -> bool:
    """Whether threads hold more elements each than they would if every thread held others."""
    layout = linear_layout(encoding, shape)
    threads = sum(len(layout.columns(dim)) for dim in (LANE, WARP, BLOCK))
    return rank(layout.columns(REGISTER)) > max(0, layout.total_out_bits - threads)


class FreeSource(Propagation):
    free_source = True


class Broadcast(Propagation):
    def keys_from_operands(self, op: Operation, given: Encodings) -> list[DistributedEncoding]:
        """Where few elements lie on many threads, each thread would get all that becomes of them."""
        shape = shape_of(type_of(op.results[0]))
        return [key for key in super().keys_from_operands(op, given) if not shares_out_less(key, shape)]


class ExpandDims(Propagation):
    computes = False

    def operands(self, op: Operation, key: DistributedEncoding) -> Encodings:
        return [infer.expanded_source(key, integer_property(op, "axis"))]

    def keys_from_operands(self, op: Operation, given: Encodings) -> list[DistributedEncoding]:
        """Only a slice says how the larger tile lies; any other layout would put it on few threads."""
        source, axis = given[0], integer_property(op, "axis")
        return [source.parent] if isinstance(source, SliceEncoding) and source.dim == axis else []


class Trans(Propagation):
    computes = False

    def operands(self, op: Operation, key: DistributedEncoding) -> Encodings:
        order = integers_property(op, "order")
        return [infer.transposed_source(key, order, shape_of(type_of(op.results[0])))]

    def keys_from_operands(self, op: Operation, given: Encodings) -> list[DistributedEncoding]:
        if given[0] is None:
            return []
        order = integers_property(op, "order")
        return [infer.transposed(given[0], order, shape_of(type_of(op.operands[0])))]


class Reshape(Propagation):
    computes = False

    def operands(self, op: Operation, key: DistributedEncoding) -> Encodings:
        return [infer.reshaped(key, shape_of(type_of(op.results[0])), shape_of(type_of(op.operands[0])))]

    def keys_from_operands(self, op: Operation, given: Encodings) -> list[DistributedEncoding]:
        if given[0] is None:
            return []
        return [infer.reshaped(given[0], shape_of(type_of(op.operands[0])), shape_of(type_of(op.results[0])))]


@dataclass(frozen=True)
class Together(Propagation):
    """Two tiles of one layout become one. The key is the result's encoding; ``part`` finds the operands' from it, if
    they have one, and ``whole`` the reverse; both take the shape of what they are given the encoding of.
    """

    computes = False

    part: Callable[[DistributedEncoding, Ints], DistributedEncoding | None]
    whole: Callable[[DistributedEncoding, Ints], DistributedEncoding]
    refusal: str

    def operands(self, op: Operation, key: DistributedEncoding) -> Encodings:
        part = self.part(key, shape_of(type_of(op.results[0])))
        if part is None:
            raise LayoutError(self.refusal)
        return [part, part]

    def key_of_result(self, op: Operation, index: int, wanted: DistributedEncoding) -> DistributedEncoding | None:
        part = self.part(wanted, shape_of(type_of(op.results[0])))
        return None if part is None else wanted

    def keys_from_operands(self, op: Operation, given: Encodings) -> list[DistributedEncoding]:
        shape = shape_of(type_of(op.operands[0]))
        return [self.whole(encoding, shape) for encoding in dict.fromkeys(given) if encoding is not None]

    def default_key(self, op: Operation, target: GpuTarget) -> DistributedEncoding:
        shape = shape_of(type_of(op.operands[0]))
        return self.whole(plain(shape, target), shape)


APART = "the pair is not in one thread's registers"
JOIN = Together(infer.split_from, infer.joined, APART)
CAT = Together(
    infer.concatenated_source, infer.concatenated, "the result's registers are not those of the two operands"
)
"""Registers of both operands one after another, in no promised order: the result needs twice as many of them."""


class Split(Propagation):
    """The key is the operand's encoding."""

    computes = False

    def results(self, op: Operation, key: DistributedEncoding) -> Encodings:
        part = infer.split_from(key, shape_of(type_of(op.operands[0])))
        if part is None:
            raise LayoutError(APART)
        return [part, part]

    def key_of_result(self, op: Operation, index: int, wanted: DistributedEncoding) -> DistributedEncoding | None:
        return infer.joined(wanted, shape_of(type_of(op.results[0])))

    def keys_from_operands(self, op: Operation, given: Encodings) -> list[DistributedEncoding]:
        source, shape = given[0], shape_of(type_of(op.operands[0]))
        return [] if source is None or infer.split_from(source, shape) is None else [source]

    def default_key(self, op: Operation, target: GpuTarget) -> DistributedEncoding:
        shape = shape_of(type_of(op.results[0]))
        return infer.joined(plain(shape, target), shape)


class Reduce(Propagation):
    """The key is the operands' encoding, the results have a slice of it."""

    computes = False

    def results(self, op: Operation, key: DistributedEncoding) -> Encodings:
        sliced = infer.reduced(key, integer_property(op, "axis"))
        return [sliced if is_tensor(type_of(r)) else None for r in op.results]

    def key_of_result(self, op: Operation, index: int, wanted: DistributedEncoding) -> DistributedEncoding | None:
        axis = integer_property(op, "axis")
        return wanted.parent if isinstance(wanted, SliceEncoding) and wanted.dim == axis else None

    def fits(self, op: Operation, key: DistributedEncoding) -> bool:
        """The axis lies along bits of its own, inside a block."""
        bits = axis_bits(linear_layout(key, shape_of(type_of(op.operands[0]))), integer_property(op, "axis"))
        return bits is not None and not bits.blocks

    def default_key(self, op: Operation, target: GpuTarget) -> DistributedEncoding:
        return plain(shape_of(type_of(op.operands[0])), target)


class Scan(Propagation):
    computes = False

    def fits(self, op: Operation, key: DistributedEncoding) -> bool:
        """Besides, warps step together and further than lanes: a warp's total is known before warps exchange
        theirs.
        """
        bits = axis_bits(linear_layout(key, shape_of(type_of(op.operands[0]))), integer_property(op, "axis"))
        if bits is None or bits.blocks:
            return False
        warps = [step for _, step in bits.warps]
        between = [step for _, step in (*bits.registers, *bits.lanes) if warps and min(warps) < step < max(warps)]
        return not between and not any(warps and step > min(warps) for _, step in bits.lanes)


class Anything(Propagation):
    """Operands and results in any layout."""

    computes = False

    def leaves_out(self, op: Operation, value: SSAValue) -> bool:
        return True

    def operands(self, op: Operation, key: DistributedEncoding) -> Encodings:
        return [None] * len(op.operands)

    def results(self, op: Operation, key: DistributedEncoding) -> Encodings:
        return [None] * len(op.results)

    def keys_from_operands(self, op: Operation, given: Encodings) -> list[DistributedEncoding]:
        return []


PROPAGATIONS: dict[type[LayoutConstraint], Propagation] = {
    constraints.SameLayout: Propagation(),
    constraints.LookedUp: Propagation(),
    constraints.Elementwise: Propagation(),
    constraints.FromScalars: FreeSource(),
    constraints.Broadcast: Broadcast(),
    constraints.DotOperands: Propagation(),
    constraints.ExpandDims: ExpandDims(),
    constraints.Transposed: Trans(),
    constraints.Reshaped: Reshape(),
    constraints.Joined: JOIN,
    constraints.SplitApart: Split(),
    constraints.Reordered: CAT,
    constraints.Reduced: Reduce(),
    constraints.Scanned: Scan(),
    constraints.AnyLayouts: Anything(),
}
"""By what ops declare. Those of ops that only `ttg` has are missing: layouts are assigned before there are any."""


def propagation_of(op: Operation) -> Propagation:
    """The propagation of an op that computes on tensors. Raises `PassError` where it declares no known constraint."""
    declared = constraint_of(op)
    propagation = PROPAGATIONS.get(type(declared)) if declared is not None else None
    if propagation is None:
        raise PassError(op, f"how the layouts of {op.name} hang together is not known: its class must declare LAYOUTS")
    return propagation


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
    tile.ApproxDivFOp,
    tile.PreciseSqrtOp,
    tile.ExternElementwiseOp,
)
"""Ops that take about eight times as long as an addition."""
