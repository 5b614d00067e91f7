"""Atomics: many programs on the same words, old values, masks, memory orders and scopes, and what a program hands on to
the next one."""

# pyright: reportArgumentType=false, reportOperatorIssue=false, reportUnknownMemberType=false,
# reportUnknownVariableType=false
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tritonx
import tritonx.language as tl
from tritonx_testing.conformance.case import Case, MakeTrial, Output, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.values import DTYPES, integers, small_integers

PROGRAMS = 6


@tritonx.jit
def update_kernel(
    x_ptr, out_ptr, WORDS: tl.constexpr, N: tl.constexpr, OP: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr
):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + tl.program_id(0) * N + i)
    place = out_ptr + i % WORDS
    if OP == "add":
        tl.atomic_add(place, x, sem=SEM, scope=SCOPE)
    elif OP == "max":
        tl.atomic_max(place, x, sem=SEM, scope=SCOPE)
    elif OP == "min":
        tl.atomic_min(place, x, sem=SEM, scope=SCOPE)
    elif OP == "and":
        tl.atomic_and(place, x, sem=SEM, scope=SCOPE)
    elif OP == "or":
        tl.atomic_or(place, x, sem=SEM, scope=SCOPE)
    else:
        tl.atomic_xor(place, x, sem=SEM, scope=SCOPE)


