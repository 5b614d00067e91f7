"""Control flow, calls, printing and assertions."""

import triton
import triton.language as tl
from kernels_case import Case


@triton.jit
def branches(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    if n > 3:
        v += 1.0
        if n > 5:
            v *= 2.0
    elif n == 1:
        v -= 1.0
    else:
        tl.store(o + i, v)
    w = v if n > 2 else v * 3.0
    tl.store(o + i, w)


@triton.jit
def early(x, o, n):
    if n < 3:
        return
    tl.store(o, tl.load(x))


@triton.jit
def loops(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    count = 0
    for j in range(n):
        for k in tl.range(0, j, 2, num_stages=2, loop_unroll_factor=2):
            acc += tl.load(x + i + j * BLOCK + k)
        count += j
    while count > 0:
        acc *= 0.5
        count = count // 2
        if count == 7:
            acc += 1.0
    for j in tl.static_range(2):
        acc += j
    for j in tl.range(n, 0, -1, flatten=True, disallow_acc_multi_buffer=True):
        acc += j
    tl.store(o + i, acc)


@triton.jit(noinline=True)
def _outlined(v, n):
    return v * n + 1.0, n + 1


@triton.jit
def _inlined(p, v):
    tl.store(p, v)


@triton.jit
def calls(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v, m = _outlined(tl.load(x + n), n)
    _inlined(o + i, tl.load(x + i) + v + m)


@triton.jit
def talking(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.device_print('values "quoted": ', v, n, hex=True)
    tl.device_print("nothing")
    tl.device_assert(v < 3.0, "too large")
    tl.device_assert(n > 0, "not positive")
    tl.debug_barrier()
    tl.store(o + i, v + tl.num_programs(1) + tl.program_id(2))


@triton.jit
def specialised(x, o, one: tl.constexpr, flag: tl.constexpr, scale, none, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i) * scale
    if flag:
        v += one
    if none is None:
        v += 2.0
    tl.store(o + i, v.to(o.dtype.element_ty))


F32 = {"x": "*fp32", "o": "*fp32", "n": "i32"}
CASES = [
    Case("branches", branches, F32, {"BLOCK": 128}),
    Case("early", early, F32),
    Case("loops", loops, F32, {"BLOCK": 128}),
    Case("calls", calls, F32, {"BLOCK": 128}),
    Case("talking", talking, F32, {"BLOCK": 128}, {"debug": True}),
    Case(
        "specialised",
        specialised,
        {"x": "*fp32", "o": "*fp16", "scale": "fp32"},
        {"BLOCK": 128, "one": 1, "flag": True, "none": None},
        {"num_warps": 1},
    ),
]
