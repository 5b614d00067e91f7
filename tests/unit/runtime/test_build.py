"""C modules of libraries: compiled once, kept, and refused with the compiler's words."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tritonx.runtime import knobs
from tritonx.runtime.build import (
    NoCompiler,
    compile_module_from_file,
    compile_module_from_src,
    compile_so_from_file,
    compile_so_from_src,
)
from tritonx.runtime.cache import CacheWarning

SOURCE = """
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *args) { return PyLong_FromLong(ANSWER); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "asked", NULL, -1, methods};
PyMODINIT_FUNC PyInit_asked(void) { return PyModule_Create(&module); }
"""

needs_compiler = pytest.mark.skipif(
    not (shutil.which("gcc") or shutil.which("clang"))
    or not Path(sysconfig.get_paths()["include"], "Python.h").exists(),
    reason="no C compiler, or no headers of Python",
)

needs_cxx = pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="no C++ compiler")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path))


@needs_compiler
def test_a_module_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compile_module_from_src(SOURCE.replace("ANSWER", "42"), "asked").answer() == 42
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.delenv("CC", raising=False)
    assert compile_module_from_src(SOURCE.replace("ANSWER", "42"), "asked").answer() == 42
    with pytest.raises(NoCompiler, match="Failed to find C compiler"):
        compile_module_from_src(SOURCE.replace("ANSWER", "43"), "asked")


@needs_compiler
@pytest.mark.parametrize("part", [0, 0.5, 0.99])
def test_a_module_that_was_cut_off_is_compiled_again(part: float, tmp_path: Path) -> None:
    """In processes of their own: to load half a library ends the process."""
    program = tmp_path / "program.py"
    program.write_text(
        "from tritonx.runtime.build import compile_module_from_src\n"
        f"print(compile_module_from_src({SOURCE.replace('ANSWER', '42')!r}, 'asked').answer())\n"
    )

    def run() -> tuple[int, str]:
        done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=100)
        return done.returncode, done.stdout.strip()

    assert run() == (0, "42")
    [library] = tmp_path.glob("*/asked*.so")
    content = library.read_bytes()
    library.write_bytes(content[: int(len(content) * part)])
    assert run() == (0, "42")
    assert library.read_bytes()[:4] == b"\x7fELF" and library.stat().st_size > len(content) * 0.9


@needs_compiler
def test_a_cache_that_cannot_be_written_keeps_no_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRITONX_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(CacheWarning):
        assert compile_module_from_src(SOURCE.replace("ANSWER", "44"), "asked").answer() == 44


@needs_compiler
def test_the_flags_are_part_of_the_module() -> None:
    for number in (1, 2):
        assert compile_module_from_src(SOURCE, "asked", ccflags=[f"-DANSWER={number}"]).answer() == number


@needs_compiler
def test_the_compilers_words_are_said() -> None:
    with pytest.raises(NoCompiler, match="ANSWER"):
        compile_module_from_src(SOURCE, "asked")


def test_another_compiler(tmp_path: Path) -> None:
    """What ``knobs.build.impl`` makes is loaded; a file that is no module is an error."""
    asked: list[str] = []

    def build(name: str, src: str, srcdir: str, *folders: list[str]) -> str:
        asked.append(Path(src).read_text())
        made = tmp_path / f"{name}.so"
        made.write_bytes(b"none")
        return str(made)

    with knobs.build.scope():
        knobs.build.impl = build
        with pytest.raises(ImportError):
            compile_module_from_src("text", "asked")
    assert asked == ["text"]


@needs_compiler
@pytest.mark.parametrize("suffix", [".c", pytest.param(".cpp", marks=needs_cxx), pytest.param(".cc", marks=needs_cxx)])
def test_modules_of_files(suffix: str, tmp_path: Path) -> None:
    source = tmp_path / f"asked{suffix}"
    own = (
        "" if suffix == ".c" else "template <class T> static T same(T x) { return x; }\n#define LONG(x) same<long>(x)\n"
    )
    source.write_text(own + SOURCE.replace("ANSWER", "41" if suffix == ".c" else "LONG(41)"))
    assert compile_module_from_file(str(source), "asked").answer() == 41
    library = compile_so_from_file(str(source), "asked")
    assert Path(library).is_file() and library == compile_so_from_file(str(source), "asked")


@needs_compiler
def test_the_library_of_a_source() -> None:
    text = SOURCE.replace("ANSWER", "40")
    library = compile_so_from_src(text, "asked")
    assert Path(library).is_file() and library == compile_so_from_src(text, "asked")
    assert library != compile_so_from_src(text, "asked", ccflags=["-DX"])
    assert compile_module_from_src(text, "asked").answer() == 40


@needs_compiler
@needs_cxx
def test_the_language_of_a_source() -> None:
    text = "template <class T> static T same(T x) { return x; }\n" + SOURCE.replace("ANSWER", "same(39)")
    assert compile_module_from_src(text, "asked", language="c++").answer() == 39
    with pytest.raises(NoCompiler, match="template"):
        compile_module_from_src(text, "asked")
    with pytest.raises(ValueError, match="'rust' is no language of a source: c or c"):
        compile_module_from_src(text, "asked", language="rust")
    with pytest.raises(ValueError, match="Unrecognized file extension"):
        compile_so_from_file(__file__, "asked")


@needs_compiler
def test_a_library_that_the_cache_does_not_keep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays as long as the process does."""
    monkeypatch.setattr("tritonx.runtime.build._Source.kept", lambda self: None)
    assert Path(compile_so_from_src(SOURCE.replace("ANSWER", "38"), "asked")).is_file()
