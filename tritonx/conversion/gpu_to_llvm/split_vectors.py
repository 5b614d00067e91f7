"""Accesses by vectors of which a mask may take a part.

Each is made whole where its first and its last mask hold. Where they differ (`analysis.mask_edges`: in one vector of a
row) the elements are accessed one by one, behind a branch (`cold_path`), which those who have whole ones go past."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from xdsl.ir import SSAValue

from tritonx.conversion.gpu_to_llvm.cold_paths import ColdPath, any_of
from tritonx.conversion.gpu_to_llvm.function import FunctionEmitter
from tritonx.conversion.gpu_to_llvm.machine import Access
from tritonx.conversion.gpu_to_llvm.types import bits


class Memory(Protocol):
    """Guarded accesses at places, names that an access is made by."""

    def load(self, place: str, access: Access, mask: str | None, other: str | None) -> str: ...

    def store(self, place: str, value: str, access: Access, mask: str | None) -> None: ...

    def behind(self, place: str, nbytes: int) -> str:
        """The place of what is so many bytes further on."""
        ...


@dataclass(frozen=True)
class Pointers:
    """Global memory, the places in which are pointers."""

    f: FunctionEmitter

    def load(self, place: str, access: Access, mask: str | None, other: str | None) -> str:
        return self.f.machine.memory.load(self.f, place, access, mask, other)

    def store(self, place: str, value: str, access: Access, mask: str | None) -> None:
        self.f.machine.memory.store(self.f, place, value, access, mask)

    def behind(self, place: str, nbytes: int) -> str:
        return self.f.inst(f"getelementptr i8, {self.f.global_} {place}, i64 {nbytes}")


@dataclass(frozen=True)
class Vector:
    """Neighbours in memory: the place of the first and the masks of all; ``whole`` holds where all masks do, ``split``
    where the first and the last differ."""

    place: str
    masks: tuple[str, ...]
    whole: str
    split: str


def vectors(
    f: FunctionEmitter, groups: Sequence[tuple[int, ...]], places: Sequence[str], masks: Sequence[str]
) -> list[Vector]:
    """The vectors of ``groups`` of registers; a place for each group, a mask for each register."""
    tests: dict[tuple[str, str], tuple[str, str]] = {}
    made: list[Vector] = []
    for group, place in zip(groups, places, strict=True):
        ends = masks[group[0]], masks[group[-1]]
        if ends not in tests:
            tests[ends] = f.inst(f"and i1 {ends[0]}, {ends[1]}"), f.inst(f"xor i1 {ends[0]}, {ends[1]}")
        made.append(Vector(place, tuple(masks[r] for r in group), *tests[ends]))
    return made


def load(
    f: FunctionEmitter,
    memory: Memory,
    result: SSAValue,
    vectors: Sequence[Vector],
    access: Access,
    rests: Sequence[str | None],
    take: Callable[[list[str]], None],
) -> None:
    """Load ``result``; ``take`` receives what is loaded, one value of the access's type for each vector. ``rests`` is
    that of elements whose mask does not hold."""
    whole = [memory.load(v.place, access, v.whole, rest) for v, rest in zip(vectors, rests, strict=True)]

    def one_by_one() -> list[str]:
        made: list[str] = []
        for vector, value in zip(vectors, whole, strict=True):
            elements = _elements(f, memory, vector, access, value)
            made.append(f.pack(access.elem, [memory.load(e.place, e.access, e.mask, e.value) for e in elements]))
        return made

    tests = tuple(vector.split for vector in vectors)
    f.left.add(ColdPath(result, tests, access.type, tuple(whole), one_by_one, take))


def store(f: FunctionEmitter, memory: Memory, vectors: Sequence[Vector], access: Access, values: Sequence[str]) -> None:
    """``values``, of the access's type, to the vectors."""
    for vector, value in zip(vectors, values, strict=True):
        memory.store(vector.place, value, access, vector.whole)
    with f.where(any_of(f, [vector.split for vector in vectors])):
        for vector, value in zip(vectors, values, strict=True):
            for e in _elements(f, memory, vector, access, value):
                memory.store(e.place, e.value, e.access, e.mask)


@dataclass(frozen=True)
class _Element:
    access: Access
    place: str
    mask: str
    value: str


def _elements(f: FunctionEmitter, memory: Memory, vector: Vector, access: Access, value: str) -> Iterator[_Element]:
    """Each element of a vector to be taken apart, with its part of ``value``, of the access's type."""
    size = max(1, bits(access.elem) // 8)
    single = replace(access, width=1, bytes_aligned=size)
    for i, mask in enumerate(vector.masks):
        place = memory.behind(vector.place, i * size) if i else vector.place
        own = f.inst(f"and i1 {mask}, {vector.split}")
        yield _Element(single, place, own, f.inst(f"extractelement {access.type} {value}, i32 {i}"))
