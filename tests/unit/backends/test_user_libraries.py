"""Kernels that are linked with a user's device code (``extern_libs``)."""

from __future__ import annotations

import re
import runpy
import textwrap
from pathlib import Path
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.api import Options
from tritonx.backends.nvidia.libdevice import device_library
from tritonx.conversion.llvm_binding import binding
from tritonx.ir.failure import PassFailure
from tritonx.runtime.errors import MissingLibrary, PTXASError

TEXT = """
define float @scaled(float %x) {
  %y = call float @inner(float %x)
  ret float %y
}
define float @inner(float %x) noinline {
  %y = fmul float %x, FACTOR
  ret float %y
}
define float @never(float %x) {
  ret float %x
}
"""
VARIABLES = """
@twice = constant [2 x float] [float 3.0, float 5.0]
@calls_made = addrspace(1) global i32 5
define float @scaled(float %x) {
  %n = fptosi float %x to i32
  %i = and i32 %n, 1
  %p = getelementptr [2 x float], ptr @twice, i32 0, i32 %i
  %f = load float, ptr %p
  %y = fmul float %x, %f
  ret float %y
}
define void @noted() {
  %n = load i32, ptr addrspace(1) @calls_made
  %m = add i32 %n, 1
  store i32 %m, ptr addrspace(1) @calls_made
  ret void
}
"""
SINE = """
declare float @__nv_sinf(float)
define float @scaled(float %x) {
  %y = call float @__nv_sinf(float %x)
  ret float %y
}
"""
TARGETS = {"cuda:90": "ptx", "hip:gfx942": "amdgcn"}


@tl.core.extern
def scaled(x: Any, _semantic: Any = None) -> Any:
    table = {(tl.float32,): ("scaled", tl.float32)}
    return tl.core.extern_elementwise("mine", "", [x], table, is_pure=True, _semantic=_semantic)


@tritonx.jit
def kernel(x: Any, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, scaled(tl.load(x + i)))


@tritonx.jit
def without(x: Any, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) + 1)


def compiled(target: str, path: Path, function: Any = kernel) -> Any:
    source = tritonx.compiler.ASTSource(function, {"x": "*fp32", "N": "constexpr"}, {"N": 128})
    return tritonx.compile(source, target, {"extern_libs": {"mine": str(path)}})


def written(folder: Path, factor: str, *, bitcode: bool) -> Path:
    text = TEXT.replace("FACTOR", factor)
    path = folder / ("mine.bc" if bitcode else "mine.ll")
    module: Any = binding().parse_assembly(text)
    path.write_bytes(module.as_bitcode() if bitcode else text.encode())
    return path


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("bitcode", [False, True])
def test_functions_are_linked(target: str, bitcode: bool, tmp_path: Path) -> None:
    code = compiled(target, written(tmp_path, "3.0", bitcode=bitcode)).asm[TARGETS[target]]
    assert re.search("0f40400000|0x40400000", code), "the factor of the library's function"
    assert "never" not in code, "what nothing calls is not part of the kernel"
    assert ".extern .func" not in code


@pytest.mark.parametrize("target", TARGETS)
def test_variables_that_nothing_uses_are_left_out(target: str, tmp_path: Path) -> None:
    """Code for AMD has no data that is written."""
    path = tmp_path / "mine.ll"
    path.write_text(VARIABLES)
    code = compiled(target, path).asm[TARGETS[target]]
    assert "calls_made" not in code and "noted" not in code


@pytest.mark.parametrize("target", TARGETS)
def test_a_changed_file_is_linked_anew(target: str, tmp_path: Path) -> None:
    first = compiled(target, written(tmp_path, "3.0", bitcode=False))
    second = compiled(target, written(tmp_path, "5.0", bitcode=False))
    again = compiled(target, written(tmp_path, "3.0", bitcode=False))
    assert first.hash == again.hash != second.hash
    assert re.search("0f40A00000|0x40a00000", second.asm[TARGETS[target]])


@pytest.mark.skipif(not device_library.found(), reason="libdevice is not on this machine")
def test_a_library_may_call_libdevice(tmp_path: Path) -> None:
    path = tmp_path / "mine.ll"
    path.write_text(SINE)
    code = compiled("cuda:90", path).asm["ptx"]
    assert ".extern .func" not in code and "__nv_sinf" not in code


@pytest.mark.parametrize("target", TARGETS)
def test_paths_are_text_or_not(target: str, tmp_path: Path) -> None:
    path = written(tmp_path, "3.0", bitcode=False)
    source = tritonx.compiler.ASTSource(kernel, {"x": "*fp32", "N": "constexpr"}, {"N": 128})
    made = [
        tritonx.compile(source, target, {"extern_libs": given})
        for given in ({"mine": path}, {"mine": str(path)}, (("mine", path),), [["mine", str(path)]])
    ]
    assert len({each.hash for each in made}) == 1
    assert made[0].metadata.extern_libs == (("mine", str(path)),)


