"""Buffers of offsets of any sign: what a masked lane's offset is, and which allocations have all others."""

from __future__ import annotations

import re

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.amd import BACKEND
from tritonx.runtime.compiling.sources import ASTSource


@tritonx.jit
def strided(x_ptr, y_ptr, n, stride, N: tl.constexpr):
    columns = tl.arange(0, N)
    rows = tl.arange(0, 32)[:, None]
    x = tl.load(x_ptr + rows * stride + columns[None, :], mask=columns[None, :] < n)
    tl.store(y_ptr + rows * stride + columns[None, :], x, mask=columns[None, :] < n)


@pytest.mark.parametrize("target", ["hip:gfx942", "hip:gfx1201"])
def test_masked_lanes_are_16_bytes_below_the_end_of_offsets(target: str) -> None:
    """No part of a masked access has an offset past 2^32, where one in 32 bits would be inside the buffer again, and
    words have offsets of words."""
    small = [["tt.divisibility", 16], ["tt.pointer_range", 32]]
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "stride": "i32", "N": "constexpr"}
    attrs = {(0,): small, (1,): small, (2,): small[:1], (3,): small[:1]}
    made = tritonx.compile(ASTSource(strided, signature, {"N": 64}, attrs), target=target)
    text = made.asm["llir"]
    sizes = re.findall(r"make\.buffer\.rsrc\.p8\.p1\(ptr addrspace\(1\) [^,]*, i16 0, i64 (-?\d+)", text)
    outside = {int(found) for found in re.findall(r"select i1 [^,]*, i32 [^,]*, i32 (-\d+)$", text, re.MULTILINE)}
    assert {int(size) for size in sizes} == {2**32 - 16} and outside == {-16}
    assert "buffer.load.v4i32" in text and "buffer.store.v4i32" in text


def test_allocations_that_have_an_offset_of_masked_lanes_are_not_marked() -> None:
    assert BACKEND.pointer_specialization(2**31 - 16) == ("S",)
    assert BACKEND.pointer_specialization(2**31 - 15) == ()
