"""Questions about the target, functions of one vendor's targets, and functions of the device library."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from xdsl.ir import Block

import tritonx.language as tl
from tritonx.backends import registry
from tritonx.backends.amd import BACKEND as AMD
from tritonx.backends.api import Options, Target
from tritonx.backends.nvidia import BACKEND as NVIDIA
from tritonx.frontend.semantics import Semantics
from tritonx.ir.builder import Builder
from tritonx.language.extra.libdevice_table import names, overloads


@pytest.fixture(autouse=True)
def both_vendors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "available", lambda: {"cuda": NVIDIA, "hip": AMD})


def semantics(target: Target) -> Semantics:
    return Semantics(Builder(Block()), Options(num_warps=8), target)


@pytest.mark.parametrize(
    ("target", "answers"),
    [
        (Target("cuda", 90, 32), (True, False, False, True, False)),
        (Target("cuda", 80, 32), (True, False, False, False, False)),
        (Target("hip", "gfx942", 64), (False, True, True, False, False)),
        (Target("hip", "gfx950", 64), (False, True, False, False, True)),
        (Target("cpu"), (False, False, False, False, False)),
    ],
)
def test_target_info(target: Target, answers: tuple[bool, ...]) -> None:
    sem, info = semantics(target), tl.target_info
    got = (
        info.is_cuda(_semantic=sem),
        info.is_hip(_semantic=sem),
        info.is_hip_cdna3(_semantic=sem),
        info.cuda_capability_geq(9, 0, _semantic=sem),
        info.is_hip_cdna4(_semantic=sem),
    )
    assert tuple(a.value for a in got) == answers
    assert info.current_target(_semantic=sem).value == target
    with pytest.raises(AttributeError):
        _ = info.capability


def ops(sem: Semantics) -> list[str]:
    return [str(op) for op in sem.builder.block.ops]


def test_extra_of_a_vendor() -> None:
    sem = semantics(Target("cuda", 90, 32))
    extra = tl.extra.cuda
    assert extra.globaltimer(_semantic=sem).type == tl.int64 and extra.smid(_semantic=sem).type == tl.int32
    assert extra.num_threads(_semantic=sem).value == 256 and extra.num_warps(_semantic=sem).value == 8
    extra.gdc_wait(_semantic=sem)
    extra.gdc_launch_dependents(_semantic=sem)
    assert sum("griddepcontrol" in text for text in ops(sem)) == 2
    assert tl.extra.hip.memrealtime(_semantic=semantics(Target("hip", "gfx942", 64))).type == tl.int64
    with pytest.raises(AttributeError, match="no backend of that name is installed"):
        _ = tl.extra.abacus


def call(sem: Semantics, name: str, types: tuple[str, ...]) -> Any:
    arguments = [sem.scalar_constant(1, tl.dtype(t)) for t in types]
    return getattr(tl.extra.libdevice, name)(*arguments, _semantic=sem)


def test_libdevice_resolves_by_target() -> None:
    for target, symbol in (
        (Target("cuda", 90, 32), "__nv_tanhf"),
        (Target("hip", "gfx942", 64), "__ocml_tanh_f32"),
        (Target("elsewhere"), "tanh"),
    ):
        sem = semantics(target)
        assert call(sem, "tanh", ("fp32",)).type == tl.float32
        assert f'symbol = "{symbol}"' in ops(sem)[-1]


def test_every_overload_without_a_table() -> None:
    sem = semantics(Target("elsewhere"))
    predicates = {"isnan", "isinf", "finitef", "isfinited"}
    for name in names():
        for types, result in overloads(name).items():
            got = call(sem, name, types).type
            assert got == (tl.int1 if name in predicates else tl.dtype(result)), name


def test_names_that_a_target_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"tanh": {("fp32",): ("my_tanh", "fp32")}}
    monkeypatch.setattr(type(NVIDIA), "extern_functions", lambda self, target: table)
    sem = semantics(Target("cuda", 90, 32))
    assert call(sem, "tanh", ("fp32",)).type == tl.float32
    with pytest.raises(AttributeError, match="'libdevice' of cuda:90 has no attribute 'sinh'"):
        call(sem, "sinh", ("fp32",))
    with pytest.raises(ValueError, match=r"input arg type does not match. Expect one of"):
        call(sem, "tanh", ("fp64",))


def test_extra_of_a_vendor_can_be_imported_from() -> None:
    from tritonx.language.extra.cuda import gdc_wait, libdevice
    from tritonx.language.extra.cuda.libdevice import tanh
    from tritonx.language.extra.hip import memrealtime

    from tritonx.language.extra import libdevice as generic

    assert gdc_wait is tl.extra.cuda.gdc_wait and memrealtime is tl.extra.hip.memrealtime
    assert libdevice is generic and tanh is generic.tanh
    with pytest.raises(ModuleNotFoundError, match="abacus"):
        importlib.import_module("tritonx.language.extra.abacus")