@tritonx.jit
def old_values_kernel(x_ptr, counter_ptr, old_ptr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    keep = tl.load(x_ptr + i) > 0
    old = tl.atomic_add(counter_ptr + i, tl.load(x_ptr + i), mask=keep)
    tl.store(old_ptr + i, old, mask=keep)


@tritonx.jit
def neighbours_kernel(
    x_ptr, sum_ptr, old_ptr, n, SHIFT: tl.constexpr, GROUP: tl.constexpr, OLD: tl.constexpr, N: tl.constexpr
):
    """Groups of neighbours, a third of them masked off, from an address that is aligned or not."""
    i = tl.program_id(0) * N + tl.arange(0, N)
    mask = (i // GROUP % 3 != 1) & (i < n)
    old = tl.atomic_add(sum_ptr + SHIFT + i, tl.load(x_ptr + i, mask=mask), mask=mask)
    if OLD:
        tl.store(old_ptr + i, old, mask=mask)


@tritonx.jit
def ticket_kernel(counter_ptr, taken_ptr):
    ticket = tl.atomic_add(counter_ptr, 1)
    tl.store(taken_ptr + ticket, 1)


@tritonx.jit
def exchange_kernel(x_ptr, word_ptr, old_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(old_ptr + i, tl.atomic_xchg(word_ptr + i, tl.load(x_ptr + i)))


@tritonx.jit
def compare_kernel(x_ptr, word_ptr, old_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    old = tl.atomic_cas(word_ptr + i, tl.full((N,), 0, dtype=x.dtype), x)
    tl.store(old_ptr + i, old)


@tritonx.jit
def lock_kernel(lock_ptr, total_ptr, N: tl.constexpr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    i = tl.arange(0, N)
    tl.store(total_ptr + i, tl.load(total_ptr + i, volatile=True) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@tritonx.jit
def histogram_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.atomic_add(out_ptr + tl.load(x_ptr + i, mask=mask, other=0), 1, mask=mask)


@tritonx.jit
def access_kernel(x_ptr, out_ptr, n, N: tl.constexpr, LOAD: tl.constexpr, STORE: tl.constexpr, SCOPE: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.atomic_load(x_ptr + i, mask=i < n, sem=LOAD, scope=SCOPE)
    tl.atomic_store(out_ptr + i, x, mask=i < n, sem=STORE, scope=SCOPE)


@tritonx.jit
def poll_kernel(x_ptr, seen_ptr, one_ptr, first, time, N: tl.constexpr, SEM: tl.constexpr):
    """Half of the elements never come to equal what is waited for."""
    i = tl.arange(0, N)
    seen = tl.atomic_poll(x_ptr + i, i // 2 * 2, sem=SEM, timeout_ns=time)
    tl.store(seen_ptr + i, seen.to(tl.int32))
    tl.store(one_ptr, tl.atomic_poll(x_ptr, first, sem=SEM, timeout_ns=2000).to(tl.int32))


@tritonx.jit
def hand_on_kernel(data_ptr, flag_ptr, N: tl.constexpr):
    """Each program adds to what the one before has left, in another order of the elements."""
    program = tl.program_id(0)
    i = tl.arange(0, N)
    if program > 0:
        tl.atomic_poll(flag_ptr + program - 1, 1)
    before = tl.load(data_ptr + program * N + (N - 1 - i))
    tl.store(data_ptr + (program + 1) * N + i, before + i)
    tl.atomic_store(flag_ptr + program, 1)


@tritonx.jit
def last_kernel(x_ptr, part_ptr, count_ptr, total_ptr, N: tl.constexpr):
    """The program that comes last adds up what all have stored."""
    i = tl.arange(0, N)
    programs = tl.num_programs(0)
    tl.store(part_ptr + tl.program_id(0) * N + i, tl.load(x_ptr + tl.program_id(0) * N + i))
    tl.debug_barrier()
    if tl.atomic_add(count_ptr, 1) == programs - 1:
        tl.atomic_load(count_ptr)
        total = tl.zeros((N,), tl.int32)
        for p in range(programs):
            total += tl.load(part_ptr + p * N + i)
        tl.store(total_ptr + i, total)


_REDUCE = {
    "add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}  # fmt: skip


def _update(op: str, dtype: str, words: int, n: int, sem: str, scope: str) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        shape = (PROGRAMS, n)
        draw = integers if op in ("and", "or", "xor") else small_integers
        x, initial = draw(rng, dtype, shape), draw(rng, dtype, words)
        every = np.concatenate([initial[None], x.reshape(-1, words)])
        with np.errstate(all="ignore"):
            expected = _REDUCE[op].reduce(every.astype(np.float64) if draw is small_integers else every, axis=0)
        output = Output.of(expected.astype(DTYPES[dtype]), initial=initial)
        constants = {"WORDS": words, "N": n, "OP": op, "SEM": sem, "SCOPE": scope}
        return Trial((x, output), constants, (PROGRAMS,))

    return make


def _old_values(dtype: str, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        count = n * 3
        x, before = small_integers(rng, dtype, count), small_integers(rng, dtype, count)
        kept = x > 0
        marker = small_integers(rng, dtype, count)
        after = np.where(kept, before + x, before).astype(x.dtype)
        old = np.where(kept, before, marker).astype(x.dtype)
        return Trial((x, Output.of(after, initial=before), Output.of(old, initial=marker)), {"N": n}, (3,))

    return make


def _neighbours(dtype: str, n: int, shift: int, group: int, keep: bool) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        count, limit = 3 * n, 3 * n - 3 * group
        x, marker = small_integers(rng, dtype, count), small_integers(rng, dtype, count)
        before = small_integers(rng, dtype, count + shift)
        i = np.arange(count)
        mask = (i // group % 3 != 1) & (i < limit)
        after = before.copy()
        after[shift:] = np.where(mask, before[shift:] + x, before[shift:]).astype(x.dtype)
        old = np.where(mask & keep, before[shift:], marker).astype(x.dtype)
        arguments = (x, Output.of(after, initial=before), Output.of(old, initial=marker), limit)
        return Trial(arguments, {"SHIFT": shift, "GROUP": group, "OLD": keep, "N": n}, (3,))

    return make


def _tickets(programs: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        counter = Output.of(np.array([programs], np.int32), initial=np.zeros(1))
        return Trial((counter, Output.of(np.ones(programs, np.int32), initial=np.zeros(programs))), {}, (programs,))

    return make


def _exchange(dtype: str, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, before = small_integers(rng, dtype, n), small_integers(rng, dtype, n)
        return Trial((x, Output.of(x, initial=before), Output.of(before)), {"N": n})

    return make


def _compare(dtype: str, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x, before = small_integers(rng, dtype, n, 1, 9), small_integers(rng, dtype, n, 0, 2)
        after = np.where(before == 0, x, before).astype(x.dtype)
        return Trial((x, Output.of(after, initial=before), Output.of(before)), {"N": n})

    return make


def _lock(programs: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        lock = Output.of(np.zeros(1, np.int32), initial=np.zeros(1))
        return Trial((lock, Output.of(np.full(n, programs, np.int32), initial=np.zeros(n))), {"N": n}, (programs,))

    return make


def _histogram(n: int, bins: int, block: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(0, bins, n).astype(np.int32)
        counts = np.bincount(x, minlength=bins).astype(np.int32)
        return Trial((x, Output.of(counts, initial=np.zeros(bins)), n), {"BLOCK": block}, (-(-n // block),))

    return make


def _access(dtype: str, n: int, load: str, store: str, scope: str) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        count, limit = 3 * n, 3 * n - n // 3
        x, before = small_integers(rng, dtype, count), small_integers(rng, dtype, count)
        after = np.where(np.arange(count) < limit, x, before).astype(x.dtype)
        constants = {"N": n, "LOAD": load, "STORE": store, "SCOPE": scope}
        return Trial((x, Output.of(after, initial=before), limit), constants, (3,))

    return make


def _poll(dtype: str, n: int, sem: str) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = np.arange(n).astype(DTYPES[dtype])
        seen = (np.arange(n) % 2 == 0).astype(np.int32)
        first = int(rng.integers(0, 2))
        results = Output.of(seen, initial=-np.ones(n)), Output.of(np.array([1 - first], np.int32), initial=[-1])
        return Trial((x, *results, first, int(rng.integers(0, 5000))), {"N": n, "SEM": sem})

    return make


def _hand_on(programs: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        rows = [integers(rng, "int32", (n,))]
        for _ in range(programs):
            rows.append(rows[-1][::-1] + np.arange(n, dtype=np.int32))
        initial = np.zeros((programs + 1, n), np.int32)
        initial[0] = rows[0]
        flags = Output.of(np.ones(programs, np.int32), initial=np.zeros(programs))
        return Trial((Output.of(np.stack(rows), initial=initial), flags), {"N": n}, (programs,))

    return make


def _last(programs: int, n: int) -> MakeTrial:
    def make(rng: np.random.Generator) -> Trial:
        x = small_integers(rng, "int32", (programs, n))
        parts, count = Output.of(x, initial=np.zeros(x.shape)), Output.of(np.array([programs], np.int32), initial=[0])
        total = Output.of(x.sum(axis=0, dtype=np.int32), initial=np.zeros(n))
        return Trial((x, parts, count, total), {"N": n}, (programs,))

    return make


def cases(cover: Cover) -> Iterator[Case]:
    orders = [("relaxed", "gpu"), ("acq_rel", "gpu"), ("acquire", "gpu"), ("release", "sys")]
    kinds = [(op, dtype) for op in ("add", "max", "min") for dtype in ("int32", "uint32", "int64", "uint64", "fp32")]
    kinds += [("add", "fp64"), ("add", "fp16"), ("add", "bf16")]
    kinds += [(op, dtype) for op in ("and", "or", "xor") for dtype in ("int32", "uint64")]
    for (op, dtype), (sem, scope), (words, n), w in cover.zipped(
        kinds, orders, [(1, 64), (16, 128), (256, 256)], (4, 1, 8, 2, 4)
    ):
        name = f"atomic/{op}-{dtype}-{sem}-{scope}-{n}-on-{words}-w{w}"
        yield Case(name, update_kernel, _update(op, dtype, words, n, sem, scope), {"num_warps": w})
    for dtype, n, w in (("int32", 128, 4), ("fp32", 64, 1), ("int64", 32, 2), ("int32", 8, 4)):
        yield Case(f"atomic/old-{dtype}-{n}-w{w}", old_values_kernel, _old_values(dtype, n), {"num_warps": w})
    for (dtype, n), (shift, group), keep, w in cover.zipped(
        [("fp16", 1024), ("bf16", 512), ("fp32", 512), ("bf16", 2048), ("fp32", 64), ("fp16", 8), ("fp64", 256)],
        [(0, 8), (2, 4), (1, 16), (0, 2), (4, 8), (0, 3)],
        (True, False),
        (4, 1, 2, 8),
    ):
        name = f"atomic/neighbours-{dtype}-{n}-by-{group}-at-{shift}{'-old' if keep else ''}-w{w}"
        yield Case(name, neighbours_kernel, _neighbours(dtype, n, shift, group, keep), {"num_warps": w})
    yield Case("atomic/tickets-50", ticket_kernel, _tickets(50))
    for dtype, n, w in (("int32", 128, 4), ("int64", 16, 4), ("fp32", 64, 1)):
        yield Case(f"atomic/exchange-{dtype}-{n}-w{w}", exchange_kernel, _exchange(dtype, n), {"num_warps": w})
    for dtype, n, w in (("int32", 128, 4), ("int64", 64, 1), ("uint32", 16, 8)):
        yield Case(f"atomic/compare-{dtype}-{n}-w{w}", compare_kernel, _compare(dtype, n), {"num_warps": w})
    yield Case("atomic/lock-8-w4", lock_kernel, _lock(8, 64), {"num_warps": 4})
    yield Case("atomic/histogram-1000", histogram_kernel, _histogram(1000, 17, 256))
    for (dtype, n), (load, store), scope, w in cover.zipped(
        [
            (dtype, n)
            for dtype in ("int8", "uint16", "int32", "uint64", "fp16", "bf16", "fp32", "fp64")
            for n in (64, 512)
        ],
        [("acquire", "release"), ("relaxed", "relaxed"), ("acquire", "relaxed"), ("relaxed", "release")],
        ("gpu", "cta", "sys"),
        (4, 1, 2, 8),
    ):
        name = f"atomic/access-{dtype}-{n}-{load}-{store}-{scope}-w{w}"
        yield Case(name, access_kernel, _access(dtype, n, load, store, scope), {"num_warps": w})
    for dtype, n, sem, w in (("int32", 64, "acquire", 4), ("uint16", 16, "relaxed", 2), ("int64", 256, "acquire", 1)):
        yield Case(f"atomic/poll-{dtype}-{n}-{sem}-w{w}", poll_kernel, _poll(dtype, n, sem), {"num_warps": w})
    for programs, n, w in ((5, 256, 4), (20, 32, 2)):
        yield Case(f"atomic/hand-on-{programs}-{n}-w{w}", hand_on_kernel, _hand_on(programs, n), {"num_warps": w})
    yield Case("atomic/last-7-w4", last_kernel, _last(7, 128), {"num_warps": 4})
