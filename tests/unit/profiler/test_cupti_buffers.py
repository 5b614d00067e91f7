"""CUPTI's buffers of records: what is read of drawn ones, whatever comes in them again and again."""

from __future__ import annotations

import ctypes
import os
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.unit.profiler.cupti_library import FIELDS, SIZES, Library
from tritonx.backends.nvidia.launch import cupti_buffers
from tritonx.backends.nvidia.launch.cupti_buffers import KERNEL, registered

RNG = random.Random(int(os.environ["TRITONX_SEED"]))
OWN, OTHERS = 3, 5
BIG = (1 << 63) - 1


class Drawn:
    """Records of launches, each with the calls and the numbers that CUPTI may write with it."""

    def __init__(self) -> None:
        self.records: list[SimpleNamespace] = []
        self.correlation = 0

    def add(self, kinds: tuple[int, ...], external: int = OWN) -> None:
        for kind in kinds:
            self.correlation += RNG.randrange(1, 3)
            made = {
                "external_kind": external,
                "external_id": RNG.randrange(BIG),
                "start": RNG.randrange(BIG),
                "end": RNG.randrange(BIG),
                "device_id": RNG.randrange(8),
                "stream_id": RNG.randrange(1 << 32),
                "name": RNG.choice(["doubled", "späte", "other"]),
                "graph_node_id": RNG.choice([0, RNG.randrange(BIG)]),
            }
            self.records.append(SimpleNamespace(kind=kind, correlation_id=self.correlation, **made))

    def program(self) -> None:
        rows = [(*RNG.choices([4, 5, 39], k=RNG.randrange(5)), 10) for _ in range(4)]
        for _ in range(RNG.randrange(3, 9)):
            if RNG.random() < 0.5:
                row = RNG.choice(rows)
                for _ in range(RNG.choice([1, 2, 15, 16, 17, 90])):
                    self.add(row, RNG.choice([OWN, OWN, OTHERS]))
            else:
                for _ in range(RNG.randrange(30)):
                    self.add(RNG.choice([*rows, (39,), (4, 39, 5)]))


def check(library: Library, drawn: Drawn, found: cupti_buffers.Records) -> None:
    kernels = [r for r in drawn.records if r.kind == 10]
    pushed = [(r.correlation_id, r.external_id) for r in drawn.records if r.kind == 39 and r.external_kind == OWN]
    order = np.argsort(found.kernels["correlation"])
    read = found.kernels[order]
    assert read["correlation"].tolist() == [r.correlation_id for r in kernels]
    for field, name in (("start", "start"), ("stop", "end"), ("device", "device_id"), ("stream", "stream_id")):
        assert read[field].tolist() == [getattr(r, name) for r in kernels]
    assert read["node"].tolist() == [r.graph_node_id for r in kernels]
    assert [found.names[name] for name in read["name"].tolist()] == [r.name for r in kernels]
    assert not read["number"].any() and not read["rounds"].any()
    assert sorted(found.pushed.tolist()) == pushed
    assert sorted(found.calls.tolist()) == [(r.correlation_id, r.start) for r in drawn.records if r.kind in (4, 5)]


@pytest.mark.parametrize("size", [cupti_buffers.BUFFER_BYTES, 1 << 12])
def test_what_is_written_is_read(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cupti_buffers, "BUFFER_BYTES", size)
    library, problems = Library(), list[str]()
    buffers = registered(library, OWN, problems.append)
    for _ in range(20):
        drawn = Drawn()
        drawn.program()
        library.deliver(drawn.records)
        assert len(buffers) >= (1 if drawn.records else 0)
        check(library, drawn, buffers.take())
        assert len(buffers) == 0
    assert not problems and library.asked <= len(SIZES), "each kind's size is asked for once"


def test_what_is_not_known_is_reported_and_the_rest_read() -> None:
    library, problems = Library(), list[str]()
    buffers = registered(library, OWN, problems.append)
    before, behind, after = Drawn(), Drawn(), Drawn()
    before.add((39, 10))
    behind.add((39, 10))
    library.deliver([*before.records, SimpleNamespace(kind=99), *behind.records])
    after.add((39, 10))
    library.deliver(after.records)
    found = buffers.take()
    expected = [r.correlation_id for r in before.records + after.records if r.kind == 10]
    assert sorted(found.kernels["correlation"].tolist()) == sorted(expected)
    assert len(problems) == 1 and "kind 99" in problems[0]


def test_a_buffer_that_another_profiler_gave_is_read() -> None:
    """CUPTI had begun to fill it. It is that profiler's, which may free it: none of it is used again."""
    library, problems = Library(), list[str]()
    buffers = registered(library, OWN, problems.append)
    ours, theirs = Drawn(), Drawn()
    theirs.add((4, 39, 10))
    theirs.correlation, ours.correlation = 0, theirs.correlation
    content = b"".join(map(library.written, theirs.records))
    given = ctypes.create_string_buffer(content, 1 << 12)
    library.completed(None, 0, ctypes.addressof(given), len(given), len(content))
    ctypes.memset(given, 0xFF, len(given))
    ours.add((39, 10))
    library.deliver(ours.records)
    theirs.records += ours.records
    check(library, theirs, buffers.take())
    library.deliver(ours.records)  # to a buffer of its own
    check(library, ours, buffers.take())
    assert not problems


def test_the_librarys_own_walk() -> None:
    """Sizes are those that libcupti has, where it can be loaded."""
    try:
        own: Any = ctypes.CDLL("libcupti.so.13")
    except OSError:
        pytest.skip("there is no libcupti")
    drawn, library, problems = Drawn(), Library(), list[str]()
    drawn.program()
    drawn.add((4, 5, 39, 10, 39, 5, 4))
    buffers = registered(library, OWN, problems.append)
    library.cuptiActivityGetNextRecord = own.cuptiActivityGetNextRecord  # pyright: ignore[reportAttributeAccessIssue]
    library.deliver(drawn.records)
    check(library, drawn, buffers.take())
    assert not problems


def test_offsets_are_those_of_the_package() -> None:
    package = pytest.importorskip("cupti.cupti", reason="cupti-python is not installed")
    versions = [name for name in dir(package) if name.startswith("activity_kernel") and name.endswith("_dtype")]
    for kind, names in ((KERNEL, versions), (39, ["activity_external_correlation_dtype"]), (4, ["activity_api_dtype"])):
        assert names
        for name in names:
            known = getattr(package, name)
            for field, (form, at) in FIELDS[kind].items():
                assert (known.fields[field][0].itemsize, known.fields[field][1]) == (np.dtype(form).itemsize, at)
