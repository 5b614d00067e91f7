"""Vectors of 8- and 16-bit elements accessed as 32-bit words, which lanes gather and scatter.

Where lanes access such elements at addresses of their own, Intel's vectoriser writes an access of each element by each
lane, under a predicate, and splits the rest of the block at each (``CodeGenLLVM::predicateInstructions``): time that
grows with the square of their number. 96 loads of eight halves took it 21 s, 384 of words 1.2
(``tests/test_defects.py``). The words are integers, and loaded one by one: of a vector of them LLVM makes one of halves
again, and with vectors of two halves instead the driver needs over two minutes for a product of bf16 that is built in
10 s with words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tritonx_opencl import bfloat

Write = Callable[[str], str]
"""Adds an instruction and names its result."""

WORD = 32
_BITS = {"i8": 8, "i16": 16, "half": 16, "bfloat": 16}


def count(extent: int, elem: str, align: int) -> int:
    """How many words an access of so many elements, aligned to so many bytes, is made of; 0 for one that is not."""
    bits = extent * _BITS.get(elem, 0)
    return 0 if bits % WORD or align * 8 < WORD else bits // WORD


def unpacked(write: Write, elem: str, word: str) -> list[str]:
    """The elements in a word."""
    bits = _BITS[elem]
    elements: list[str] = []
    for shift in range(0, WORD, bits):
        shifted = write(f"lshr i{WORD} {word}, {shift}") if shift else word
        integer = write(f"trunc i{WORD} {shifted} to i{bits}")
        elements.append(write(f"bitcast i{bits} {integer} to half") if elem == "half" else integer)
    return elements


def packed(write: Write, elem: str, elements: Sequence[str]) -> str:
    """The word of some elements."""
    bits, word = _BITS[elem], ""
    for at, element in enumerate(elements):
        value = write(f"bitcast half {element} to i{bits}") if elem == "half" else bfloat.literal(element)
        wide = write(f"zext i{bits} {value} to i{WORD}")
        wide = write(f"shl i{WORD} {wide}, {at * bits}") if at else wide
        word = write(f"or i{WORD} {word}, {wide}") if word else wide
    return word