@pytest.mark.parametrize("given", ["mine=a.bc", {"mine": None}, 3])
def test_what_names_no_files_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="extern_libs is a mapping from names to paths, or their pairs; got "):
        Options(extern_libs=given)


@pytest.mark.parametrize("target", TARGETS)
def test_what_cannot_be_linked_is_named(target: str, tmp_path: Path) -> None:
    with pytest.raises(MissingLibrary, match=r"the library 'mine' of extern_libs is not at .*absent\.bc"):
        compiled(target, tmp_path / "absent.bc")
    path = tmp_path / "text.ll"
    path.write_text("not LLVM's")
    with pytest.raises(PassFailure, match=r"text\.ll is neither LLVM bitcode nor text"):
        compiled(target, path)
    path.write_bytes(b"BC\xc0\xde" + bytes(100))
    with pytest.raises(PassFailure, match=r"text\.ll is neither LLVM bitcode nor text"):
        compiled(target, path)


@pytest.mark.parametrize("target", TARGETS)
def test_files_that_a_kernel_does_not_call_are_not_read(target: str, tmp_path: Path) -> None:
    assert compiled(target, tmp_path / "absent.bc", without).asm[TARGETS[target]]


def test_a_function_that_no_library_defines_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.ll"
    path.write_text("declare float @inner(float)\n" + TEXT.partition("define float @inner")[0])
    with pytest.raises(PassFailure, match="no library of extern_libs defines the function 'inner'"):
        compiled("hip:gfx942", path)
    with pytest.raises(PTXASError, match="inner"):
        compiled("cuda:90", path)


@tritonx.jit
def prints(x, N: tl.constexpr):
    tl.device_print("x", tl.load(x + tl.arange(0, N)))


def test_printing_calls_no_library(tmp_path: Path) -> None:
    assert compiled("cuda:90", tmp_path / "absent.bc", prints).asm["ptx"]


CALLS = """
declare float @NAME(float)
define float @scaled(float %x) {
  %y = call float @NAME(float %x)
  ret float %y
}
"""
STANDARD = {"cuda:90": ("libdevice", "__nv_cospif"), "hip:gfx942": ("ocml", "__ocml_cospi_f32")}


@pytest.mark.parametrize("target", TARGETS)
def test_a_file_stands_for_the_library_of_that_name(target: str, tmp_path: Path) -> None:
    """Of the same path it is read again when it changes."""
    name, symbol = STANDARD[target]
    mine, path = tmp_path / "mine.ll", tmp_path / "standard.ll"
    mine.write_text(CALLS.replace("NAME", symbol))

    def code() -> str:
        source = tritonx.compiler.ASTSource(kernel, {"x": "*fp32", "N": "constexpr"}, {"N": 128})
        libraries = {"mine": str(mine), name: str(path)}
        return tritonx.compile(source, target, {"extern_libs": libraries}).asm[TARGETS[target]]

    with pytest.raises(MissingLibrary, match=rf"the library '{name}' of extern_libs is not at .*standard\.ll"):
        code()
    for factor, digits in (("3.0", "40400000"), ("5.0", "40A00000")):
        path.write_text(f"define float @{symbol}(float %x) {{\n  %y = fmul float %x, {factor}\n  ret float %y\n}}\n")
        assert re.search(f"0[fx]{digits}", code(), re.IGNORECASE)
    path.write_text(f"define float @{symbol}(float %x, float %y) {{\n  ret float %x\n}}\n")
    said = rf"'{symbol}' is called as float \(float\), and the library defines float \(float, float\)"
    with pytest.raises(PassFailure, match=said):
        code()


@pytest.mark.parametrize("target", TARGETS)
def test_another_signature_is_refused(target: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.ll"
    path.write_text("define double @scaled(double %x) {\n  ret double %x\n}\n")
    said = r"the function 'scaled' is called as float \(float\), and the library defines double \(double\)"
    with pytest.raises(PassFailure, match=said):
        compiled(target, path)


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """docs/device_code.md: its library, its kernel and what it prints."""
    page = (Path(__file__).parents[3] / "docs" / "device_code.md").read_text()
    library, program, printed = (
        textwrap.dedent(block) for block in re.findall(r"(?:^    .*\n|^\n(?=    ))+", page, re.M)[:3]
    )
    (tmp_path / "mine.ll").write_text(library)
    (tmp_path / "mine.py").write_text(program)
    monkeypatch.chdir(tmp_path)
    runpy.run_path("mine.py")
    assert capsys.readouterr().out.split() == printed.split()
