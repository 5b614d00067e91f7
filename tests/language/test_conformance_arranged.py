"""The conformance suite on arrays that lie otherwise in memory.

A share of the cases, each in a drawn arrangement, in the interpreter, on every device that is here, and compiled for
every target. Another share with every seed (``TRITONX_SEED`` fixes it); ``python -m tritonx_testing.conformance
--arranged`` runs them all.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.registry import available
from tritonx_testing.conformance import cases, isolated, names
from tritonx_testing.conformance.arranged_run import check_arranged, fitted
from tritonx_testing.conformance.arrangement import ARRANGEMENTS, Arrangement, Placed, arrange, arranged_names, place
from tritonx_testing.conformance.case import Case, Mismatch, Output, Trial
from tritonx_testing.conformance.cover import Cover
from tritonx_testing.conformance.device import HOST, find
from tritonx_testing.conformance.pointer_groups import Use
from tritonx_testing.conformance.strides import ALLOWED, TWO_STRIDES, WAYS, Kind, draw

SEED = int(os.environ["TRITONX_SEED"])
FULL = os.environ.get("TRITONX_CONFORMANCE") == "full"
NAMES = arranged_names(cases(), SEED, Cover.from_environment())
TARGETS = [
    str(target)
    for backend in available().values()
    if HOST not in backend.dlpack_device_types
    for target in backend.known_targets()
]
DEVICES = [name for name in names() if name != "python"]
SHARE = 16
"""One case of so many."""


def share(number: int, parts: int) -> list[str]:
    return NAMES if FULL else NAMES[(number + SEED) % parts :: parts]


def failures(device: str, chosen: list[str]) -> str:
    wrong = [r for r in isolated.run(device, chosen, SEED) if not r.good]
    return "\n".join(f"{r.kind} {r.name} on {device} (seed {SEED}): {r.message[:1000]}" for r in wrong)


@pytest.mark.parametrize("device", DEVICES)
def test_arranged(device: str) -> None:
    assert not (wrong := failures(device, share(0, SHARE))), wrong


@pytest.mark.parametrize("number", range(len(TARGETS)), ids=TARGETS)
def test_compiles_arranged(number: int) -> None:
    assert not (wrong := failures(TARGETS[number], share(number, 16 * len(TARGETS)))), wrong


@tritonx.jit
def halves(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 0.5, mask=i < n)


@tritonx.jit
def overruns(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 0.5)


def case_of(kernel: Any) -> Case:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.standard_normal(100).astype(np.float32)
        return Trial((x, Output.of(x * np.float32(0.5)), 100), {"N": 128})

    return Case("test/halves", kernel, make)


@pytest.mark.parametrize("device", ["interpreter", "cpu"])
@pytest.mark.parametrize("arrangement", [*ARRANGEMENTS, *(Arrangement((way,), 2) for way in WAYS)], ids=str)
def test_a_kernel_in_every_arrangement(arrangement: Arrangement, device: str) -> None:
    check_arranged(case_of(halves), find(device), SEED, arrangement)


def test_a_store_behind_the_output_is_seen() -> None:
    with pytest.raises(Mismatch, match="past the end"):
        check_arranged(case_of(overruns), find("interpreter"), SEED, Arrangement(("sliced",), programs=2))


@pytest.mark.parametrize("way", WAYS)
def test_what_lies_between_must_stay(way: str) -> None:
    arranged = arrange(case_of(halves), Arrangement((way,), 2), SEED, {}, axis=2)
    assert arranged is not None
    arrays: list[Placed] = [a for a in arranged.args if isinstance(a, Placed)]
    memories = [a.memory.copy() for a in arrays]
    for number, trial in enumerate(arranged.trials):
        memories[1][arrays[1].places[number][:100]] = trial.args[1].parts[0].expected
    arranged.check(memories)
    between = np.setdiff1d(np.arange(memories[1].size), np.concatenate(arrays[1].places))
    if between.size:
        kept, memories[1][between[0]] = memories[1][between[0]], 1.0
        with pytest.raises(Mismatch, match="wrote between"):
            arranged.check(memories)
        memories[1][between[0]] = kept
    memories[0][arrays[0].places[0][3]] += 1
    with pytest.raises(Mismatch, match="only reads"):
        arranged.check(memories)


@pytest.mark.parametrize("itemsize", [1, 2, 8])
@pytest.mark.parametrize("use", Use)
@pytest.mark.parametrize("way", WAYS)
def test_the_parts_do_not_overlap(way: str, use: Use, itemsize: int) -> None:
    rng = np.random.default_rng(SEED)
    for _ in range(20):
        columns = rng.choice([None, 2, 7, 16])
        kind = Kind(int(rng.integers(1, 90)), itemsize, None if columns is None else int(columns), use)
        placement = draw(rng, kind, (way,))
        parts = [np.full(kind.count, number, f"i{itemsize}") for number in range(3)]
        placed = place(parts, placement)
        assert all((placed.part(number) == number).all() for number in range(3)), placement
        assert placed.start == placed.places[0][0]
        assert placed.places[1][0] == placed.start + placed.pitch
        assert placement.strides.linear or (way in ALLOWED[use] and way in TWO_STRIDES)
        if use == Use.ROWS:
            assert placed.start * itemsize % 16 == placed.pitch * itemsize % 16 == 0
            assert placement.strides.column == 1
            assert placement.strides.row * itemsize % 16 == 0


@tritonx.jit
def carried(x_ptr, y_ptr, out_ptr, count, which, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Pointers through loops, selections, branches, shapes and casts; y is read a row up, x also from behind."""
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    forward = x_ptr + at
    backward = tl.reshape(x_ptr + count * ROWS * COLUMNS + tl.trans(tl.trans(at)), (COLUMNS, ROWS))
    up = tl.broadcast_to((y_ptr + tl.arange(0, COLUMNS))[None, :], (ROWS, COLUMNS))
    total = tl.zeros((ROWS, COLUMNS), tl.int32)
    step = 0
    for _ in range(count):
        backward -= ROWS * COLUMNS
        total += tl.load(forward) - 3 * tl.reshape(tl.load(backward), (ROWS, COLUMNS))
        forward += ROWS * COLUMNS
        if which > step:
            up += COLUMNS
        step += 1
    while step > count - 1:
        up = tl.where(total > 0, up, up + COLUMNS)
        step -= 1
    bits = (y_ptr + COLUMNS).to(tl.pointer_type(tl.float32))
    total += tl.load(up) + tl.load(bits + tl.arange(0, COLUMNS)).to(tl.int32, bitcast=True)[None, :]
    tl.store(out_ptr + at, total)
    tl.store(out_ptr + ROWS * COLUMNS, tl.load(x_ptr))


