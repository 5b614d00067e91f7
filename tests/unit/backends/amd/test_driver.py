"""The driver with hip-python's own code and ``hip_stub.c`` for HIP, each in a process of its own: the bindings keep the
library that they found first, and a process with a GPU would run everybody's kernels on it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

HERE = Path(__file__).parent
CASES = re.findall(r"^def (test_\w+)", (HERE / "driver_cases.py").read_text(), re.MULTILINE)

CONNECT = "from tritonx.backends.amd.driver import AmdDriver\ntry: print(AmdDriver().device_count(), 'devices')\n"
CONNECT += "except Exception as problem: print(f'{type(problem).__name__}: {problem}')"


pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler"),
    pytest.mark.skipif(find_spec("hip") is None, reason="no hip-python"),
]


def build(folder: Path, *flags: str) -> Path:
    """The stub as ``folder/lib/libamdhip64.so``."""
    made = folder / "lib" / "libamdhip64.so"
    made.parent.mkdir()
    subprocess.run(["cc", "-shared", "-fPIC", *flags, "-o", made, HERE / "hip_stub.c"], check=True)
    return made


def environment(stub: Path | None, **more: str) -> dict[str, str]:
    """Variables by which every version of the bindings finds ``stub`` rather than a ROCm."""
    folder = stub.parent if stub is not None else Path("/nowhere/lib")
    found = {"LD_LIBRARY_PATH": str(folder), "ROCM_PATH": str(folder.parent), "HIP_STUB": str(stub)}
    return {**os.environ, **found, **more}


def connect(before: str = "", after: str = "", **environ: str) -> str:
    """What a process prints that asks the driver for its devices."""
    code = before + CONNECT + after
    run = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True)
    return run.stdout + run.stderr


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("hip"))


@pytest.fixture(scope="module")
def outcomes(stub: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What ``driver_cases.py`` came to: of each case, what went wrong with it or one of its parameters."""
    folder = tmp_path_factory.mktemp("cases")
    command = [sys.executable, "-m", "pytest", "-q", "--junitxml", folder / "report.xml", HERE / "driver_cases.py"]
    run = subprocess.run(
        command, env=environment(stub, TRITONX_CACHE_DIR=str(folder / "cache")), capture_output=True, text=True
    )
    assert (folder / "report.xml").exists(), run.stdout + run.stderr
    found: dict[str, list[str]] = {}
    for case in ElementTree.parse(folder / "report.xml").iter("testcase"):
        wrong = found.setdefault(case.attrib["name"].partition("[")[0], [])
        wrong += [part.text or part.tag for part in case if part.tag in ("failure", "error", "skipped")]
    assert run.returncode in (0, 1) and found, run.stdout + run.stderr
    return found


@pytest.mark.parametrize("case", CASES)
def test_case(outcomes: dict[str, list[str]], case: str) -> None:
    assert not outcomes[case], "\n".join(outcomes[case])


def test_no_library() -> None:
    said = connect(**environment(None))
    assert re.match(r"NoDevice: no ROCm was found: install it, or let ROCM_PATH .*libamdhip64", said)


def test_no_gpu(stub: Path) -> None:
    said = connect(**environment(stub, HIP_STUB_DEVICES="0"))
    assert said.startswith("NoDevice: HIP sees no GPU (hipErrorNoDevice): is the amdgpu driver loaded")


def test_no_bindings(stub: Path) -> None:
    hidden = "import sys\nsys.modules.update(dict.fromkeys(('rocm', 'rocm.bindings', 'hip')))\n"
    assert connect(hidden, **environment(stub)) == "NoDevice: hip-python is not installed: pip install 'tritonx[amd]'\n"


def test_compiling_needs_no_bindings(tmp_path: Path) -> None:
    (tmp_path / "k.ttir").write_text("module { tt.func public @k(%x: !tt.ptr<f32>) { tt.return } }")
    code = "import sys\nfrom tritonx.tools.opt import run\n"
    code += "assert run([sys.argv[1], '--target', 'hip:gfx942', '-t', 'hsaco', '-o', sys.argv[2]]) == 0\n"
    code += "assert not {'hip', 'rocm', 'tritonx.backends.amd.driver'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code, tmp_path / "k.ttir", tmp_path / "k.hsaco"], check=True)
    assert (tmp_path / "k.hsaco").read_bytes().startswith(b"\x7fELF")


def test_a_library_that_is_too_old(tmp_path: Path) -> None:
    said = connect(**environment(build(tmp_path, "-DHIP_5")))
    assert said == "NoDevice: ROCm 6.0 or later is needed; the libamdhip64.so that was found is of HIP 5.7\n"


def test_a_function_that_the_library_lacks(tmp_path: Path) -> None:
    use = "from tritonx.backends.amd import driver\n"
    use += "try: driver.call('hipDeviceReset')\nexcept driver.HipError as problem: print(problem)\n"
    said = connect(use, **environment(build(tmp_path)))
    assert re.search(r"hipDeviceReset failed with .*dlsym.*: the ROCm that is installed has no such function", said)


def test_the_library_that_is_loaded_already_is_taken(stub: Path, tmp_path: Path) -> None:
    """PyTorch's wheel brings its own."""
    if find_spec("rocm") is None:
        pytest.skip("hip-python before 10.0 leaves the search to the dynamic loader")
    theirs = build(tmp_path)
    load = f"import ctypes, os\nctypes.CDLL({str(theirs)!r})\n"
    show = (
        "\nprint({line.split()[-1] for line in open('/proc/self/maps') if 'amdhip64' in line}, os.environ['ROCM_PATH'])"
    )
    said = connect(load, show, **environment(stub)).splitlines()
    assert said == ["2 devices", f"{ {str(theirs)} } {stub.parent.parent}"]
