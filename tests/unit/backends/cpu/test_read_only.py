"""Arrays that may not be written to: an error where a kernel stores through them, and nothing where it only reads."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime.errors import ReadOnlyArgument
from tritonx.tools.tensor_descriptor import TensorDescriptor


@tritonx.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) + tl.load(y_ptr + i, mask=i < n), mask=i < n)


@tritonx.jit
def optional_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr, BACK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x)
    if BACK:
        tl.store(x_ptr + i, x + 1)


@tritonx.jit
def tuple_kernel(pair, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(pair[1] + i, tl.load(pair[0] + i))


@tritonx.jit
def descriptor_kernel(source, target, BLOCK: tl.constexpr):
    target.store([0], source.load([0]))


def fixed(count: int = 64) -> Any:
    array = np.zeros(count, np.float32)
    array.flags.writeable = False
    return array


def arrays(count: int = 64) -> tuple[Any, Any]:
    return np.ones(count, np.float32), np.zeros(count, np.float32)


def test_reading_is_allowed() -> None:
    x, out = arrays()
    x.flags.writeable = False
    add_kernel[(1,)](x, x, out, 64, BLOCK=64)
    assert (out == 2).all()


@pytest.mark.parametrize("writable_first", [False, True])
def test_storing_is_an_error_that_names_the_argument(writable_first: bool) -> None:
    kernel = tritonx.jit(add_kernel.fn)  # not launched yet
    x, out = arrays()
    if writable_first:
        kernel[(1,)](x, x, out, 64, BLOCK=64)
    target = fixed()
    for _ in range(2):
        with pytest.raises(ReadOnlyArgument, match="add_kernel stores through its argument out_ptr, which may not"):
            kernel[(1,)](x, x, target, 64, BLOCK=64)
    assert not target.any()
    out[:] = 0
    kernel[(1,)](x, x, out, 64, BLOCK=64)
    assert (out == 2).all()


def test_a_launch_that_waits_for_the_same_kernel_of_another_thread() -> None:
    """It was bound before anybody knew that the kernel stores there."""
    kernel = tritonx.jit(add_kernel.fn)  # not launched yet
    launcher = kernel.launcher
    x, out = arrays()
    target = fixed()
    key, specs, bound, options, _ = launcher._binder.bind(None, x, x, target, 64, BLOCK=64)
    kernel[(1,)](x, x, out, 64, BLOCK=64)
    with pytest.raises(ReadOnlyArgument, match="out_ptr"):
        launcher._compile(key, specs, bound, options)


def test_an_array_that_becomes_read_only() -> None:
    x, out = arrays()
    add_kernel[(1,)](x, x, out, 64, BLOCK=64)
    out.flags.writeable = False
    with pytest.raises(ReadOnlyArgument, match="out_ptr"):
        add_kernel[(1,)](x, x, out, 64, BLOCK=64)
    out.flags.writeable = True
    add_kernel[(1,)](x, x, out, 64, BLOCK=64)


def test_a_file_that_is_mapped_for_reading(tmp_path: Path) -> None:
    """A store there would end the process."""
    path = tmp_path / "data"
    path.write_bytes(bytes(4096))
    x, _ = arrays()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        target = np.frombuffer(mapped, np.float32)
        with pytest.raises(ReadOnlyArgument, match="out_ptr"):
            add_kernel[(1,)](x, x, target, 64, BLOCK=64)
        del target
    with pytest.raises(ReadOnlyArgument, match="out_ptr"):
        add_kernel[(1,)](x, x, np.memmap(path, np.float32, "r"), 64, BLOCK=64)
    assert path.read_bytes() == bytes(4096)


def test_it_depends_on_what_the_kernel_was_compiled_for() -> None:
    _, out = arrays()
    source = fixed()
    for _ in range(2):
        optional_kernel[(1,)](source, out, BLOCK=64, BACK=False)
        with pytest.raises(ReadOnlyArgument, match="x_ptr"):
            optional_kernel[(1,)](source, out, BLOCK=64, BACK=True)


def test_elements_of_a_tuple_and_descriptors() -> None:
    x, out = arrays()
    tuple_kernel[(1,)]((fixed(), out), BLOCK=64)
    with pytest.raises(ReadOnlyArgument, match=r"pair\[1\]"):
        tuple_kernel[(1,)]((x, fixed()), BLOCK=64)
    descriptors = [TensorDescriptor(a, [64], [1], [64]) for a in (x, out, fixed())]
    descriptor_kernel[(1,)](descriptors[0], descriptors[1], BLOCK=64)
    descriptor_kernel[(1,)](descriptors[2], descriptors[1], BLOCK=64)
    with pytest.raises(ReadOnlyArgument, match="target"):
        descriptor_kernel[(1,)](descriptors[0], descriptors[2], BLOCK=64)


def test_a_compiled_kernel_that_is_launched_directly() -> None:
    x, out = arrays()
    compiled = add_kernel[(1,)](x, x, out, 64, BLOCK=64)
    compiled[(1,)](x, x, out, 64)
    with pytest.raises(ReadOnlyArgument, match="add_kernel stores through its argument out_ptr"):
        compiled[(1,)](x, x, fixed(), 64)
    compiled[(1,)](fixed(), x, out, 64)
    assert (out == 1).all()


class Interface:
    """An array of another library, known by ``__array_interface__``."""

    def __init__(self, array: Any, read_only: bool) -> None:
        self._array, self._read_only = array, read_only

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {**self._array.__array_interface__, "data": (self._array.ctypes.data, self._read_only)}


class Versioned:
    """An array of another library, known by DLPack; ``versions`` says whether it speaks the versioned protocol."""

    def __init__(self, array: Any, versions: bool = True) -> None:
        self._array, self._versions = array, versions

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __dlpack__(self, **given: Any) -> Any:
        if not given:  # the older protocol cannot say that an array is read-only; this library exports it all the same
            flags, self._array.flags.writeable = self._array.flags.writeable, True
            try:
                return self._array.__dlpack__()
            finally:
                self._array.flags.writeable = flags
        if not self._versions:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        return self._array.__dlpack__(**given)


@pytest.mark.parametrize("wrap", [Interface, Versioned], ids=["interface", "dlpack"])
def test_other_libraries(wrap: Any) -> None:
    x, out = arrays()
    writable = Interface(out, False) if wrap is Interface else Versioned(out)
    add_kernel[(1,)](x, x, writable, 64, BLOCK=64)
    assert (out == 2).all()
    target = fixed()
    read_only = Interface(target, True) if wrap is Interface else Versioned(target)
    with pytest.raises(ReadOnlyArgument, match="out_ptr"):
        add_kernel[(1,)](x, x, read_only, 64, BLOCK=64)
    out[:] = 0
    add_kernel[(1,)](read_only, x, out, 64, BLOCK=64)
    assert (out == 1).all()


def test_an_exporter_without_versions_is_taken_at_its_word() -> None:
    x, out = arrays()
    add_kernel[(1,)](x, x, Versioned(out, versions=False), 64, BLOCK=64)
    assert (out == 2).all()


def test_a_second_process_knows_it_from_the_disk(tmp_path: Path) -> None:
    import os
    import subprocess
    import sys

    code = (
        "import sys, numpy as np\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_read_only import add_kernel, arrays, fixed\n"
        "x, out = arrays()\n"
        "try: add_kernel[(1,)](x, x, fixed(), 64, BLOCK=64)\n"
        "except Exception as error: print(type(error).__name__, error.argument, 'xdsl' in sys.modules)\n"
    )
    environment = {**os.environ, "TRITONX_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120)
        for _ in range(2)
    ]
    assert [p.stdout.split()[:2] for p in said] == [["ReadOnlyArgument", "out_ptr"]] * 2, said[0].stderr
    assert said[1].stdout.split()[2] == "False"
