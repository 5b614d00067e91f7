"""``import triton`` means tritonx: here, in child processes, with and without an installed Triton."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tritonx
import tritonx.compat
from tritonx.backends.registry import available
from tritonx.compat import environment, search_path
from tritonx.runtime import driver, knobs

ROOT = str(Path(tritonx.compat.__file__).parents[2])


def run(*arguments: str, cwd: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """``python`` with these; ``path`` goes before everything that the environment has."""
    folders = [str(path)] if path is not None else []
    folders += [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=120
    )


PROGRAM = """
import sys
import triton
import triton.language as tl
import tritonx
import tritonx.compat
from importlib.metadata import version
from importlib.util import find_spec
from triton.language.extra import libdevice
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction
import triton.knobs, triton.tools.tensor_descriptor

@triton.jit
def kernel(x, n: tl.constexpr):
    tl.store(x, n)

assert isinstance(kernel, tritonx.runtime.jit.JITFunction)
assert triton is tritonx and tl is tritonx.language and triton.knobs is tritonx.knobs
assert triton.__spec__.name == "tritonx" and tl.__spec__.name == "tritonx.language"
assert triton.language.core.tensor is tritonx.language.core.tensor
assert version("triton") == triton.__version__ and triton.__version__.startswith(triton.knobs.language.level + ".")
assert not [n for n, m in sys.modules.items() if "LEAK" in str(getattr(m, "__file__", ""))]
try:
    import triton.only_theirs
except ModuleNotFoundError as problem:
    assert problem.name == "triton.only_theirs", problem
else:
    raise AssertionError("found another triton's module")
assert find_spec("triton.only_theirs") is None and find_spec("triton.runtime.jit") is not None
print("argv", sys.argv[1:], __name__)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program, and beside it in ``LEAK`` a triton that must not be seen."""
    theirs = tmp_path / "LEAK" / "triton"
    theirs.mkdir(parents=True)
    (theirs / "__init__.py").write_text("raise SystemExit('the other triton')")
    (theirs / "only_theirs.py").write_text("")
    (tmp_path / "LEAK" / "triton-9.9.dist-info").mkdir()
    (tmp_path / "LEAK" / "triton-9.9.dist-info" / "METADATA").write_text("Name: triton\nVersion: 9.9\n")
    found = tmp_path / "program.py"
    found.write_text(PROGRAM)
    return found


def test_the_command_runs_files_modules_and_code(program: Path) -> None:
    leak = program.parent / "LEAK"
    code = f"import runpy; runpy.run_path({str(program)!r}, run_name='__main__')"
    spellings = [["program.py"], ["-m", "program"], ["-c", code]]
    for spelling in spellings:
        done = run("-m", "tritonx.compat", *spelling, "a", "--b", cwd=program.parent, path=leak)
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == "argv ['a', '--b'] __main__"
    options = ["-O", "-X", "utf8", "-W", "error"]
    code = "import sys, triton; print(sys.flags.optimize, sys.flags.utf8_mode, sys.warnoptions)"
    for own in (["-m", "tritonx.compat"], ["-mtritonx.compat"]):
        assert run(*options, *own, "-c", code, cwd=program.parent).stdout.strip() == "1 1 ['error']"
    code = f"import sys; sys.path.insert(0, {ROOT!r}); from tritonx.compat.__main__ import main; main()"
    assert "python -E and -I ignore" in run("-E", "-c", code, "program.py", cwd=program.parent).stderr
    assert run("-m", "tritonx.compat", cwd=program.parent).stderr.startswith("usage: python -m tritonx.compat")
    assert run("-m", "tritonx.compat", "-c", "raise SystemExit(7)", cwd=program.parent).returncode == 7


CHILDREN = """
import multiprocessing, subprocess, sys
def child(queue):
    import triton
    queue.put(triton.__name__)
if __name__ == "__main__":
    {first}
    for method in ("spawn", "fork"):
        context = multiprocessing.get_context(method)
        queue = context.SimpleQueue()
        process = context.Process(target=child, args=(queue,))
        process.start()
        process.join()
        print(queue.get() if process.exitcode == 0 else process.exitcode, flush=True)
    subprocess.run([sys.executable, "program.py"], check=True)
"""


@pytest.mark.parametrize("installed", [False, True], ids=["command", "install()"])
def test_child_processes_mean_the_same(program: Path, installed: bool) -> None:
    first = "import tritonx.compat; tritonx.compat.install(); tritonx.compat.install()" if installed else "pass"
    (program.parent / "parent.py").write_text(CHILDREN.format(first=first))
    command = ["parent.py"] if installed else ["-m", "tritonx.compat", "parent.py"]
    done = run(*command, cwd=program.parent, path=program.parent / "LEAK")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["tritonx", "tritonx", "argv [] __main__"]


def test_a_process_that_finds_tritonx_by_its_own_path(tmp_path: Path) -> None:
    """The parent put tritonx's folder on ``sys.path``; the child has ``PYTHONPATH`` alone."""
    command = [sys.executable, "-S", "-c", "import triton; print(triton.__name__)"]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": search_path()}, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.strip() == "tritonx", done.stderr


def test_too_late(tmp_path: Path) -> None:
    (tmp_path / "triton.py").write_text("")
    code = "import triton, tritonx.compat; tritonx.compat.install()"
    done = run("-c", code, cwd=tmp_path)
    assert done.returncode and "triton has been imported already, from " in done.stderr
    assert str(tmp_path / "triton.py") in done.stderr.splitlines()[-1]


