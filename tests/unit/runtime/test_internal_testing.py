"""What tests of libraries take from ``triton._internal_testing``."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
import pytest

import tritonx
from tritonx import _internal_testing as testing


def test_fresh_settings_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", "/somewhere")
    monkeypatch.delenv("TRITONX_CACHE_DIR", raising=False)
    tritonx.knobs.compilation.listener = print
    fresh, restore = testing._fresh_knobs_impl()
    knobs: Any = fresh()
    assert knobs is tritonx.knobs
    assert knobs.compilation.listener is None and "TRITON_CACHE_DIR" not in os.environ
    knobs.runtime.debug = True
    restore()
    assert tritonx.knobs.compilation.listener is print and os.environ["TRITON_CACHE_DIR"] == "/somewhere"
    assert not tritonx.knobs.runtime.debug
    tritonx.knobs.compilation.reset()


def test_fresh_settings_know_nothing_of_earlier_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of backends too, and whether assignments are propagated."""
    monkeypatch.setenv("PTXAS_OPTIONS", "--verbose")
    tritonx.knobs.nvidia.dump_nvptx = True
    tritonx.knobs.propagate_env = False
    tritonx.knobs.runtime.debug = True
    fresh, restore = testing._fresh_knobs_impl()
    try:
        knobs: Any = fresh()
        assert knobs.nvidia.ptxas_options is None and not knobs.nvidia.dump_nvptx and not knobs.runtime.debug
        knobs.nvidia.ptxas_options = "--device-debug"
        assert os.environ["PTXAS_OPTIONS"] == "--device-debug"
        restore()
        assert tritonx.knobs.nvidia.dump_nvptx and tritonx.knobs.runtime.debug and not tritonx.knobs.propagate_env
        assert os.environ["PTXAS_OPTIONS"] == "--verbose"
    finally:
        tritonx.knobs.propagate_env, tritonx.knobs.runtime.debug = True, False
        tritonx.knobs.nvidia.reset()
        os.environ.pop("NVPTX_ENABLE_DUMP", None)


def test_the_target_here() -> None:
    target = testing.get_current_target()
    assert target is not None
    assert testing.is_cuda() == (target.backend == "cuda") and not testing.is_interpreter()
    assert not testing.is_hopper() or testing.is_hopper_or_newer()


@pytest.mark.parametrize("name", [*testing.dtypes_with_bfloat16, "bool", "float8e5"])
def test_random_numbers_go_to_a_tensor_and_back(name: str) -> None:
    pytest.importorskip("torch")
    x = testing.numpy_random((7, 9), name, np.random.RandomState(3))
    np.testing.assert_array_equal(x, testing.numpy_random((7, 9), name, np.random.RandomState(3)))
    assert x.shape == (7, 9) and (name == "bool" or (x != 0).all() or "float" in name)
    tensor = testing.to_triton(x, "cpu", name)
    assert isinstance(tensor, tritonx.TensorWrapper) == (name in testing.uint_dtypes or name == "float8e5")
    if name != "float8e5":
        np.testing.assert_array_equal(testing.to_numpy(tensor), x)


def test_integers_stay_within_the_limits() -> None:
    x = testing.numpy_random(1000, "int8", low=-300, high=3)
    assert x.min() == -128 and x.max() == 2 and not (x == 0).any()
    with pytest.raises(RuntimeError, match="float17"):
        testing.numpy_random(1, "float17")


def test_what_the_target_can_do() -> None:
    assert testing.supports_tma() == testing.is_hopper_or_newer() == testing.supports_ws()
    assert testing.requires_tma.args == (not testing.supports_tma(),)
    assert sum((testing.is_cuda(), testing.is_hip(), testing.is_xpu())) <= 1
    assert testing.get_arch() == str(testing.get_current_target().arch)  # type: ignore[union-attr]


def _writes_and_returns(text: str) -> None:
    os.write(2, f"{text} {os.environ['TRITONX_SAID']}".encode())


def _fails() -> None:
    raise ValueError("on purpose")


def test_a_function_runs_in_a_process_of_its_own() -> None:
    result = testing.run_in_process(_writes_and_returns, ("what it",), env={"TRITONX_SAID": "said"})
    assert result.exc is None and result.driver_stderr_output == "what it said"
    assert "TRITONX_SAID" not in os.environ


def test_what_a_process_raises_is_handed_over() -> None:
    with testing.use_process_pool(__name__):
        result = testing.run_in_process(_fails)
    assert isinstance(result.exc, ValueError) and str(result.exc) == "on purpose"


def test_a_process_that_ends_early_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="_exit exited with code 3 without a result"):
        testing.run_in_process(os._exit, (3,))
    monkeypatch.setenv("TRITON_TEST_PROCESS_TIMEOUT", "0.2")
    with pytest.raises(TimeoutError, match=r"sleep exceeded its 0\.2-second timeout"):
        testing.run_in_process(time.sleep, (60,))


def test_numbers_come_from_pytorch() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(3)
    drawn = testing.random_int(5, 900), testing.random_float()
    torch.manual_seed(3)
    assert drawn == (testing.random_int(5, 900), testing.random_float())
    assert 5 <= drawn[0] < 900 and 0 <= drawn[1] < 1
