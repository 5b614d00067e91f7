"""C modules of libraries: compiled once, kept, and refused with the compiler's words."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

import pytest

from tritonx.runtime import knobs
from tritonx.runtime.build import NoCompiler, compile_module_from_src

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