def test_the_plug_in_comes_before_the_conftests(program: Path) -> None:
    folder = program.parent / "suite"
    folder.mkdir()
    (folder / "conftest.py").write_text("import triton\nassert triton.__name__ == 'tritonx'\n")
    (folder / "test_it.py").write_text(f"import runpy\ndef test_it():\n    runpy.run_path({str(program)!r})\n")
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-s", "--rootdir", str(folder), str(folder)]
    done = run(*command, "-p", "tritonx.compat.pytest_plugin", cwd=folder, path=program.parent / "LEAK")
    assert done.returncode == 0, done.stdout + done.stderr
    assert run(*command, cwd=folder, path=program.parent / "LEAK").returncode != 0


def test_the_path_is_added_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["/a", search_path(), "/b", search_path()]))
    assert environment()["PYTHONPATH"].split(os.pathsep) == [search_path(), "/a", "/b"]


def test_the_cache_has_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch looks for cubins where ``TRITON_CACHE_DIR`` says."""
    monkeypatch.setenv("TRITON_CACHE_DIR", "/theirs")
    monkeypatch.delenv("TRITONX_CACHE_DIR", raising=False)
    assert "TRITON_CACHE_DIR" not in environment()
    monkeypatch.setenv("TRITONX_CACHE_DIR", "/ours")
    assert environment()["TRITON_CACHE_DIR"] == "/ours"


# Names that libraries ask of Triton ---------------------------------------------------------------------------------


def test_backends_have_tritons_names_and_classes_of_drivers() -> None:
    assert {"cpu", "nvidia", "amd"} <= set(tritonx.backends.backends)
    for name, found in tritonx.backends.backends.items():
        assert isinstance(found.driver, type), name
        assert found.driver is tritonx.backends.backends[name].driver
        assert found.driver.is_active() in (True, False)
    cpu = tritonx.backends.backends["cpu"].driver
    try:
        driver.set_active(cpu())
        assert isinstance(driver.active, cpu)
        driver.set_active("cpu")
        assert isinstance(driver.active, cpu)
        assert not isinstance(driver.active, tritonx.backends.backends["nvidia"].driver)
        driver.reset_active()
        assert any(isinstance(driver.active, b.driver) for b in tritonx.backends.backends.values())
    finally:
        driver.reset_active()


@pytest.mark.parametrize("text", ["cpu", "cuda:90", "hip:gfx942"])
def test_a_backend_of_a_target(text: str) -> None:
    from tritonx.backends.registry import parse_target
    from tritonx.compiler.compiler import make_backend

    _, target = parse_target(text)
    backend = make_backend(target)
    assert (
        backend.parse_options({}).__dict__["num_warps"]
        == available()[target.backend].parse_options(target, {}).num_warps
    )
    assert backend.parse_options({"num_warps": 2}).num_warps == 2
    assert backend.hash() == make_backend(text).hash()
    others = {make_backend(t).hash() for t in ("cpu:x86-64-v3", "cuda:80", "hip:gfx90a")}
    assert backend.hash() and backend.hash() not in others


def test_the_device_library_is_part_of_the_hash(tmp_path: Path) -> None:
    """Another libdevice makes other code."""
    from tritonx.compiler.compiler import make_backend

    other = tmp_path / "libdevice.10.bc"
    other.write_bytes(b"another")
    with knobs.nvidia.scope():
        before = make_backend("cuda:90").hash()
        knobs.nvidia.libdevice_path = str(other)
        assert make_backend("cuda:90").hash() != before
    assert make_backend("cuda:90").hash() == before


LIBRARIES = """
import tritonx.backends.nvidia.libdevice.device_library as nvidia, tritonx.backends.amd.device_library as amd
print(nvidia.path() if nvidia.found() else None, amd.path("ocml.bc") if amd.found("ocml.bc") else None)
"""


def test_the_device_libraries_of_an_installed_triton_are_found(tmp_path: Path) -> None:
    """Its wheel is where they are looked for, also where ``triton`` means tritonx."""
    plain, compat = run("-c", LIBRARIES, cwd=tmp_path), run("-m", "tritonx.compat", "-c", LIBRARIES, cwd=tmp_path)
    assert plain.returncode == compat.returncode == 0, compat.stderr
    assert plain.stdout == compat.stdout


HIDING = """
import triton.profiler as proton
import triton.profiler.scope, triton.profiler.state
from triton.profiler.profile import start
import triton._C.libproton.proton as libproton
from triton._C.libproton import proton as same

assert isinstance(proton.scope, type) and isinstance(proton.state, type) and proton.start is start
assert callable(proton.profile) and libproton is same and libproton.record_scope() + 1 == same.record_scope()
"""


def test_an_import_of_a_module_leaves_what_hides_it(tmp_path: Path) -> None:
    """``tritonx.profiler.scope`` is a class, and a module."""
    (tmp_path / "hiding.py").write_text(HIDING)
    done = run("-m", "tritonx.compat", "hiding.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_modules_of_tritons_can_be_run(tmp_path: Path) -> None:
    done = run("-m", "triton.profiler.viewer", "-h", cwd=tmp_path, path=Path(search_path()))
    assert done.returncode == 0 and done.stdout.startswith("usage: proton-viewer"), done.stderr
