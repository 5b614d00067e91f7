"""Writing the layouts that `solve` chose: types change in place, rematerialised ops and conversions are added."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tritonx.conversion.tile_to_gpu.assignment import Assignment, operand_encodings
from tritonx.conversion.tile_to_gpu.propagation import Encodings, plain, propagation_of
from tritonx.dialects import arith, tile
from tritonx.dialects.gpu_layout import ConvertLayoutOp, LocalAllocOp, attribute_of, memdesc
from tritonx.ir.edit import clone, erase, set_type
from tritonx.ir.splat import retyped
from tritonx.ir.types import element_type, is_tensor, shape_of, type_of, with_encoding
from tritonx.ir.walk import ops_in
from tritonx.layouts.encodings import DistributedEncoding, Encoding, SharedEncoding

Key = tuple[SSAValue, Encoding]


def write(function: tile.FuncOp, assignment: Assignment) -> None:
    """Give every tensor of a function its encoding."""
    _Writer(function, assignment).run()


class _Writer:
    def __init__(self, function: tile.FuncOp, assignment: Assignment) -> None:
        self.function = function
        self.assignment = assignment
        self.have: dict[Key, SSAValue] = {}
        self.dead: list[Operation] = []
        self.carried = {value for group in assignment.groups for value in group.values}

    def run(self) -> None:
        ops = [op for op in ops_in(self.function) if op is not self.function]
        for group in self.assignment.groups:
            for value in group.values:
                self._retype(value, self.assignment.native[value])
        entry = self.function.body.blocks.first
        for argument in entry.args if entry is not None else ():
            if is_tensor(type_of(argument)):
                self._retype(argument, self.assignment.native[argument])
        for op in ops:
            self._write(op)
        for group in self.assignment.groups:
            for op, number in group.inputs:
                native = self.assignment.native[group.values[0]]
                op.operands[number] = self.have[op.operands[number], native]
        for op in reversed(self.dead):
            erase(op)
        self._update_signature()

    def _write(self, op: Operation) -> None:
        keys = self.assignment.keys.get(op)
        if keys is None:
            if self._computes_tensors(op):
                self.dead.append(op)
            elif isinstance(op, tile.ReturnOp):
                self._plain_operands(op)
            return
        if isinstance(op, tile.CallOp):
            self._plain_operands(op)
            for result in op.results:
                if is_tensor(type_of(result)):
                    self._retype(result, self.assignment.native[result])
            return
        propagation = propagation_of(op)
        for number, key in enumerate(keys):
            operands = operand_encodings(op, key, self.assignment.dots)
            if number + 1 < len(keys):  # the op itself is written for the last key
                written = clone(op, {})
                block = op.parent
                assert block is not None
                block.insert_op_before(written, op)
            else:
                written = self._as_written(op)
            self._finish(written, op, operands, propagation.results(op, key))

    def _as_written(self, op: Operation) -> Operation:
        """The op itself, or the one that its matrix unit multiplies by in its place."""
        dot = self.assignment.dots.get(op)
        if dot is None or isinstance(op, dot.op):
            return op
        block = op.parent
        assert block is not None
        made = dot.op.create(
            operands=tuple(op.operands),
            result_types=tuple(type_of(r) for r in op.results),
            properties=dict(op.properties),
            location=op.location,
        )
        block.insert_op_before(made, op)
        self.dead.append(op)
        return made

    def _finish(
        self, written: Operation, op: Operation, operands: Sequence[Encoding | None], results: Encodings
    ) -> None:
        originals = tuple(op.operands)
        for i, (operand, encoding) in enumerate(zip(originals, operands, strict=True)):
            if encoding is not None:
                written.operands[i] = self.have[operand, encoding]
            elif is_tensor(type_of(operand)):
                written.operands[i] = self._any_version(operand)
        for original, result, encoding in zip(op.results, written.results, results, strict=True):
            if encoding is None and is_tensor(type_of(original)):
                encoding = self.assignment.native.get(original)  # in any layout: what was wanted of it
            if encoding is None:
                continue
            result.name_hint = original.name_hint
            _set_type(result, encoding)
            self.have[original, encoding] = result
            self._conversions(original, encoding, result)
        if isinstance(written, arith.ConstantOp):
            type_ = type_of(written.results[0])
            if is_tensor(type_):
                written.properties["value"] = retyped(written.properties["value"], type_)

    def _retype(self, value: SSAValue, encoding: DistributedEncoding) -> None:
        _set_type(value, encoding)
        self.have[value, encoding] = value
        self._conversions(value, encoding, value)

    def _conversions(self, original: SSAValue, source: DistributedEncoding, value: SSAValue) -> None:
        """The conversions of a value that is there in `source`, right behind its definition."""
        for encoding in reversed(self.assignment.converted.get((original, source), ())):
            type_ = type_of(value)
            assert is_tensor(type_)
            attribute = attribute_of(encoding)
            if isinstance(encoding, SharedEncoding):
                descriptor = memdesc(shape_of(type_), element_type(type_), attribute)
                made: Operation = LocalAllocOp.create(operands=(value,), result_types=(descriptor,))
            else:
                result_type = with_encoding(type_, attribute)
                made = ConvertLayoutOp.create(operands=(value,), result_types=(result_type,))
            owner = value.owner
            if isinstance(owner, Block):
                first = owner.first_op
                assert first is not None
                owner.insert_op_before(made, first)
                made.location = first.location
            else:
                block = owner.parent
                assert block is not None
                block.insert_op_after(made, owner)
                made.location = owner.location
            self.have[original, encoding] = made.results[0]

    def _any_version(self, value: SSAValue) -> SSAValue:
        native = self.assignment.native.get(value)
        if native is not None and (value, native) in self.have:
            return self.have[value, native]
        return next(made for (original, _), made in self.have.items() if original is value)

    def _plain_operands(self, op: Operation) -> None:
        """Functions take and return tensors in the default layout."""
        for i, operand in enumerate(tuple(op.operands)):
            if is_tensor(type_of(operand)):
                op.operands[i] = self.have[operand, plain(shape_of(type_of(operand)), self.assignment.target)]

    def _computes_tensors(self, op: Operation) -> bool:
        return any(is_tensor(type_of(r)) and r not in self.carried for r in op.results)

    def _update_signature(self) -> None:
        entry = self.function.body.blocks.first
        if entry is None:
            return
        outputs: Sequence[Attribute] = self.function.function_type.outputs.data
        for op in ops_in(self.function):
            if isinstance(op, tile.ReturnOp):
                outputs = [type_of(v) for v in op.operands]
        signature = FunctionType.from_lists([type_of(a) for a in entry.args], list(outputs))
        self.function.properties["function_type"] = signature


def _set_type(value: SSAValue, encoding: DistributedEncoding) -> None:
    type_ = type_of(value)
    assert is_tensor(type_)
    set_type(value, with_encoding(type_, attribute_of(encoding)))
