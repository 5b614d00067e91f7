"""The builder folds and merges as it emits, only where that is right."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects import builtin
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Region

from tritonx.dialects import arith, scf, tile
from tritonx.dialects.gluon import AUTO, COALESCED
from tritonx.dialects.gpu_layout import memdesc
from tritonx.ir.builder import Builder
from tritonx.ir.location import file_loc
from tritonx.ir.types import f32, i1, i32, pointer, tensor


def test_emit_folds_and_merges_and_create_does_neither() -> None:
    block = Block(arg_types=[i32, i32])
    x, y = block.args
    builder = Builder(block)
    zero = builder.constant(0, i32)
    assert builder.constant(0, i32) is zero
    assert builder.emit(arith.AddiOp, (x, zero), (i32,)) is x
    total = builder.emit(arith.AddiOp, (x, y), (i32,))
    assert builder.emit(arith.AddiOp, (x, y), (i32,)) is total
    assert builder.emit(arith.SubiOp, (x, y), (i32,)) is not total
    again = builder.create(arith.AddiOp, (x, y), (i32,))
    assert again.results[0] is not total
    assert [op.name for op in block.ops] == ["arith.constant", "arith.addi", "arith.subi", "arith.addi"]


def test_a_replacement_is_emitted_and_folded_again() -> None:
    block = Block(arg_types=[f32])
    builder = Builder(block)
    splat = builder.emit(tile.SplatOp, (block.args[0],), (tensor(f32, (4,)),))
    wide = builder.emit(tile.ExpandDimsOp, (splat,), (tensor(f32, (4, 1)),), {"axis": IntegerAttr(1, i32)})
    assert isinstance(wide.owner, tile.SplatOp)
    three = builder.constant(3.0, f32)
    assert isinstance(builder.emit(tile.SplatOp, (three,), (tensor(f32, (4,)),)).owner, arith.ConstantOp)


def test_properties_and_types_tell_ops_apart() -> None:
    block = Block(arg_types=[i32, i32])
    builder = Builder(block)
    less = builder.emit(arith.CmpiOp, block.args, (i1,), {"predicate": IntegerAttr(2, 64)})
    more = builder.emit(arith.CmpiOp, block.args, (i1,), {"predicate": IntegerAttr(4, 64)})
    assert less is not more
    a = builder.emit(tile.SplatOp, (block.args[0],), (tensor(i32, (4,)),))
    b = builder.emit(tile.SplatOp, (block.args[0],), (tensor(i32, (8,)),))
    assert a is not b


def test_tiles_whose_layouts_are_undetermined_are_not_merged() -> None:
    """Of two equal ones two layouts may be asked; what is no tile is merged."""
    block = Block(arg_types=[i32])
    builder = Builder(block)
    for encoding in (AUTO, COALESCED):
        type_ = tensor(i32, (4,), encoding)
        splats = [builder.emit(tile.SplatOp, (block.args[0],), (type_,)) for _ in range(2)]
        assert splats[0] is not splats[1]
        assert builder.constant(1, type_) is not builder.constant(1, type_)
    assert builder.constant(1, i32) is builder.constant(1, i32)


def test_types_that_are_kept_merge_with_those_made_later() -> None:
    """However many others a process makes in between: ops would merge or not by what was compiled before."""
    block = Block(arg_types=[i32, pointer(f32)])
    builder = Builder(block)

    def types() -> tuple[Any, ...]:
        one = tensor(i32, (4,)), pointer(f32), memdesc((4, 4), f32, builtin.NoneAttr())
        for n in range(1, 4500):
            tensor(i32, (n, 1)), pointer(tensor(i32, (n, 1))), memdesc((n, 8), f32, builtin.NoneAttr())
        return one

    kept, later = types(), types()
    assert all(a is b for a, b in zip(kept, later, strict=True))
    splats = [builder.emit(tile.SplatOp, (block.args[0],), (each[0],)) for each in (kept, later)]
    assert splats[0] is splats[1]


def test_ops_with_effects_are_never_merged() -> None:
    block = Block(arg_types=[pointer(f32)])
    builder = Builder(block)
    first = builder.emit(tile.LoadOp, (block.args[0],), (f32,))
    assert builder.emit(tile.LoadOp, (block.args[0],), (f32,)) is not first


def test_locations() -> None:
    block = Block(arg_types=[i32])
    builder = Builder(block, file_loc("k.py", 1, 2))
    first = builder.create(arith.AddiOp, (block.args[0], block.args[0]), (i32,))
    builder.location = file_loc("k.py", 3, 4)
    assert first.location == file_loc("k.py", 1, 2)
    assert builder.create(arith.AddiOp, (block.args[0], block.args[0]), (i32,)).location == file_loc("k.py", 3, 4)
    before = Builder.before(first)
    assert before.location == first.location
    made = before.create(arith.SubiOp, (block.args[0], block.args[0]), (i32,))
    assert block.first_op is made


def test_a_nested_block_sees_what_is_around_it() -> None:
    block = Block(arg_types=[i32, i1])
    builder = Builder(block)
    x = block.args[0]
    outside = builder.emit(arith.AddiOp, (x, x), (i32,))
    inner = Block()
    with builder.at(inner, nested=True):
        assert builder.block is inner
        assert builder.emit(arith.AddiOp, (x, x), (i32,)) is outside
        only_inside = builder.emit(arith.MuliOp, (x, x), (i32,))
        builder.create(scf.YieldOp)
    assert builder.block is block
    builder.create(scf.IfOp, (block.args[1],), (), regions=(Region(inner), Region()))
    assert builder.emit(arith.MuliOp, (x, x), (i32,)) is not only_inside


def test_a_detached_block_sees_only_itself_unless_told() -> None:
    block = Block(arg_types=[i32])
    builder = Builder(block)
    x = block.args[0]
    outside = builder.emit(arith.AddiOp, (x, x), (i32,))
    with builder.at(Block()):
        assert builder.emit(arith.AddiOp, (x, x), (i32,)) is not outside


def test_an_attached_block_sees_around_it_only_what_is_in_front_of_its_op() -> None:
    block = Block(arg_types=[i32, i1])
    builder = Builder(block)
    x = block.args[0]
    outside = builder.emit(arith.AddiOp, (x, x), (i32,))
    inner = Block()
    builder.create(scf.IfOp, (block.args[1],), (), regions=(Region(inner), Region()))
    with builder.at(inner):
        assert builder.emit(arith.AddiOp, (x, x), (i32,)) is outside
    behind = builder.emit(arith.MuliOp, (x, x), (i32,))
    with builder.at(inner):
        assert builder.emit(arith.MuliOp, (x, x), (i32,)) is not behind


def test_a_function_is_isolated() -> None:
    module, body = Block(arg_types=[i32]), Block()
    builder = Builder(module)
    x = module.args[0]
    outside = builder.emit(arith.AddiOp, (x, x), (i32,))
    builder.create(tile.FuncOp, regions=(Region(body),))
    with builder.at(body):
        assert builder.emit(arith.AddiOp, (x, x), (i32,)) is not outside


def test_an_erased_or_moved_op_is_forgotten() -> None:
    block = Block(arg_types=[i32])
    builder = Builder(block)
    x = block.args[0]
    first = builder.emit(arith.AddiOp, (x, x), (i32,))
    block.erase_op(first.owner)  # type: ignore[arg-type]
    second = builder.emit(arith.AddiOp, (x, x), (i32,))
    assert second is not first and second.owner.parent is block  # type: ignore[union-attr]


def test_multi_gives_all_results() -> None:
    block = Block(arg_types=[tensor(f32, (4, 2))])
    builder = Builder(block)
    parts = builder.multi(tile.SplitOp, block.args, (tensor(f32, (4,)), tensor(f32, (4,))))
    assert len(parts) == 2
    assert builder.multi(tile.SplitOp, block.args, (tensor(f32, (4,)), tensor(f32, (4,)))) == parts


def test_no_insertion_point() -> None:
    with pytest.raises(ValueError, match="insertion point"):
        Builder().constant(1, i32)
    with pytest.raises(ValueError, match="in no block"):
        Builder.before(arith.ConstantOp.create(result_types=(i32,), properties={"value": IntegerAttr(1, i32)}))