def carried_case(rows: int, columns: int, count: int, which: int) -> Case:
    def make(rng: np.random.Generator) -> Trial:
        x = rng.integers(-99, 99, (count * rows, columns)).astype(np.int32)
        y = rng.integers(-99, 99, (count + 2, columns)).astype(np.int32)
        parts = x.reshape(count, rows, columns)
        total = (parts - 3 * parts[::-1]).sum(axis=0)
        steps = min(max(which, 0), count) + (total <= 0)
        total = total + y[steps, np.arange(columns)] + y[1]
        expected = np.append(total, x[0, 0]).astype(np.int32)
        return Trial((x, y, Output.of(expected), count, which), {"ROWS": rows, "COLUMNS": columns})

    return Case(f"test/carried-{rows}x{columns}", carried, make)


@pytest.mark.parametrize("device", ["interpreter", "cpu"])
@pytest.mark.parametrize("way", WAYS)
def test_carried_pointers(way: str, device: str) -> None:
    case = carried_case(4, 8, 3, 2)
    arrangement = Arrangement((way,), 2)
    arranged = fitted(case, arrangement, SEED)
    assert all(a.placement.strides.linear == (way not in TWO_STRIDES) for a in arranged.args if isinstance(a, Placed))
    check_arranged(case, find(device), SEED, arrangement)


@tritonx.jit
def either(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(tl.where(i % 3 == 0, x_ptr + i, y_ptr + N - 1 - i)))


def either_case() -> Case:
    def make(rng: np.random.Generator) -> Trial:
        x, y = rng.integers(-99, 99, (2, 32)).astype(np.int16)
        return Trial((x, y, Output.of(np.where(np.arange(32) % 3 == 0, x, y[::-1]))), {"N": 32})

    return Case("test/either", either, make)


@pytest.mark.parametrize("device", ["interpreter", "cpu"])
def test_arrays_whose_pointers_meet_lie_alike(device: str) -> None:
    for seed in range(SEED, SEED + 10):
        x, y, _ = fitted(either_case(), Arrangement(), seed).args
        assert x.placement.strides == y.placement.strides
        assert x.placement.strides.linear
        check_arranged(either_case(), find(device), seed, Arrangement())
    assert any(
        fitted(either_case(), Arrangement(), seed).args[2].placement.strides != x.placement.strides
        for seed in range(SEED, SEED + 20)
    )


def test_looking_at_addresses() -> None:
    """The array is moved, and stays contiguous."""
    names = {case.name: case for case in cases()}
    for seed in range(5):
        x, _ = fitted(names["memory/addresses-int32"], Arrangement(), seed).args
        assert x.placement.strides.linear
        assert x.placement.strides.column == 1


def test_too_long_a_program_is_skipped() -> None:
    """What the arrangement makes too long for a thread is no failure; as it is, the case must compile."""
    case, device = replace(case_of(halves), options={"max_instructions": 9}), find(TARGETS[0])
    kind, message = isolated.outcome(case, device, SEED)
    assert kind == "unsupported", message
    kind, message = isolated.outcome(case, device, SEED, Arrangement())
    assert kind == "skipped", message
    assert "too long" in message


@tritonx.jit
def refused(x_ptr, out_ptr, n, N: tl.constexpr):
    tl.static_assert(N > 128, "no kernel")
    halves(x_ptr, out_ptr, n, N)


@pytest.mark.parametrize("arrangement", [None, Arrangement()], ids=str)
def test_a_refusal_is_told_from_a_failure(arrangement: Arrangement | None) -> None:
    """One by the front end here, which has no hint."""
    kind, message = isolated.outcome(case_of(refused), find(TARGETS[0]), SEED, arrangement)
    assert kind == "unsupported", message
    assert "no kernel" in message


def test_every_way_is_drawn() -> None:
    """Over the whole suite each way is taken by many arrays."""
    seen: dict[str, int] = {}
    known = {case.name: case for case in cases()}
    for name in sorted(known)[SEED % 40 :: 40]:
        for argument in fitted(known[name], Arrangement(), SEED).args:
            if isinstance(argument, Placed):
                seen[str(argument.placement.strides)] = seen.get(str(argument.placement.strides), 0) + 1
    assert len([one for one in seen if "rows" in one]) > 4, seen
