"""Products of the fifth-generation tensor cores, `tcgen05.mma`, and their commits.

PTX ISA 9.0, section 9.7.16.10. One thread issues an instruction for the block: an elected lane of the group's first
warp. The accumulator lies in tensor memory, B in shared memory, A in either; those in shared memory are named by the
matrix descriptors of `warp_group_operands`, with the version that these cores read. The *instruction descriptor*
(section 9.7.16.4.2) holds types, sizes and which operands have M or N contiguous.

Products run beside the program. A commit has an mbarrier told when all that the thread issued so far are over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tritonx.backends.nvidia.emit.mbarrier import CONVERGENT, assembly, shared_address
from tritonx.backends.nvidia.emit.tensor_memory import address
from tritonx.backends.nvidia.emit.warp_group import element_of, name_of
from tritonx.backends.nvidia.emit.warp_group_operands import InMemory
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.dialects.nvidia import TCGen5CommitOp, TCGen5MMAOp
from tritonx.dialects.nvidia.encodings import TensorMemoryEncoding, TensorMemoryEncodingAttr
from tritonx.dialects.nvidia.tensor_memory import WORD, address_of, is_tensor_memory
from tritonx.ir.dispatch import case
from tritonx.ir.failure import PassError
from tritonx.ir.types import bit_width, type_as

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xdsl.ir import Operation, SSAValue

    from tritonx.conversion.gpu_to_llvm.function import Emit, FunctionEmitter

VERSION = 1 << 46
"""Of the matrix descriptor (section 9.7.16.4.1): what these cores read."""

_KINDS = {
    "f16": ("f16", 0),
    "bf16": ("f16", 1),
    "f32": ("tf32", 2),
    "f8E4M3FN": ("f8f6f4", 0),
    "f8E5M2": ("f8f6f4", 1),
    "i8": ("i8", 1),
}
"""Element type → the kind of the instruction, and the type's number in the instruction descriptor."""

_RESULTS = {"f16": 0, "f32": 1, "i32": 2}
"""The same of the accumulator."""

_KIND_RESULTS = {"f16": ("f16", "f32"), "tf32": ("f32",), "f8f6f4": ("f16", "f32"), "i8": ("i32",)}

TWO_CTAS = "a product by two CTAs is not supported", "two_ctas=False multiplies in each block for itself"


@dataclass(frozen=True)
class Instruction:
    """``rows`` by ``columns`` of the result and ``depth`` of K; ``along``: whether A and B have M and N contiguous."""

    kind: str
    rows: int
    columns: int
    depth: int
    a: int
    b: int
    d: int
    along: tuple[bool, bool]

    @property
    def descriptor(self) -> int:
        """The instruction descriptor of the kinds without scales."""
        fields = self.d << 4 | self.a << 7 | self.b << 10 | self.along[0] << 15 | self.along[1] << 16
        return fields | self.columns >> 3 << 17 | self.rows >> 4 << 24


class InTensorMemory:
    """A that lies in tensor memory; its address takes the place of a descriptor."""

    is_k_major = True

    def __init__(self, f: FunctionEmitter, value: SSAValue) -> None:
        self.type = type_as(value, MemDescType)
        self.base = address(f, value)

    def offset(self, row: int, k: int) -> int:
        return address_of(self.type, row, k)


def encoding_of_result(op: Operation, value: SSAValue) -> TensorMemoryEncoding:
    encoding = type_as(value, MemDescType).encoding
    if not isinstance(encoding, TensorMemoryEncodingAttr):
        raise PassError(op, "a product accumulates in memory of #ttng.tensor_memory_encoding")
    if encoding.data.two_ctas:
        raise PassError(op, *TWO_CTAS)
    return encoding.data


