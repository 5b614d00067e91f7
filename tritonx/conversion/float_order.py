"""The larger or the smaller of two floats of 16 bits, in integers of LLVM: what an atomic that orders them stores.

A number wins over a NaN, -0.0 is smaller than +0.0, subnormal numbers are numbers: maximumNumber and minimumNumber of
IEEE 754-2019, as PTX's ``max`` and ``min`` are. (Of its ``atom`` and ``cp.reduce`` it does not say what a NaN gives.)
What is in memory stays, bit by bit, where the value is not beyond it: of two NaNs too. No target needs an instruction
for floats."""

from __future__ import annotations

from collections.abc import Callable

from tritonx.dialects.tile.enums import RMWOp

Write = Callable[[str], str]
"""Writes an instruction, and says the name of its result."""

_INFINITY = {"half": 0x7C00, "bfloat": 0x7F80}
_LEAST, _MOST = -0x8000, 0x7FFF


def orders(kind: RMWOp, elem: str) -> bool:
    """Whether an atomic operation on elements of an LLVM type is one of these.

    >>> orders(RMWOp.MAX, "half"), orders(RMWOp.MAX, "i32"), orders(RMWOp.FADD, "half")
    (True, False, False)
    """
    return kind in (RMWOp.MAX, RMWOp.MIN) and elem in _INFINITY


def extreme(write: Write, kind: RMWOp, elem: str, old: str, value: str) -> str:
    """The bits (i16) of the one of ``old`` and ``value``, which are bits as well, that ``kind`` asks for."""
    predicate, last = ("sgt", _LEAST) if kind is RMWOp.MAX else ("slt", _MOST)
    ranks = [_rank(write, elem, bits, last) for bits in (value, old)]
    beyond = write(f"icmp {predicate} i16 {ranks[0]}, {ranks[1]}")
    return write(f"select i1 {beyond}, i16 {value}, i16 {old}")


def _rank(write: Write, elem: str, bits: str, last: int) -> str:
    """An i16 that is ordered as the floats are; a NaN's is ``last``."""
    below = write(f"lshr i16 {write(f'ashr i16 {bits}, 15')}, 1")
    ordered = write(f"xor i16 {bits}, {below}")
    is_nan = write(f"icmp ugt i16 {write(f'and i16 {bits}, 32767')}, {_INFINITY[elem]}")
    return write(f"select i1 {is_nan}, i16 {last}, i16 {ordered}")
