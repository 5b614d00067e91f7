"""The folders that a C compiler needs for a program that calls the driver."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tritonx.backends.amd import driver as amd_driver
from tritonx.backends.amd.launch import c_folders as amd
from tritonx.backends.nvidia import driver
from tritonx.backends.nvidia.knobs import knobs
from tritonx.backends.nvidia.launch import c_folders
from tritonx.runtime.devices import installed


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing but what a test puts into this folder."""
    monkeypatch.setattr(installed, "triton_folders", lambda *parts: [tmp_path.joinpath("triton", *parts)])
    monkeypatch.setattr(installed, "folders", lambda package: [tmp_path / package])
    monkeypatch.setattr(c_folders, "_toolkits", lambda: [tmp_path / "cuda"])
    monkeypatch.setattr(c_folders.shutil, "which", lambda *a, **k: None)
    for name in ("LD_LIBRARY_PATH", "TRITON_LIBCUDA_PATH", "ROCM_PATH", "ROCM_HOME", "HIP_PATH"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def put(file: Path) -> str:
    """Its folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("")
    return str(file.parent)


def test_headers(bare: Path) -> None:
    assert c_folders.include_dirs() == []
    toolkit = put(bare / "cuda" / "include" / "cuda.h")
    put(bare / "nvidia" / "cublas" / "include" / "cublas.h")
    assert driver.include_dirs == [toolkit]
    wheel = put(bare / "triton" / "backends" / "nvidia" / "include" / "cuda.h")
    package = put(bare / "nvidia" / "cu13" / "include" / "cuda.h")
    assert driver.include_dirs == [wheel, package, toolkit]


def test_headers_of_hip(bare: Path) -> None:
    assert str(bare) not in "".join(amd.include_dirs())
    folder = put(bare / "_rocm_sdk_devel" / "include" / "hip" / "hip_runtime.h").removesuffix("/hip")
    assert amd_driver.include_dirs[0] == folder


def test_no_driver(bare: Path) -> None:
    for ask in (driver.libcuda_dirs, driver.library_dirs):
        with pytest.raises(AssertionError, match="no NVIDIA driver is installed"):
            ask()


def test_the_loaders_folders(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = put(bare / "one" / "libcuda.so.1"), put(bare / "two" / "libcuda.so")
    listed = (
        f"2 libs found in cache\n\tlibcuda.so.1 (libc6,x86-64) => {second}/libcuda.so.1\n"
        f"\tlibcudart.so.13 (libc6,x86-64) => {bare}/libcudart.so.13\n\tlibcuda.so (libc6) => {second}/libcuda.so\n"
    )
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{bare}/nothing::{first}")
    monkeypatch.setattr(c_folders.shutil, "which", lambda *a, **k: "ldconfig")
    monkeypatch.setattr(c_folders.subprocess, "run", lambda *a, **k: SimpleNamespace(stdout=listed))
    assert driver.libcuda_dirs() == driver.library_dirs() == [first, second]


def test_what_a_toolkit_has_to_link_with(bare: Path) -> None:
    stubs = put(bare / "cuda" / "lib64" / "stubs" / "libcuda.so")
    assert driver.library_dirs() == [stubs]
    with knobs.scope():
        knobs.libcuda_path = "/opt/driver"
        assert driver.libcuda_dirs() == ["/opt/driver"]
        assert driver.library_dirs() == ["/opt/driver", stubs]


def test_a_name_that_is_none() -> None:
    for module in (driver, amd_driver):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = module.nothing