def select(op: TCGen5MMAOp, along: tuple[bool, bool]) -> Instruction:
    """The instruction for the op's types."""
    a, b, d = (name_of(value.type) for value in (op.a, op.b, op.d))
    names = f"{a} by {b} into {d}"
    kind, left = _KINDS.get(a, ("", 0))
    of_b, right = _KINDS.get(b, ("", 0))
    together = a == b or (kind == of_b == "f8f6f4")
    if not kind or not together or d not in _KIND_RESULTS[kind] or (a == "bf16" and d == "f16"):
        raise PassError(op, f"no instruction multiplies {names} in tensor memory")
    if any(along) and kind == "tf32":
        raise PassError(op, "operands of tf32 must lie in shared memory with K contiguous")
    encoding = encoding_of_result(op, op.d)
    if encoding.col_stride * bit_width(element_of(op.d.type)) != WORD:
        raise PassError(
            op, f"each column of a result of {d} takes 32 bits, which is not colStride = {encoding.col_stride}"
        )
    rows, columns = encoding.block_m, min(encoding.block_n, share_of(op.d)[1])
    least = 8 if rows == 64 else 16
    if columns > 256 or columns % least:
        raise PassError(op, f"no instruction multiplies blocks of {rows}x{columns}: columns are {least} to 256")
    return Instruction(kind, rows, columns, 256 // bit_width(element_of(op.a.type)), left, right, _RESULTS[d], along)


def share_of(value: SSAValue) -> tuple[int, int]:
    """What a block has of a tile in tensor memory."""
    type_ = type_as(value, MemDescType)
    assert isinstance(type_.encoding, TensorMemoryEncodingAttr)
    return type_.shape[-2] // type_.encoding.data.cta_split_m, type_.shape[-1] // type_.encoding.data.cta_split_n


def product(op: TCGen5MMAOp, f: FunctionEmitter) -> None:
    if op.two_ctas is not None:
        raise PassError(op, *TWO_CTAS)
    if op.is_async is None:
        raise PassError(op, "a product that is waited for at once has no mbarrier to be told by")
    encoding = encoding_of_result(op, op.d)
    rows, columns = encoding.block_m, min(encoding.block_n, share_of(op.d)[1])
    depth = 256 // bit_width(element_of(op.a.type))
    b = InMemory(f, op, op.b, 0, (), (columns, depth), VERSION)
    a = InTensorMemory(f, op.a) if is_tensor_memory(op.a.type) else InMemory(f, op, op.a, 1, (), (rows, depth), VERSION)
    instruction = select(op, (not a.is_k_major, not b.is_k_major))
    (m, n), d, total = share_of(op.d), type_as(op.d, MemDescType), address(f, op.d)
    keeps, told = f.scalar(op.useD), [f.scalar(each) for each in op.barrier_preds]
    with f.where(in_first_warp(f, f.scalar(op.pred))):
        one = elected(f)
        for row, column, k, kept in _order(range(0, m, rows), range(0, n, columns), range(0, k_of(op), depth)):
            at, use = address_of(d, row, column), keeps if k == 0 else "true"
            _issue(f, instruction, (total, at), (a, row, k), (b, column, k), use, one, kept)
        _tell(f, op.barriers, told, one)


def k_of(op: TCGen5MMAOp) -> int:
    return type_as(op.a, MemDescType).shape[-1]


def _order(rows: range, columns: range, ks: range) -> Iterator[tuple[int, int, int, str]]:
    """(row, column, k) of each instruction, and whether the collector keeps its part of A: columns come first where A
    of 128 rows is then read once (section 9.7.16.10.4)."""
    if len(columns) == 1 or rows.step != 128:
        yield from ((row, column, k, "") for row in rows for column in columns for k in ks)
        return
    last = len(columns) - 1
    for row in rows:
        for k in ks:
            for number, column in enumerate(columns):
                yield row, column, k, "fill" if number == 0 else "lastuse" if number == last else "use"


def _issue(
    f: FunctionEmitter,
    instruction: Instruction,
    d: tuple[str, int],
    a: tuple[InMemory | InTensorMemory, int, int],
    b: tuple[InMemory, int, int],
    keeps: str,
    one: str,
    kept: str,
) -> None:
    """One instruction. What its descriptors are beyond those of the operands' beginnings is added beside it: LLVM would
    add before a loop, and keep two registers for each."""
    left, register, letter = "A", f"i64 {a[0].base}", "l"
    added = [_added("B", "$2", b[0].beyond(*b[1:]))]
    if isinstance(a[0], InMemory):
        added.append(_added("A", "$1", a[0].beyond(*a[1:])))
    else:
        left, register, letter = f"[$1 + {a[0].offset(*a[1:])}]", f"i32 {a[0].base}", "r"
    kind = instruction.kind + (f".collector::a::{kept}" if kept else "")
    issue = f"@$5 tcgen05.mma.cta_group::1.kind::{kind} [$0 + {d[1]}], {left}, B, $3, $4;"
    text = "\\0A\\09".join(["{", ".reg .b64 A, B;", *added, issue, "}"])
    operands = f"i32 {d[0]}, {register}, i64 {b[0].base}, i32 {instruction.descriptor}, i1 {keeps}, i1 {one}"
    assembly(f, text, f"r,{letter},l,r,b,b", operands)


def _added(name: str, base: str, beyond: int) -> str:
    return f"add.s64 {name}, {base}, {beyond};" if beyond else f"mov.b64 {name}, {base};"


def in_first_warp(f: FunctionEmitter, condition: str = "true") -> str:
    """An i1 that holds in the group's first warp, where the condition does."""
    first = f.inst(f"icmp eq i32 {f.threads.warp}, 0")
    return first if condition == "true" else f.inst(f"and i1 {first}, {condition}")


def elected(f: FunctionEmitter) -> str:
    """An i1 that holds in one lane of the warp. A comparison with lane 0 does not tell ptxas that it is one lane."""
    f.module.attributes[CONVERGENT] = "convergent nounwind"
    symbol = f.module.declare("{ i32, i1 }", "@llvm.nvvm.elect.sync", ["i32"], f" {CONVERGENT}")
    return f.inst(f"extractvalue {{ i32, i1 }} {f.inst(f'call {{ i32, i1 }} {symbol}(i32 -1)')}, 1")


def _tell(f: FunctionEmitter, barriers: Sequence[SSAValue], predicates: Sequence[str], one: str) -> None:
    for barrier, predicate in zip(barriers, predicates, strict=True):
        by = one if predicate == "true" else f.inst(f"and i1 {one}, {predicate}")
        text = "@$1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];"
        assembly(f, text, "r,b", f"{shared_address(f, barrier)}, i1 {by}")


def commit(op: TCGen5CommitOp, f: FunctionEmitter) -> None:
    if op.two_ctas is not None:
        raise PassError(op, *TWO_CTAS)
    condition = "true" if op.pred is None else f.scalar(op.pred)
    with f.where(in_first_warp(f, condition)):
        _tell(f, [op.barrier], ["true"], elected(f))


TABLE: dict[type[Operation], Emit] = {
    **case(TCGen5MMAOp, product),
    **case(TCGen5CommitOp, commit),
}
