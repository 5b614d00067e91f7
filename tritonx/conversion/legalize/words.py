"""Vectors of 8- and 16-bit elements accessed as 32-bit words, which lanes gather and scatter.

Where lanes access such elements at addresses of their own, Intel's vectoriser writes an access of each element by each
lane, under a predicate, and splits the rest of the block at each (``CodeGenLLVM::predicateInstructions``): time that
grows with the square of their number. 96 loads of eight halves took it 21 s, 384 of words 1.2
(``tests/test_defects.py``). The words are integers, and loaded one by one: of a vector of them LLVM makes one of halves
again, and with vectors of two halves instead the driver needs over two minutes for a product of bf16 that is built in
10 s with words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tritonx.conversion.legalize import bfloat

Write = Callable[[str], str]
"""Adds an instruction and names its result."""

WORD = 32
_NARROW = ("i8", "i16", "half", "bfloat")
_FLOATS = {"half": 16, "float": 32, "double": 64}
"""Types that an integer of their bits is cast to; a bfloat is such an integer itself."""


def bits_of(elem: str) -> int:
    """Bits of an element, which may be a bfloat's integer."""
    return _FLOATS.get(elem) or (16 if elem == "bfloat" else int(elem[1:]))


def count(extent: int, elem: str, align: int) -> int:
    """How many words an access of so many elements, aligned to so many bytes, is made of; 0 for one that is not."""
    bits = extent * bits_of(elem) if elem in _NARROW else 0
    return 0 if bits % WORD or align * 8 < WORD else bits // WORD


def unpacked(write: Write, elem: str, whole: str, width: int = WORD) -> list[str]:
    """The elements in an integer of ``width`` bits."""
    bits = bits_of(elem)
    elements: list[str] = []
    for shift in range(0, width, bits):
        integer = write(f"lshr i{width} {whole}, {shift}") if shift else whole
        integer = write(f"trunc i{width} {integer} to i{bits}") if bits < width else integer
        elements.append(write(f"bitcast i{bits} {integer} to {elem}") if elem in _FLOATS else integer)
    return elements


def packed(write: Write, elem: str, elements: Sequence[str]) -> str:
    """The integer of some elements: a word, or as many bits as they have."""
    bits, whole = bits_of(elem), ""
    width = bits * len(elements)
    for at, element in enumerate(elements):
        value = write(f"bitcast {elem} {element} to i{bits}") if elem in _FLOATS else bfloat.literal(element)
        wide = write(f"zext i{bits} {value} to i{width}") if bits < width else value
        wide = write(f"shl i{width} {wide}, {at * bits}") if at else wide
        whole = write(f"or i{width} {whole}, {wide}") if whole else wide
    return whole
