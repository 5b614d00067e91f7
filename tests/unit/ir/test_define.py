"""`define`'s fast `create` builds exactly what xDSL's own `Operation.create` builds."""

import dataclasses

import pytest
from xdsl.dialects.builtin import UNKNOWN_LOC, IntegerAttr, StringAttr
from xdsl.ir import Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

from tritonx.dialects import amd, arith, cf, gpu_layout, math, nvidia, scf, tile
from tritonx.ir.declaration import SEGMENTS
from tritonx.ir.define import append
from tritonx.ir.location import file_loc
from tritonx.ir.types import f32, i1, i32, pointer, tensor

ALL_OPS = [
    op
    for dialect in (tile.Tile, gpu_layout.GPULayout, nvidia.Nvidia, amd.Amd, arith.Arith, math.Math, scf.Scf, cf.Cf)
    for op in dialect.operations
    if op.__module__.startswith("tritonx.")
]


def xdsl_create(cls, **fields):
    """xDSL's path, which `define` has replaced on the class."""
    return Operation.create.__func__(cls, **fields)


def state(op: Operation, values) -> dict:
    number = {id(value): i for i, value in enumerate(values)}
    fields = {f.name: getattr(op, f.name) for f in dataclasses.fields(op)}
    fields["_operands"] = [number[id(v)] for v in op._operands]
    fields["_operand_uses"] = [(use._operation is op, use._index) for use in op._operand_uses]
    fields["results"] = [(r.type, r.index, r.op is op, r.name_hint, r.first_use) for r in op.results]
    fields["regions"] = [region.parent is op for region in op.regions]
    fields.pop("properties")
    return fields


@pytest.mark.parametrize("cls", ALL_OPS, ids=lambda c: c.name)
def test_same_as_xdsl(cls):
    fields = {
        "result_types": (f32, i32),
        "attributes": {"a": StringAttr("x")},
        "properties": {"p": IntegerAttr(1, i32)},
        "location": file_loc("k.py", 3, 4),
    }
    left, right = Block(arg_types=[f32, i32]), Block(arg_types=[f32, i32])
    ours = cls.create(operands=(*left.args, left.args[0]), regions=[Region()], **fields)
    theirs = xdsl_create(cls, operands=(*right.args, right.args[0]), regions=[Region()], **fields)
    assert state(ours, left.args) == state(theirs, right.args)
    assert set(vars(theirs)) <= set(vars(ours))
    assert {**theirs.properties, **ours.properties} == ours.properties
    for a, b in zip(left.args, right.args, strict=True):
        assert [use.index for use in a.uses] == [use.index for use in b.uses]
    assert ours.verify_.__func__ is cls.verify_


def test_defaults():
    op = arith.AddiOp.create()
    assert op.location is UNKNOWN_LOC
    assert op.parent is None and op.next_op is None and op.prev_op is None and not list(op.successors)
    assert op.properties["overflowFlags"] == arith.IntegerOverflowAttr(frozenset())


def test_uses_survive_replacement_and_erasure():
    block = Block(arg_types=[i32, i32])
    a, b = block.args
    first = arith.AddiOp.create(operands=(a, b), result_types=(i32,))
    second = arith.AddiOp.create(operands=(first.results[0], first.results[0]), result_types=(i32,))
    append(block, first)
    append(block, second)
    assert list(block.ops) == [first, second] and first.next_op is second and second.prev_op is first
    first.results[0].replace_all_uses_with(a)
    assert second.operands[0] is a and second.operands[1] is a
    block.erase_op(first)
    assert list(block.ops) == [second] and sorted(use.index for use in a.uses) == [0, 1] and not list(b.uses)
    second.operands[1] = b
    assert len(list(b.uses)) == 1


def test_append_is_add_op():
    one, two = Block(), Block()
    for block, add in ((one, append), (two, Block.add_op)):
        for _ in range(3):
            add(block, tile.GetProgramIdOp.create(result_types=(i32,), properties={"axis": IntegerAttr(0, i32)}))
    for block in (one, two):
        ops = list(block.ops)
        assert len(ops) == 3 and all(op.parent is block for op in ops)
        assert block.first_op is ops[0] and block.last_op is ops[2]
        assert ops[1].prev_op is ops[0] and ops[1].next_op is ops[2]


def test_segments_are_filled_in():
    pointers = tensor(pointer(f32), (64,))
    block = Block(arg_types=[pointers, tensor(i1, (64,)), tensor(f32, (64,)), i32])
    ptr, mask, other, _ = block.args
    for count, wanted in ((1, (1, 0, 0)), (2, (1, 1, 0)), (3, (1, 1, 1))):
        load = tile.LoadOp.create(operands=(ptr, mask, other)[:count], result_types=(tensor(f32, (64,)),))
        assert load.properties[SEGMENTS].get_values() == wanted
        assert (load.ptr, load.mask, load.other) == (*(ptr, mask, other)[:count], None, None)[:3]
        load.verify()


def test_accessors_of_optional_and_variadic_operands():
    block = Block(arg_types=[i32, f32, f32])
    n, x, y = block.args
    returned = tile.ReturnOp.create(operands=(n, x, y))
    assert tuple(returned.srcs) == (n, x, y)
    loop = scf.ForOp.create(
        operands=(n, n, n, x, y), result_types=(f32, f32), regions=[Region(Block(arg_types=[i32, f32, f32]))]
    )
    assert tuple(loop.iter_args) == (x, y) and loop.lb is n


def test_types_that_follow_are_verified():
    block = Block(arg_types=[tensor(pointer(f32), (64,)), tensor(i1, (32,))])
    load = tile.LoadOp.create(operands=block.args, result_types=(tensor(f32, (64,)),))
    with pytest.raises(VerifyException, match="the type of 'mask' must be tensor<64xi1>"):
        load.verify()
