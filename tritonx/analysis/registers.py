"""How many registers a thread has, and how many of them values take: the one model that passes plan with.

Registers have 32 bits, and a thread's values lie in them by their layouts. Three questions are answered:

- What does a value take? `value_bytes` and `words`, with copies; `kept_bytes`, without those that name others'
  elements or are a constant from others; `elements`, the different ones.
- What is held at a point of a block? `Pressure`. What is computed an element at a time takes none, unless something
  that needs all of its elements, such as a reduction, precedes another user.
- What is there? `RegisterFile`, of which a target says its numbers, and what it sets aside of them.

What code generators do with it, they decide themselves: the model only has to say where registers are short."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from xdsl.ir import Attribute, Block, Operation, SSAValue

from tritonx.analysis.buffers import scratch_size, stored_bytes, tensor_layout
from tritonx.dialects import arith, tile
from tritonx.dialects.gpu_layout import ConvertLayoutOp, LocalLoadOp
from tritonx.dialects.gpu_layout.encodings import DotOperandEncodingAttr
from tritonx.dialects.layout_constraints import is_elementwise
from tritonx.ir.effects import has_effects
from tritonx.ir.types import bit_width, element_type, encoding_of, is_float, is_tensor, type_of
from tritonx.ir.walk import ops_in
from tritonx.layouts import is_free
from tritonx.layouts.dims import REGISTER

WORD_BYTES = 4
"""Of a register."""

RUN = 8
"""Pointers of a thread, mostly, that differ by constants, or of which an access needs the first."""

# --- what a target has


@dataclass(frozen=True)
class RegisterFile:
    """What a target says of its registers. Of one that does not say how many there are nothing is planned that would
    take some. What is set aside was measured on an H200 (cuda:90); a target may say otherwise.

    >>> RegisterFile(register_bytes=65536, thread_bytes=1020).thread_share(128)
    512
    """

    held_bytes: int = 0
    """Of a thread's tiles, that may wait from one interval of a loop to the next."""
    held_copies: int = 1
    """How often a tile counts that waits for a product in the middle of an interval, in which the next one is loaded. 1
    is what `held_bytes` was measured with on an H200."""
    register_bytes: int | None = None
    """Of a processor, which its threads share; None if it is not known."""
    thread_bytes: int | None = None
    """Of these, that a thread has at most."""
    working: int = 40
    """Of a thread, for what is neither tile nor offset: addresses, masks, counters, intermediates. With 47 a product
    with int8 weights takes 214, and with 31 and 15 those with GELU and a residual spilled (128 and 256 columns)."""
    intermediates: int = 24
    """The same where offsets, addresses and counters are counted, as of the values that a schedule of a loop keeps from
    one task to another. With 40 no schedule keeps two chains of two products (128×64, 4 warps) within a thread's
    registers, and the one that is taken then spills 768 bytes."""
    streaming: int = 32
    """The same in a loop that only loads and adds up. With 16, loads of 128 bytes a thread were not all put first
    (column sum, 32×64 tiles: 2873 GB/s instead of 3704)."""
    addresses: int = 8
    """Of `streaming`, at least, that are for addresses and counters: where the tiles that a loop carries leave fewer,
    its registers have no limit, since code within one spills. No other number has been measured."""
    widening: int = 8
    """More than `streaming` where narrow numbers are summed as pairs of words (16 bits and 64: 55 of 48 registers, 16
    bytes spilled, cuda:90)."""
    joined: int = 8
    """Results that a thread may have of reductions that `reduce-together` makes one of: what they have found waits in
    registers until all of it is written. No other number has been measured."""
    usual: int = 160
    """That a thread of a kernel with products has at least: where these are for one block alone, shared memory is not
    what keeps another one out."""
    crowded: float = 1.125
    """The part of a thread's registers that values of asynchronous products may take, by count, without another order
    of a loop being looked for. Of 15 gradients of attention with 0.93 to 1.05 of them ptxas spills 0 to 308 bytes, and
    in other orders, of 0.9 or less, as many (-40 to +56); two chains of two products with 1.26 of them spill 768, and
    none in another order."""

    @property
    def intermediate_bytes(self) -> int:
        return self.intermediates * WORD_BYTES

    @property
    def thread_registers(self) -> int | None:
        """Registers that a thread may have; None where that is not known."""
        return None if self.thread_bytes is None else self.thread_bytes // WORD_BYTES

    @property
    def registers(self) -> int | None:
        """Registers of a processor, which its threads share; None where that is not known."""
        return None if self.register_bytes is None else self.register_bytes // WORD_BYTES

    def thread_share(self, threads: int) -> int | None:
        """Bytes of registers that each of so many threads of a processor may have; None where that is not known."""
        if self.register_bytes is None or self.thread_bytes is None:
            return None
        return min(self.thread_bytes, self.register_bytes // threads)


def for_tiles(share: int) -> int:
    """What of a thread's registers, or their bytes, tiles of products may take: a quarter is for addresses, and for
    what is computed of tiles."""
    return share * 3 // 4


# --- what a value takes


def value_bytes(value: SSAValue) -> int:
    """Bytes of a thread's registers that a value takes; of a scalar, four."""
    return type_bytes(type_of(value))


def type_bytes(type_: Attribute) -> int:
    """Bytes of a thread's registers for a value of a type, copies included; of a scalar, four.

    What is narrower than a byte, a mask mostly, takes one, as where it is stored: so it weighs in a schedule, which
    else keeps masks to compute them early (gradients of attention, 64×128 in 4 warps: 544 instructions more, of
    2504)."""
    if not is_tensor(type_) or encoding_of(type_) is None:
        return WORD_BYTES
    return tensor_layout(type_).in_size(REGISTER) * stored_bytes(type_)


def words(type_: Attribute) -> int:
    """Registers of a thread for a value of a type, copies included, that is held as it is: bits of a mask are packed. 1
    for a scalar."""
    if not is_tensor(type_):
        return 1
    return -(-tensor_layout(type_).in_size(REGISTER) * bit_width(element_type(type_)) // 32)


def elements(type_: Attribute) -> int:
    """How many different elements of a tile a thread has; 1 for a scalar."""
    if not is_tensor(type_):
        return 1
    layout = tensor_layout(type_)
    return 1 << (layout.in_bits(REGISTER) - layout.free_masks().get(REGISTER, 0).bit_count())


RENAMING: tuple[type[Operation], ...] = (tile.SplatOp, tile.BroadcastOp, tile.ExpandDimsOp)
"""Ops that say where a thread finds elements, and make none."""


def kept_bytes(value: SSAValue) -> int:
    """Bytes of a thread's registers that a value keeps from being used otherwise: of one that names others' elements,
    theirs; of pointers, those that are not a constant from others."""
    op = value.owner
    while isinstance(op, RENAMING) or (isinstance(op, ConvertLayoutOp) and stays_in_threads(op)):
        value = op.operands[0]
        op = value.owner
    held = value_bytes(value)
    return max(8, held // RUN) if isinstance(element_type(type_of(value)), tile.PointerType) else held


def stays_in_threads(op: ConvertLayoutOp) -> bool:
    """Whether each thread has the elements already."""
    return is_free(tensor_layout(type_of(op.src)), tensor_layout(type_of(op.result)))


def carried_words(loop: Operation, *, indices: bool = True) -> int:
    """Registers of a thread that hold the loop-carried values. Without ``indices``, which can be
    computed again, what it carries of floats."""
    types = (type_of(result) for result in loop.results)
    return sum(type_bytes(type_) for type_ in types if indices or is_float(type_)) // WORD_BYTES


# --- what is held at a point

SPREAD: tuple[type[Operation], ...] = (*RENAMING, arith.ConstantOp)
"""Of fewer numbers than their result has elements."""

INDICES: tuple[type[Operation], ...] = (
    *SPREAD,
    *(tile.MakeRangeOp, tile.AddPtrOp, arith.AddiOp, arith.SubiOp, arith.MuliOp),
    *(arith.ExtSIOp, arith.ExtUIOp, arith.CmpiOp, arith.AndIOp, arith.OrIOp),
)
"""What offsets and masks are made with, an instruction or two each."""


class Pressure:
    """How many registers of a thread the tiles of a block take, point by point. It is of the block as it stands: of one
    that has changed another one is made."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.ops = list(block.ops)
        self.number = {op: n for n, op in enumerate(self.ops)}
        self.late = {op for op in self.ops if _is_written_late(op)}
        self.ends: dict[SSAValue, int] = {}
        for op in reversed(self.ops):  # users first, so that no chain of ops is followed
            if op in self.late:
                self.end(op.results[0])
        self.most: dict[int, list[int]] = {}
        """From the op behind each loop or branch on: the most words up to each op."""

    def end(self, value: SSAValue) -> int:
        """The last op of the block that needs a value, for what is computed of it an element at a time as well."""
        if value not in self.ends:
            found = -1
            for use in value.uses:
                op = self.block.find_ancestor_op_in_block(use.operation)
                if op is not None:
                    computed = op is use.operation and op in self.late
                    found = max(found, self.number[op], self.end(op.results[0]) if computed else -1)
            self.ends[value] = found
        return self.ends[value]

    def up_to(self, op: Operation) -> int:
        """The most words of a thread that tiles take at once between the last loop or branch in front and an op."""
        last = self.number[op]
        first = self._first(last)
        if first not in self.most:
            self.most[first] = self._most(first)
        return self.most[first][last - first]

    def across(self, op: Operation) -> int:
        """The words of tiles that a thread has made in front of an op, and needs behind it or in its regions, and of
        what the op makes, of a loop what it carries. What is computed an element at a time is among them if something
        has asked for all of its elements: else what it is computed of."""
        number = self.number[op]
        inside = [inner for inner in ops_in(op) if inner is not op]
        behind = [each for each in self.ops[number + 1 :] if each not in self.late]
        needed = [operand for each in (*inside, *behind) for operand in each.operands]
        held: dict[SSAValue, int] = {}
        seen: set[SSAValue] = set()
        while needed:
            value = needed.pop()
            if value in seen:
                continue
            seen.add(value)
            made = value.owner
            if not isinstance(made, Operation) or made not in self.number:
                if self._is_outer(value):
                    held[value] = _words(value)
            elif made in self.late and not (self.number[made] < number and self._is_asked_for(value, number)):
                needed += made.operands
            elif self.number[made] < number:
                held[value] = words(type_of(value)) if made in self.late else _words(value)
        made_here = op.results if op.regions else ()
        return sum(held.values()) + sum(words(type_of(result)) for result in made_here)

    def _is_asked_for(self, value: SSAValue, number: int) -> bool:
        """Whether an op up to so many needs all elements of what is computed one by one; not of what has fewer
        numbers than elements."""
        if isinstance(value.owner, SPREAD):
            return False
        users = (self.block.find_ancestor_op_in_block(use.operation) for use in value.uses)
        return any(user is not None and user not in self.late and self.number[user] <= number for user in users)

    def _is_outer(self, value: SSAValue) -> bool:
        """Whether a value is made outside of the block, or an argument of it."""
        made = value.owner
        op = made if isinstance(made, Operation) else made.parent_op()
        return op is None or self.block.find_ancestor_op_in_block(op) is None

    def _first(self, last: int) -> int:
        """The op behind the last one in front of ``last`` that has regions."""
        at = bisect_left(self._regions, last)
        return self._regions[at - 1] + 1 if at else 0

    @cached_property
    def _regions(self) -> list[int]:
        return [n for n, op in enumerate(self.ops) if op.regions]

    def at_each(self) -> list[int]:
        """The words of a thread that tiles take at each op of the block, of those that the block's ops make. What the
        op around the block holds beside them says `around`."""
        return list(accumulate(self._changes(0, own=True)))[: len(self.ops)]

    def around(self, op: Operation) -> int:
        """The words of a thread that are held while the regions of an op run: tiles that were made before and are
        needed inside or behind, and those that it carries. What is computed an element at a time takes none."""
        number = self.number[op]
        inside = {operand for inner in ops_in(op) if inner is not op for operand in inner.operands}
        behind = {operand for each in self.ops[number + 1 :] for operand in each.operands}
        made = (
            v for v in inside | behind if isinstance(v.owner, Operation) and self.number.get(v.owner, number) < number
        )
        return sum(map(_words, made)) + sum(map(_words, op.results))

    def _most(self, first: int) -> list[int]:
        return list(accumulate(accumulate(self._changes(first)[first:]), max))

    def _changes(self, first: int, *, own: bool = False) -> list[int]:
        """By how much what is held changes at each op, of what ops from ``first`` on use; with ``own`` of what ops of
        the block make."""
        changes = [0] * (len(self.ops) + 2)
        for value in self._needed(first):
            if (taken := _words(value)) and not (own and value.owner not in self.number):
                made = self.number.get(value.owner, -1) + 1 if isinstance(value.owner, Operation) else 0
                changes[max(first, made)] += taken
                changes[self.end(value) + 1] -= taken
        return changes

    def _needed(self, first: int) -> set[SSAValue]:
        """What ops from ``first`` on use, and what that is computed of an element at a time."""
        needed = {operand for op in self.ops[first:] for operand in op.operands}
        left = [*needed]
        while left:
            made = left.pop().owner
            if isinstance(made, Operation) and made in self.late and self.number[made] < first:
                more = set(made.operands) - needed
                needed |= more
                left += more
        return needed


def _is_written_late(op: Operation) -> bool:
    """Whether its elements are computed one by one, when they are asked for, or the operand's registers renumbered: no
    register holds them."""
    if isinstance(op, ConvertLayoutOp):
        return not scratch_size(op)
    return isinstance(op, SPREAD) or (is_elementwise(op) and not has_effects(op))


def _words(value: SSAValue) -> int:
    """Registers of a tile; none of those that are indices or computed where they are used, nor of a product's operands
    in shared memory, which it reads in steps."""
    made = value.owner
    if not is_tensor(value.type) or isinstance(made, INDICES):
        return 0
    if isinstance(made, LocalLoadOp) and isinstance(encoding_of(value.type), DotOperandEncodingAttr):
        return 0
    return 0 if isinstance(made, Operation) and _is_written_late(made) else words(type_of(value))
