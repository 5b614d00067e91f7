"""``written`` of a kernel's metadata: which parameters it may store through, whatever the target makes of them."""

from __future__ import annotations

from typing import Any

import pytest

import tritonx
import tritonx.language as tl

TARGETS = ["cpu", "cuda:80", "cuda:90", "cuda:100", "hip:gfx942", "hip:gfx1200"]


@tritonx.jit(noinline=True)
def put(where, value):
    tl.store(where, value)


@tritonx.jit
def plain(x, n, y, z, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
    put(z, n)


@tritonx.jit
def described(source, n, target, last, N: tl.constexpr):
    target.store([n, 0], source.load([n, 0]))
    tl.store(last, n)


@tritonx.jit
def described_inside(source, target, n, N: tl.constexpr):
    read = tl.make_tensor_descriptor(source, [n, N], [N, 1], [16, N])
    made = tl.make_tensor_descriptor(target, [n, N], [N, 1], [16, N])
    made.store([0, 0], read.load([0, 0]))


@tritonx.jit
def products(a, b, c, n, k, BLOCK: tl.constexpr):
    """Blocks of pointers that become tensor maps at launch."""
    m, i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for at in range(0, k, BLOCK):
        total = tl.dot(
            tl.load(a + m[:, None] * k + (at + i)[None]), tl.load(b + (at + i)[:, None] * n + i[None]), total
        )
    tl.store(c + m[:, None] * n + i[None], total.to(tl.float16))


BLOCK = "tensordesc<fp16[16, 64]>"
CASES = [
    (plain, {"x": "*i32", "n": "i32", "y": "*i32", "z": "*i32", "N": "constexpr"}, {"N": 64}, (2, 3)),
    (described, {"source": BLOCK, "n": "i32", "target": BLOCK, "last": "*i32", "N": "constexpr"}, {"N": 64}, (2, 3)),
    (described_inside, {"source": "*fp16", "target": "*fp16", "n": "i32", "N": "constexpr"}, {"N": 64}, (1,)),
    (
        products,
        {"a": "*fp16", "b": "*fp16", "c": "*fp16", "n": "i32", "k": "i32", "BLOCK": "constexpr"},
        {"BLOCK": 128},
        (2,),
    ),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("kernel", "signature", "constants", "written"), CASES, ids=lambda c: getattr(c, "__name__", "")
)
def test_parameters_that_a_kernel_stores_through(
    kernel: Any, signature: dict[str, str], constants: dict[str, Any], written: tuple[int, ...], target: str
) -> None:
    attrs = {(i,): [["tt.divisibility", 16]] for i, type_ in enumerate(signature.values()) if type_[:1] in "*i"}
    source = tritonx.compiler.ASTSource(kernel, signature, constants, attrs)
    compiled = tritonx.compile(source, target=target)
    assert compiled.written == written
    assert tritonx.compile(source, target=target).written == written  # out of the cache
