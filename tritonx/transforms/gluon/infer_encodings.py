"""Layouts from the values for which some are asked to all that are connected with them.

Encodings spread over the graph of values until nothing is left to say. Some ops fit several layouts of their result
(`Reached.free`): what comes through such an op gives way to what comes without one, and what comes through two to what
comes through one. So values are settled in the order of how many such ops lie between them and an op that asks, and a
value that is settled stays so. Two encodings that are asked of one value without any such op between are a conflict.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects import arith, tile
from tritonx.dialects.gluon import undetermined
from tritonx.dialects.gpu_layout import attribute_of
from tritonx.dialects.layout_constraints import constraint_of
from tritonx.ir.edit import set_type
from tritonx.ir.failure import PassError
from tritonx.ir.source import source_of
from tritonx.ir.splat import retyped
from tritonx.ir.types import is_tensor, type_of, with_encoding
from tritonx.ir.walk import ops_in
from tritonx.layouts import LayoutError
from tritonx.layouts.encodings import DistributedEncoding
from tritonx.transforms.gluon.propagation import reached_from

CONVERT = "convert the value for one of them, or make it twice"


@dataclass(frozen=True)
class Request:
    """An encoding that an op asks for, of a value or of what is connected with it."""

    encoding: DistributedEncoding
    by: Operation


def infer_encodings(function: tile.FuncOp, standing: Attribute, seeds: Iterable[tuple[SSAValue, Request]]) -> None:
    """Give the tensors of a function whose encoding is ``standing`` the layouts that follow from ``seeds``. Those from
    which nothing follows stay.

    Raises ``PassError`` at the op that makes a value of which two layouts are asked.
    """
    _check_signature(function, standing)
    found = _settled(standing, seeds)
    for value, request in found.items():
        type_ = type_of(value)
        assert is_tensor(type_)
        set_type(value, determined := with_encoding(type_, attribute_of(request.encoding)))
        if isinstance(value.owner, arith.ConstantOp):
            value.owner.properties["value"] = retyped(value.owner.properties["value"], determined)


def _check_signature(function: tile.FuncOp, standing: Attribute) -> None:
    signature = function.function_type
    for types, verb in ((signature.inputs.data, "takes"), (signature.outputs.data, "returns")):
        for type_ in types:
            if undetermined(type_) == standing:
                raise PassError(
                    function, f"a function that is called cannot have {type_}, which it {verb}: it must be inlined"
                )


def _settled(standing: Attribute, seeds: Iterable[tuple[SSAValue, Request]]) -> dict[SSAValue, Request]:
    """The request that each value follows."""
    found: dict[SSAValue, Request] = {}
    level = deque(seeds)
    further: list[tuple[SSAValue, Request]] = []
    done: set[Operation] = set()
    is_free = False
    while level:
        while level:
            value, request = level.popleft()
            known = found.get(value)
            if known is not None:
                if not is_free and known.encoding != request.encoding:
                    raise _conflict(value, known, request)
                continue
            if undetermined(type_of(value)) != standing:
                continue
            found[value] = request
            for reached in reached_from(value, request.encoding, done):
                known = found.get(reached.value)
                if known is not None and (reached.free or known.encoding == reached.encoding):
                    continue
                same = reached.encoding is request.encoding
                follows = request if same else Request(reached.encoding, request.by)
                (further if reached.free else level).append((reached.value, follows))
        level, is_free = deque(further), True
        further.clear()
    return found


def _conflict(value: SSAValue, first: Request, second: Request) -> PassError:
    points = [points[0] for request in (first, second) if (points := source_of(request.by))]
    where = f"the first is asked for at {points[0]}, the second at {points[1]}; " if len(points) == 2 else ""
    layouts = " and ".join(str(attribute_of(request.encoding)) for request in (first, second))
    return PassError(_maker(value), f"two layouts are asked of one value: {layouts}", where + CONVERT)


def _maker(value: SSAValue) -> Operation:
    """The op that makes a value, or whose region gets it."""
    owner = value.owner
    if isinstance(owner, Block):
        owner = owner.parent_op()
        assert owner is not None
    return owner


def check_determined(root: Operation, standing: Attribute) -> None:
    """Raises ``PassError`` at the first op with a tensor whose encoding is still ``standing``, or whose layouts do not
    hang together."""
    for op in ops_in(root):
        for value in _made(op):
            if undetermined(type_of(value)) == standing:
                raise PassError(
                    op, f"no layout follows for {type_of(value)}", "say which layout it has, where it is made or used"
                )
    for op in ops_in(root):
        _check_constraint(op)


def _made(op: Operation) -> Iterator[SSAValue]:
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def _check_constraint(op: Operation) -> None:
    """The layouts that were chosen for an op go together, as far as they are determined."""
    constraint = constraint_of(op)
    types = [type_of(value) for value in (*op.operands, *op.results) if is_tensor(type_of(value))]
    if constraint is None or not types or any(undetermined(type_) for type_ in types):
        return
    try:
        constraint.check(op)
    except (LayoutError, VerifyException) as error:
        raise PassError(op, str(error), CONVERT) from error
