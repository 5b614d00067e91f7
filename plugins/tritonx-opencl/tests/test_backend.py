"""The backend's own promises: where it finds OpenCL, which targets and options it takes, what it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tritonx.runtime.errors import NoDevice
from tritonx_opencl import BACKEND, icd, opencl
from tritonx_opencl.driver import OpenCLDriver


def test_targets_have_the_same_threads() -> None:
    threads = {
        str(target): BACKEND.parse_options(target, {"num_warps": 2}).num_warps * target.warp_size
        for target in BACKEND.known_targets()
    }
    assert threads == {"opencl:spirv": 32, "opencl:items": 32}


def test_options_that_no_work_group_can_have() -> None:
    target = BACKEND.parse_target("items")
    with pytest.raises(ValueError, match="num_warps is at most 64, got 128"):
        BACKEND.parse_options(target, {"num_warps": 128})
    with pytest.raises(ValueError, match="num_ctas must be 1, got 2"):
        BACKEND.parse_options(target, {"num_ctas": 2})
    with pytest.raises(ValueError, match=r"unknown OpenCL target 'ptx'; known are opencl:spirv, opencl:items"):
        BACKEND.parse_target("ptx")


def test_a_loader_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITONX_OPENCL_LOADER", str(tmp_path / "libnone.so"))
    with pytest.raises(NoDevice, match=r"no OpenCL loader was found \(tried .*libnone.so\)"):
        icd.load()


@pytest.mark.usefixtures("device")
def test_a_user_sets_nothing_and_the_environment_stays(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, numpy as np, tritonx, tritonx.language as tl\n"
        "from tritonx.runtime import driver\n"
        "@tritonx.jit\n"
        "def twice(x, scale, N: tl.constexpr):\n"
        "    i = tl.arange(0, N)\n"
        "    tl.store(x + i, tl.load(x + i) * scale)\n"
        "a = np.arange(64, dtype=np.float32)\n"
        "driver.set_active('opencl')\n"
        "twice[(1,)](a, 2.5, N=64)\n"
        "print((a == np.arange(64) * 2.5).all(), 'OCL_ICD_VENDORS' in os.environ)\n"
    )
    environment = {k: v for k, v in os.environ.items() if k not in (icd.VENDORS, "LD_LIBRARY_PATH")}
    environment["TRITONX_CACHE_DIR"] = str(tmp_path / "cache")
    done = subprocess.run([sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout == "True False\n", done.stderr


@pytest.mark.usefixtures("device")
def test_a_device_without_sub_groups_has_warps_of_one_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITONX_OPENCL_TARGET", raising=False)
    assert str(BACKEND.driver().current_target()) == "opencl:spirv"
    monkeypatch.setattr(opencl, "SUB_GROUPS", "cl_khr_none")
    assert str(OpenCLDriver(BACKEND).current_target()) == "opencl:items"
    monkeypatch.setenv("TRITONX_OPENCL_TARGET", "spirv")
    with pytest.raises(NoDevice, match="no cl_khr_none, which opencl:spirv needs"):
        BACKEND.driver().current_target()


@pytest.mark.usefixtures("device")
def test_a_device_without_spirv_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opencl, "IL", "cl_khr_none")
    with pytest.raises(NoDevice, match="has no cl_khr_none"):
        OpenCLDriver(BACKEND)


def test_arrays_go_to_the_cpu_backend_unless_this_one_is_named() -> None:
    from tritonx_testing.conformance import names

    assert "cpu" in names() and "opencl" not in names()
