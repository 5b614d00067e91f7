"""Options that a backend has not: left out where kernels pass them wherever they run, refused otherwise."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends import registry
from tritonx.backends.api import Options
from tritonx.backends.compiler import make_backend
from tritonx.backends.cpu import CpuOptions
from tritonx.frontend.semantics.dot import PRECISIONS
from tritonx.interpreter.function import interpreted
from tritonx.interpreter.options import InterpreterOptions
from tritonx.language.types.dtypes import dtype
from tritonx.runtime.compiling.compiler import compile
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.errors import ImpossibleOption
from tritonx_testing.emulators.ptx.backend import active, emulated

TUNED = tritonx.Config({"BLOCK": 16}, num_warps=2, num_stages=4, num_ctas=1, maxnreg=64).all_kwargs()
"""What a launch with a configuration that was made for CUDA is given."""

TARGETS = [str(target) for backend in registry.available().values() for target in backend.known_targets()]


@tritonx.jit
def double(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * 2)


@tritonx.jit
def overlapping(x, BLOCK: tl.constexpr, launch_pdl: tl.constexpr, maxnreg: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) * (2 if launch_pdl else 3) + maxnreg)


@pytest.mark.parametrize("target", TARGETS)
def test_every_backend_takes_a_configuration_made_for_another(target: str) -> None:
    backend, parsed = registry.parse_target(target)
    given = {name: value for name, value in TUNED.items() if name != "BLOCK"}
    options = registry.parse_options(backend, parsed, {**given, "launch_pdl": True})
    plain = registry.parse_options(backend, parsed, {"num_warps": 2, "num_stages": 4})
    assert type(options) is type(plain) is backend.options_type
    own = {f.name for f in dataclasses.fields(options)}
    wanted = {"maxnreg": 64, "launch_pdl": True}
    assert options == plain.replace(**{name: value for name, value in wanted.items() if name in own})
    assert ("maxnreg" in own) == (backend.name == "cuda")
    assert make_backend(parsed).parse_options({**given, "launch_pdl": True}) == options


@pytest.mark.parametrize("run", [lambda kernel: kernel, interpreted], ids=["compiled", "interpreted"])
def test_such_a_launch_runs_on_the_host(run: Any) -> None:
    x = np.arange(16, dtype=np.float32)
    run(double)[(1,)](x, **TUNED, launch_pdl=True, launch_cooperative_grid=True)
    assert (x == 2 * np.arange(16)).all()
    run(overlapping)[(1,)](x, 16, launch_pdl=True, maxnreg=32)  # parameters as well
    assert (x == 4 * np.arange(16) + 32).all()


def test_what_is_left_out_is_no_part_of_the_key() -> None:
    x = np.zeros(16, np.float32)
    assert double[(1,)](x, **TUNED).hash == double[(1,)](x, **{**TUNED, "maxnreg": 128}).hash


def test_an_unknown_option_is_named_beside_one_that_is_left_out() -> None:
    with pytest.raises(KeyError, match="Keyword argument waves_per_eu was specified but unrecognised"):
        double[(1,)](np.zeros(16, np.float32), **TUNED, waves_per_eu=2)


def test_a_backend_says_which_of_its_options_others_leave_out(fakes: Any) -> None:
    """``patience`` is so declared, ``speed`` is not."""

    @tritonx.jit
    def kernel(x):
        pass

    class Plain(type(fakes["fake"])):
        options_type = Options

    fakes["fake"] = Plain()
    x = np.zeros(3)
    assert not hasattr(kernel[(1,)](x, patience=3).metadata, "patience")
    with pytest.raises(KeyError, match="speed"):
        kernel[(1,)](x, patience=3, speed=2)
    del fakes["chip"]
    with pytest.raises(KeyError, match="patience"):
        kernel[(1,)](x, patience=4)


def test_another_backends_options_are_refused() -> None:
    source = ASTSource(double, {"x": "*fp32", "BLOCK": "constexpr"}, {(1,): 16}, {})
    with pytest.raises(TypeError, match=r"cuda:90 takes NvidiaOptions, not CpuOptions"):
        compile(source, target="cuda:90", options=CpuOptions())


@pytest.mark.parametrize("kind", [CpuOptions, InterpreterOptions])
def test_a_host_has_all_that_the_language_has(kind: type[Options]) -> None:
    formats = {name for name in vars(tl) if name.startswith("float8")}
    assert {dtype(name) for name in kind().supported_fp8_dtypes} == {getattr(tl, name) for name in formats}
    assert set(kind().allowed_dot_input_precisions) == set(PRECISIONS)


def test_a_backend_that_declares_nothing_has_no_8_bit_floats() -> None:
    assert (Options().supported_fp8_dtypes, Options().allowed_dot_input_precisions) == ((), ("ieee",))


@pytest.fixture
def own_knobs() -> Iterator[None]:
    with tritonx.knobs.runtime.scope():
        yield


@pytest.mark.parametrize("by_knob", [False, True])
@pytest.mark.usefixtures("own_knobs")
def test_an_architecture_in_place_of_the_device_s(by_knob: bool) -> None:
    if by_knob:
        tritonx.knobs.runtime.override_arch = "sm80"
    given = {} if by_knob else {"arch": "sm80"}
    source = ASTSource(double, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 8})
    kernel = compile(source, "cuda:90", given)
    assert str(kernel.metadata.target) == "cuda:80" and ".target sm_80" in kernel.asm["ptx"]
    assert compile(source, "cuda:90", {**given, "arch": "sm_90"}).metadata.target.arch == 90  # an option goes first
    with active(emulated("90")):
        launched = double.warmup(np.float32, 8, grid=(1,), **given)
        assert str(launched.metadata.target) == "cuda:80" and "cuda:80" in launched.asm["ttgir"]
        with pytest.raises(ValueError, match=r"num_ctas > 1 requires NVIDIA SM90\+ \(Hopper\): this is cuda:80"):
            double.warmup(np.float32, 8, grid=(1,), num_ctas=2, **given)
        with pytest.raises(ImpossibleOption, match="unknown NVIDIA target 'vega'"):
            double.warmup(np.float32, 8, grid=(1,), arch="vega")


def test_too_many_threads_are_out_of_resources() -> None:
    with active(emulated("90")), pytest.raises(tritonx.OutOfResources, match="threads, Required: 4096") as caught:
        double.warmup(np.float32, 8, grid=(1,), num_warps=128)
    assert isinstance(caught.value, ValueError) and "in double" in caught.value.__notes__[0]


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942", "cpu"])
def test_whether_products_and_sums_are_contracted_by_default(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    backend, parsed = registry.parse_target(target)
    assert registry.parse_options(backend, parsed, {}).enable_fp_fusion
    monkeypatch.setenv("TRITONX_DEFAULT_FP_FUSION", "0")
    assert not registry.parse_options(backend, parsed, {}).enable_fp_fusion
    assert not registry.parse_options(backend, parsed, {"enable_fp_fusion": None}).enable_fp_fusion
    assert registry.parse_options(backend, parsed, {"enable_fp_fusion": True}).enable_fp_fusion


def test_options_of_later_releases_are_taken_by_every_backend() -> None:
    @tritonx.jit
    def kernel(x):
        tl.store(x, 1.0)

    x = np.zeros(1, np.float32)
    kernel[(1,)](x, sched4reg=True, clc=True, min_shared_mem=0, fpsan_homomorphic_casts=True)
    assert x[0] == 1


def test_a_block_takes_the_shared_memory_that_it_is_told_to() -> None:
    @tritonx.jit
    def kernel(x):
        tl.store(x, 1.0)

    source = tritonx.compiler.ASTSource(kernel, {"x": "*fp32"})
    made = [tritonx.compile(source, "cuda:90", options=o) for o in ({}, {"min_shared_mem": 4096})]
    assert [kernel.metadata.shared for kernel in made] == [0, 4096]
