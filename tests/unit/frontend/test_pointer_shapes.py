"""Which shapes of value, mask and ``other`` go with which shape of pointers: a store never broadcasts its pointers (one
address would stand for several elements, and the last write would win), a load does so for its mask alone, and an
atomic's operands have the pointers' rank."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.frontend.errors import LanguageError

Shape = tuple[int, ...]
Build = Callable[..., Any]
SHAPES: tuple[Shape, ...] = ((), (1,), (4,), (1, 1), (2, 1), (1, 4), (2, 4), (4, 2))


@tritonx.jit
def offsets(S: tl.constexpr):
    """Zeros of a shape, as blocks of their own and not as a constant."""
    result = tl.zeros(S, tl.int32)
    return result


@tritonx.jit
def stores(x, P: tl.constexpr, V: tl.constexpr, M: tl.constexpr):
    tl.store(x + offsets(P), offsets(V).to(tl.float32), mask=offsets(M) == 0)


@tritonx.jit
def loads(x, P: tl.constexpr, V: tl.constexpr, M: tl.constexpr):
    tl.load(x + offsets(P), mask=offsets(M) == 0, other=offsets(V).to(tl.float32))


@tritonx.jit
def adds(x, P: tl.constexpr, V: tl.constexpr, M: tl.constexpr):
    tl.atomic_add(x + offsets(P), offsets(V).to(tl.float32), mask=offsets(M) == 0)


def taken(build: Build, kernel: object, pointer: Shape, value: Shape, mask: Shape) -> bool:
    try:
        build(kernel, {"x": "*fp32"}, P=pointer, V=value, M=mask)
    except LanguageError:
        return False
    return True


def common(*shapes: Shape) -> Shape | None:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


@pytest.mark.parametrize("pointer", SHAPES)
def test_a_store_keeps_the_shape_of_its_pointers(build: Build, pointer: Shape) -> None:
    for value, mask in product(SHAPES, SHAPES):
        assert taken(build, stores, pointer, value, mask) == (common(pointer, value, mask) == pointer), (value, mask)


@pytest.mark.parametrize("pointer", SHAPES)
def test_a_load_has_the_shape_of_its_pointers_and_mask(build: Build, pointer: Shape) -> None:
    for other, mask in product(SHAPES, SHAPES):
        read = common(pointer, mask) if pointer else (pointer if mask == () else None)
        fits = read is not None and common(read, other) == read
        assert taken(build, loads, pointer, other, mask) == fits, (other, mask)


@pytest.mark.parametrize("pointer", SHAPES)
def test_an_atomic_keeps_the_shape_of_its_pointers(build: Build, pointer: Shape) -> None:
    def fits(operand: Shape) -> bool:
        return operand == () or (len(operand) == len(pointer) and common(pointer, operand) == pointer)

    for value, mask in product(SHAPES, SHAPES):
        assert taken(build, adds, pointer, value, mask) == (fits(value) and fits(mask)), (value, mask)
