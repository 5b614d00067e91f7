"""Kernels that both front ends take, or refuse in the same words: compile-time tuples, results that must be used,
aggregates, descriptors, options of loops. The table that `test_both_messages.py` runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """``kernel`` of ``source``, compiled for a signature and constants. ``ours`` says why only tritonx takes it, or
    only Triton (``theirs``); ``said`` is what tritonx says where Triton's message is wrong."""

    source: str
    signature: dict[str, Any]
    constants: dict[Any, Any] = field(default_factory=dict[Any, Any])
    ours: str = ""
    theirs: str = ""
    said: str = ""


HEADER = """import triton
import triton.language as tl
from collections import namedtuple

Pair = namedtuple("Pair", ["a", "b"])
"""

RECORD = """
@tl.core._aggregate
class P:
    x: tl.tensor
    n: tl.constexpr

    @triton.constexpr_function
    def __init__(self, x, n):
        self.x = x
        self.n = tl.constexpr(n)

    @triton.jit
    def add(self, y):
        return P(self.x + y, self.n)

    @triton.jit
    def width(self):
        return self.n * 2
"""

CASES: dict[str, Case] = {
    "ct_param": Case(
        """
@triton.jit
def kernel(o, T: tl.constexpr):
    tl.static_assert(T[0] == 1)
    tl.static_assert(len(T) == 3)
    a, b, c = T
    for i in tl.static_range(len(T)):
        tl.store(o + i, T[i])
    tl.store(o + 3, a + b + c)
""",
        {"o": "*i32", "T": "constexpr"},
        {"T": (1, 2, 3)},
        ours="a compile-time tuple is unpacked",
    ),
    "ct_nested": Case(
        """
@triton.jit
def kernel(o, T: tl.constexpr):
    tl.static_assert(T[1][0] == 2)
    x = tl.zeros(T[1], tl.int32)
    tl.store(o, tl.sum(tl.sum(x, 0), 0) + T[0])
""",
        {"o": "*i32", "T": "constexpr"},
        {"T": (1, (2, 4))},
        ours="a compile-time tuple is a shape",
    ),
    "ct_global": Case(
        """
G = tl.constexpr((4, 8))
@triton.jit
def kernel(o):
    a, b = G
    x = tl.zeros(G, tl.int32)
    tl.static_assert(x.shape[1] == G[1])
    tl.store(o, tl.sum(tl.sum(x, 0), 0) + b)
""",
        {"o": "*i32"},
        ours="a compile-time tuple is unpacked",
    ),
    "ct_local": Case(
        """
@triton.jit
def f(t: tl.constexpr):
    return t[0] + t[1]
@triton.jit
def kernel(o):
    t: tl.constexpr = (3, 5)
    tl.static_assert(t[1] == 5)
    tl.store(o, f(t))
    tl.store(o + 1, f((t[1], 7)))
""",
        {"o": "*i32"},
    ),
    "ct_function": Case(
        """
@triton.constexpr_function
def both(n):
    return (n, n * 2)
@triton.jit
def kernel(o):
    t: tl.constexpr = both(4)
    tl.static_assert(t[1] == 8)
    a, b = both(2)
    x = tl.zeros(both(8), tl.int32)
    tl.store(o, tl.sum(tl.sum(x, 0), 0) + a + b)
""",
        {"o": "*i32"},
        ours="a compile-time tuple is unpacked, and is a shape",
    ),
    "ct_named": Case(
        """
@triton.jit
def kernel(o, T: tl.constexpr):
    tl.static_assert(T.a == 1)
    tl.store(o, T.a + T.b)
""",
        {"o": "*i32", "T": "constexpr"},
        {"T": "PAIR"},
    ),
    "tuple_mixed_arg": Case(
        """
@triton.jit
def kernel(o, T):
    tl.static_assert(T[1] == 7)
    x = tl.zeros((T[1] + 1,), tl.int32)
    tl.store(o, T[0] + tl.sum(x, 0))
""",
        {"o": "*i32", "T": ("i32", "constexpr")},
        {(1, 1): 7},
    ),
    "tuple_type": Case(
        """
@triton.jit
def f(t: tl.tuple):
    return t[0] + t[1]
@triton.jit
def kernel(o):
    t = tl.tuple((3, tl.program_id(0)))
    tl.static_assert(t.type == t.type)
    tl.store(o, f(t))
    u = t + (1,)
    tl.static_assert(len(u) == 3)
    tl.store(o, u[2])
""",
        {"o": "*i32"},
    ),
    "tuple_loop": Case(
        """
@triton.jit
def kernel(o, n):
    t = (tl.program_id(0), 1)
    for i in range(n):
        t = (t[0] + 1, t[1])
    tl.store(o, t[0] + t[1])
""",
        {"o": "*i32", "n": "i32"},
    ),
    "tuple_assign": Case(
        """
@triton.jit
def kernel(o):
    t = (1, 2)
    t[0] = 3
    tl.store(o, t[0])
""",
        {"o": "*i32"},
    ),
    "must_use": Case(
        """
@triton.must_use_result
@triton.jit
def f(x):
    return x + 1
@triton.jit
def kernel(o):
    f(1)
    tl.store(o, 1)
""",
        {"o": "*i32"},
    ),
    "must_use_text": Case(
        """
@triton.must_use_result("f gives a new value")
@triton.jit
def f(x):
    return x + 1
@triton.jit
def kernel(o):
    f(1)
    tl.store(o, 1)
""",
        {"o": "*i32"},
    ),
    "must_use_where": Case(
        """
@triton.jit
def kernel(o):
    d = tl.arange(0, 8)
    tl.where(d > 3, d, 0)
    tl.store(o, 1)
""",
        {"o": "*i32"},
    ),
    "agg_basic": Case(
        RECORD
        + """
@triton.jit
def kernel(o, k):
    p = P(tl.program_id(0), 8)
    tl.static_assert(p.n == 8)
    for i in range(k):
        p = p.add(i)
    x = tl.zeros((p.n,), tl.int32)
    tl.store(o, p.x + tl.sum(x, 0) + p.width())
""",
        {"o": "*i32", "k": "i32"},
    ),
    "agg_branch": Case(
        RECORD
        + """
@triton.jit
def kernel(o, k):
    p = P(tl.program_id(0), 8)
    if k > 3:
        p = p.add(1)
    else:
        p = p.add(2)
    while p.x < 10:
        p = p.add(1)
    tl.store(o, p.x)
""",
        {"o": "*i32", "k": "i32"},
    ),
    "agg_builtin_init": Case(
        """
@tl.core._aggregate
class Q:
    x: tl.tensor
    def __init__(self, n, _semantic=None):
        self.x = tl.arange(0, n.value, _semantic=_semantic)
    @tl.core.builtin
    def total(self, _semantic=None):
        return self.x.__add__(self.x, _semantic=_semantic)
@triton.jit
def kernel(o):
    q = Q(8)
    tl.store(o + tl.arange(0, 8), q.total())
""",
        {"o": "*i32"},
    ),
    "agg_jit_init": Case(
        """
@tl.core._aggregate
class Q:
    x: tl.tensor
    @triton.jit
    def __init__(self, n):
        self.x = n + 1
@triton.jit
def kernel(o):
    q = Q(tl.program_id(0))
    tl.store(o, q.x)
""",
        {"o": "*i32"},
        ours="a constructor may be a jit function",
    ),
    "agg_missing_field": Case(
        """
@tl.core._aggregate
class Q:
    x: tl.tensor
    y: tl.tensor
    def __init__(self, x):
        self.x = x
@triton.jit
def kernel(o):
    q = Q(tl.program_id(0))
    tl.store(o, q.x)
""",
        {"o": "*i32"},
    ),
    "agg_unknown_field": Case(
        """
@tl.core._aggregate
class Q:
    x: tl.tensor
    def __init__(self, x):
        self.x = x
        self.y = x
@triton.jit
def kernel(o):
    q = Q(tl.program_id(0))
    tl.store(o, q.x)
""",
        {"o": "*i32"},
    ),
    "agg_wrong_type": Case(
        """
@tl.core._aggregate
class Q:
    x: tl.tensor
    def __init__(self, x):
        self.x = tl.constexpr(3)
@triton.jit
def kernel(o):
    q = Q(tl.program_id(0))
    tl.store(o, q.x)
""",
        {"o": "*i32"},
    ),
    "agg_nested": Case(
        RECORD
        + """
@tl.core._aggregate
class R:
    p: P
    t: tl.tuple
    def __init__(self, p, t):
        self.p = p
        self.t = t
    @triton.jit
    def bump(self):
        return R(self.p.add(1), (self.t[0] + 1, self.t[1]))
@triton.jit
def kernel(o, k):
    r = R(P(tl.program_id(0), 4), tl.tuple((1, 2)))
    for i in range(k):
        r = r.bump()
    tl.store(o, r.p.x + r.t[0])
""",
        {"o": "*i32", "k": "i32"},
        theirs="a compile-time number that a loop counts up stays what it was",
    ),
    "agg_passed": Case(
        RECORD
        + """
@triton.jit
def f(p):
    return p.add(p.width())
@triton.jit
def g(p: P):
    return f(p).x
@triton.jit
def kernel(o):
    tl.store(o, g(P(tl.program_id(0), 8)))
""",
        {"o": "*i32"},
    ),
    "agg_static": Case(
        """
@tl.core._aggregate
class Q:
    x: tl.tensor
    def __init__(self, x):
        self.x = x
    @staticmethod
    @triton.jit
    def make(n):
        return Q(n + 1)
    @triton.constexpr_function
    def seven(self):
        return 7
@triton.jit
def kernel(o):
    q = Q.make(tl.program_id(0))
    s: tl.constexpr = q.seven()
    tl.store(o, q.x + s)
""",
        {"o": "*i32"},
        ours="a static method may construct",
    ),
    "desc_ok": Case(
        """
@triton.jit
def kernel(x, o):
    d = tl.make_tensor_descriptor(x, shape=[16, 16], strides=[16, 1], block_shape=[8, 16])
    y = d.load([0, 0])
    d.store([0, 0], y)
""",
        {"x": "*fp32", "o": "*fp32"},
    ),
    "desc_pow2": Case(
        """
@triton.jit
def kernel(x, o):
    d = tl.make_tensor_descriptor(x, shape=[16, 16], strides=[16, 1], block_shape=[8, 24])
    y = d.load([0, 0])
    d.store([0, 0], y)
""",
        {"x": "*fp32", "o": "*fp32"},
    ),
    "desc_row": Case(
        """
@triton.jit
def kernel(x, o):
    d = tl.make_tensor_descriptor(x, shape=[16, 16], strides=[16, 1], block_shape=[8, 2])
    y = d.load([0, 0])
    d.store([0, 0], y)
""",
        {"x": "*fp32", "o": "*fp32"},
    ),
    "desc_laststride": Case(
        """
@triton.jit
def kernel(x, o):
    d = tl.make_tensor_descriptor(x, shape=[16, 16], strides=[16, 2], block_shape=[8, 16])
    y = d.load([0, 0])
    d.store([0, 0], y)
""",
        {"x": "*fp32", "o": "*fp32"},
    ),
    "desc_rank": Case(
        """
@triton.jit
def kernel(x, o):
    d = tl.make_tensor_descriptor(x, shape=[16, 16], strides=[16, 1], block_shape=[8])
    y = d.load([0, 0])
    d.store([0, 0], y)
""",
        {"x": "*fp32", "o": "*fp32"},
        said="Expected block_shape to have 2 dimensions but got 1",
    ),
    "desc_strides_rank": Case(
        """
@triton.jit
def kernel(x, o):
    d = tl.make_tensor_descriptor(x, shape=[16, 16], strides=[1], block_shape=[8, 16])
    y = d.load([0, 0])
    d.store([0, 0], y)
""",
        {"x": "*fp32", "o": "*fp32"},
    ),
    "desc_rank6": Case(
        """
@triton.jit
def kernel(x, o):
    d = tl.make_tensor_descriptor(x, shape=[1,1,1,1,1,16], strides=[16,16,16,16,16,1], block_shape=[1,1,1,1,1,16])
    y = d.load([0, 0])
    d.store([0, 0], y)
""",
        {"x": "*fp32", "o": "*fp32"},
    ),
    "desc_zero": Case(
        """
@triton.jit
def kernel(x, o):
    d = tl.make_tensor_descriptor(x, shape=[], strides=[], block_shape=[])
    y = d.load([0, 0])
    d.store([0, 0], y)
""",
        {"x": "*fp32", "o": "*fp32"},
    ),
    "desc_pad_int": Case(
        """
@triton.jit
def kernel(x, o):
    d = tl.make_tensor_descriptor(x, shape=[16, 16], strides=[16, 1], block_shape=[8, 16], padding_option="nan")
    d.store([0, 0], d.load([0, 0]))
""",
        {"x": "*i32", "o": "*i32"},
    ),
    "desc_offsets": Case(
        """
@triton.jit
def kernel(x, o):
    d = tl.make_tensor_descriptor(x, shape=[16, 16], strides=[16, 1], block_shape=[8, 16])
    d.store([0, 0], d.load([0]))
""",
        {"x": "*i32", "o": "*i32"},
    ),
    "desc_store_shape": Case(
        """
@triton.jit
def kernel(x, o):
    d = tl.make_tensor_descriptor(x, shape=[16, 16], strides=[16, 1], block_shape=[8, 16])
    d.store([0, 0], tl.zeros((16, 8), tl.int32))
""",
        {"x": "*i32", "o": "*i32"},
    ),
    "desc_gather1": Case(
        """
@triton.jit
def kernel(x, o):
    d = tl.make_tensor_descriptor(x, shape=[16, 16], strides=[16, 1], block_shape=[8, 16])
    d.gather(tl.arange(0, 8), 0)
""",
        {"x": "*i32", "o": "*i32"},
    ),
    "range_opts": Case(
        """
@triton.jit
def kernel(o, n):
    s = 0
    for i in tl.range(0, n, 2, num_stages=3, loop_unroll_factor=2, disallow_acc_multi_buffer=True, flatten=True):
        s += i
    for i in tl.range(0, n, warp_specialize=False, disable_licm=True):
        s += i
    for i in tl.range(n):
        s += i
    for i in tl.range(n, num_stages=None):
        s += 1
    tl.store(o, s)
""",
        {"o": "*i32", "n": "i32"},
    ),
    "class_tensor_methods": Case(
        """
@triton.jit
def kernel(o):
    x = tl.arange(0, 8)
    s = tl.tensor.sum(x, 0)
    tl.store(o, s)
""",
        {"o": "*i32"},
    ),
    "extents": Case(
        """
@triton.jit
def kernel(o):
    tl.store(o + tl.arange(0, 96), 1.0)
""",
        {"o": "*fp32"},
        ours="extents need not be powers of two",
    ),
    "full_extents": Case(
        """
@triton.jit
def kernel(o):
    tl.store(o + tl.arange(0, 8), tl.sum(tl.full((8, 3), 1.0, tl.float32), 1))
""",
        {"o": "*fp32"},
        ours="extents need not be powers of two",
    ),
    "ct_type": Case(
        """
@triton.jit
def kernel(T: tl.constexpr):
    t: tl.constexpr = (5, 6, 7)
    tl.static_assert(t.type == tl.core.constexpr_type((5, 6, 7)))
    tl.static_assert(T.type == t.type)
    u: tl.constexpr = T
    tl.static_assert(u.type == t.type and u == t)
""",
        {"T": "constexpr"},
        {"T": (5, 6, 7)},
    ),
    **{
        f"scales_{name}": Case(
            f"""
@triton.jit
def kernel():
    a = tl.full((32, 64), 0, tl.uint8)
    b = tl.full((64, 16), 0, tl.uint8)
    x = tl.full({left}, 0, {kind})
    y = tl.full({right}, 0, {kind})
    tl.dot_scaled(a, x, "e5m2", b, y, "e5m2")
""",
            {},
        )
        for name, left, right, kind in (
            ("e8m0", (32, 2), (16, 2), "tl.uint8"),
            ("e4m3", (32, 4), (16, 4), "tl.float8e4nv"),
            ("first_columns", (32, 4), (16, 2), "tl.uint8"),
            ("first_rows", (16, 2), (16, 2), "tl.uint8"),
            ("first_rank", (32,), (16, 2), "tl.uint8"),
            ("second_columns", (32, 2), (16, 4), "tl.uint8"),
            ("second_turned", (32, 2), (2, 16), "tl.uint8"),
            ("second_e4m3", (32, 4), (16, 2), "tl.float8e4nv"),
        )
    },
}
