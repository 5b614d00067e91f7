"""What is compiled in a helper, that the bits are the same, and how a death of LLVM comes out."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends import registry
from tritonx.backends.api import Compilation, run_stages
from tritonx.ir.failure import PassFailure
from tritonx.runtime.compiling.sources import ASTSource
from tritonx.runtime.isolation import pool as pool_module
from tritonx.runtime.isolation import translate as translation
from tritonx.runtime.isolation.pool import Pool
from tritonx.tools import opt

TARGETS = ["cuda:75", "cuda:90", "hip:gfx90a", "hip:gfx1201", "cpu", "cpu:x86-64-v3"]
CODE = {"cuda": "ptx", "hip": "hsaco", "cpu": "obj"}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions that helpers were asked for."""
    seen: list[str] = []
    run = Pool.run

    def noted(self: Pool, function: str, *args: Any) -> Any:
        seen.append(function)
        return run(self, function, *args)

    monkeypatch.setattr(Pool, "run", noted)
    return seen


@tritonx.jit
def plain(x_ptr, y_ptr, n):
    i = tl.arange(0, 256)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, tl.exp(x) / tl.sum(x), mask=i < n)


@tritonx.jit
def two_texts(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 64))
    y = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], tl.int32, True, 1)
    z = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=v,v", [y], tl.int32, True, 1)
    tl.store(x_ptr + tl.arange(0, 64), z)


@tritonx.jit
def in_order(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 64))
    x = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], tl.int32, True, 1)
    tl.store(x_ptr + tl.arange(0, 64), x)


@tritonx.jit
def with_text(x_ptr, TEXT: tl.constexpr, CONSTRAINTS: tl.constexpr, PACK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 64))
    x = tl.inline_asm_elementwise(TEXT, CONSTRAINTS, [x], tl.int32, True, PACK)
    tl.store(x_ptr + tl.arange(0, 64), x)


@tl.core.extern
def library_call(x, symbol: tl.constexpr, _semantic=None):
    symbols = {(tl.dtype("fp32"),): (symbol, tl.dtype("fp32"))}
    return tl.core.extern_elementwise("", "", [x], symbols, is_pure=True, _semantic=_semantic)


@tritonx.jit
def with_library(x_ptr, SYMBOL: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(x_ptr + i, library_call(tl.load(x_ptr + i), SYMBOL))


def compile_for(
    kernel: Any, signature: dict[str, str], target: str, constants: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The artifacts up to the code that LLVM writes."""
    backend, parsed = registry.parse_target(target)
    options = backend.parse_options(parsed, {})
    module = ASTSource(kernel, signature, constants or {}).make_module(parsed, options)
    stages = backend.stages(parsed, options)
    last = [stage.name for stage in stages].index(CODE[parsed.backend])
    return run_stages(module, stages[: last + 1], Compilation(parsed, options))


def line_of(kernel: Any, text: str) -> int:
    lines, first = inspect.getsourcelines(kernel.fn)
    return first + next(n for n, line in enumerate(lines) if text in line)


@pytest.mark.parametrize("target", TARGETS)
def test_the_bits_are_those_of_a_compile_in_this_process(
    target: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}
    here = compile_for(plain, signature, target)
    assert asked == []
    monkeypatch.setenv("TRITONX_ISOLATE", "1")
    there = compile_for(plain, signature, target)
    assert len(asked) == 1
    texts = [name for name, made in here.items() if isinstance(made, str | bytes)]
    assert CODE[target.partition(":")[0]] in texts
    assert {n: here[n] for n in texts} == {n: there[n] for n in texts}


def test_inline_assembly_goes_to_a_helper(asked: list[str]) -> None:
    made = compile_for(in_order, {"x_ptr": "*i32"}, "cuda:90")
    assert len(asked) == 1 and "mov.b32" in made["ptx"]


def test_functions_that_the_backend_lists_stay_here_and_others_do_not(asked: list[str]) -> None:
    from tritonx.backends.nvidia.libdevice import device_library

    if device_library.seen():
        try:
            compile_for(with_library, {"x_ptr": "*fp32", "SYMBOL": "constexpr"}, "cuda:90", {"SYMBOL": "__nv_j0f"})
        except FileNotFoundError:
            pytest.skip("no libdevice on this machine")
        assert asked == []
    made = compile_for(with_library, {"x_ptr": "*fp32", "SYMBOL": "constexpr"}, "cuda:90", {"SYMBOL": "theirs"})
    assert len(asked) == 1 and "theirs" in made["ptx"]


@pytest.mark.parametrize("symbol", ["llvm.nvvm.barrier0", "not a name", 'quote"d', "llvm.ctpop.i32", "tx\0nul", ""])
def test_a_symbol_of_any_kind_is_code_or_a_typed_error(symbol: str) -> None:
    try:
        compile_for(with_library, {"x_ptr": "*fp32", "SYMBOL": "constexpr"}, "cuda:90", {"SYMBOL": symbol})
    except PassFailure as failure:
        assert not failure.internal, failure
        assert failure.positions and failure.positions[0].line


@pytest.mark.parametrize(
    ("text", "constraints", "pack", "said"),
    [
        ("mov.b32 $0, $1;", "=v,v", 1, "couldn't allocate output register for constraint 'v'"),
        ("mov.b32 $0, $1;", "=r,=r", 1, ""),
        ("mov.b32 $0, $1;", "", 1, ""),
        ("mov.b32 $0, $1;", "=r,r,r,r", 1, ""),
        ("mov.b32 $0, $1;", "=r,~{nothing}}", 1, ""),
        ("mov.b32 $0, $9;", "=r,r", 1, "operand"),
        ("mov.b32 $0, ${1:z};", "=r,r", 1, ""),
        ("mov.b32 ${0", "=r,r", 1, ""),
        ("mov.b32 $0, $1;", "=r,r", 4, ""),
        ("mov.b32 $0, $1;", '=r,r", "', 1, ""),
        ("mov.b32 $0, $1;", "={nosuchregister},r", 1, ""),
        ("mov.b32 $0, $1;", "=f,r", 1, ""),
        ("mov.b32 $0, $1;", "=r,i", 1, ""),
        ("mov.b32 $0, $1;", "=&*m,r", 1, ""),
    ],
)
def test_assembly_of_any_kind_is_code_or_a_typed_error(text: str, constraints: str, pack: int, said: str) -> None:
    constants = {"TEXT": text, "CONSTRAINTS": constraints, "PACK": pack}
    signature = {"x_ptr": "*i32", **dict.fromkeys(constants, "constexpr")}
    try:
        made = compile_for(with_text, signature, "cuda:90", constants)
    except PassFailure as failure:
        assert said in failure.reason, failure.reason
        assert not failure.internal
        assert failure.positions[0].line == line_of(with_text, "inline_asm_elementwise")
        assert "tl.inline_asm_elementwise(" in str(failure)
    else:
        assert not said and "ptx" in made


def test_the_line_is_that_of_the_op_which_llvm_means() -> None:
    with pytest.raises(PassFailure) as caught:
        compile_for(two_texts, {"x_ptr": "*i32"}, "cuda:90")
    assert caught.value.positions[0].line == line_of(two_texts, '"=v,v"')
    assert " at line " not in caught.value.reason


BROKEN = {
    "cuda:90": ("ptx", "nvptx64-nvidia-cuda", "llvm.amdgcn.workitem.id.y"),
    "hip:gfx942": ("amdgcn", "amdgcn-amd-amdhsa", "llvm.nvvm.read.ptx.sreg.tid.y"),
}


@pytest.mark.parametrize("target", BROKEN)
def test_llvm_text_of_a_user_may_be_anything(target: str, tmp_path: Any) -> None:
    """``define`` of what cannot be selected, what does not verify, what does not parse, and nothing at all."""
    stage, triple, intrinsic = BROKEN[target]
    head = f'target triple = "{triple}"\n'
    texts = [
        head + f"declare i32 @{intrinsic}()\ndefine i32 @k() {{\n  %a = call i32 @{intrinsic}()\n  ret i32 %a\n}}\n",
        head + "define i32 @k() {\n  %a = add i32 %b, 1\n  %b = add i32 %a, 1\n  ret i32 %b\n}\n",
        head + 'define void @k() {\n  call void asm sideeffect "", "=v"()\n  ret void\n}\n',
        "define nonsense",
        "",
    ]
    for number, text in enumerate(texts):
        path = tmp_path / f"{number}.llir"
        path.write_text(text)
        code, said = run_tool([str(path), "--target", target, "-t", stage])
        assert code == 1 and f"{number}.llir: error: " in said and "internal" not in said, (text, said)


def run_tool(arguments: list[str]) -> tuple[int, str]:
    from io import StringIO

    stdout, stderr = StringIO(), StringIO()
    code = opt.run(arguments, stdout=stdout, stderr=stderr)
    return code, stderr.getvalue()


def test_a_death_over_our_own_text_is_a_defect_with_a_way_to_see_it_again(
    asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the emitters wrote what LLVM cannot select; the reproducer must show the same."""
    backend, target = registry.parse_target("cuda:90")
    options = backend.parse_options(target, {})
    module = ASTSource(plain, {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}).make_module(target, options)
    stages = backend.stages(target, options)
    compilation = Compilation(target, options)
    text = run_stages(module, stages[:3], compilation)["llir"]
    bad, store = "llvm.amdgcn.workitem.id.y", "  store volatile i32 %bad, ptr addrspace(1) null\n"
    text = text.replace("entry:\n", f"entry:\n  %bad = call i32 @{bad}()\n{store}", 1) + f"\ndeclare i32 @{bad}()\n"
    monkeypatch.setenv("TRITONX_ISOLATE", "1")
    with pytest.raises(PassFailure, match="Cannot select") as caught:
        run_stages(text, stages[3:4], compilation)
    failure = caught.value
    assert failure.internal and failure.positions[0].line == line_of(plain, "def plain")
    code, said = run_tool(failure.reproducer.split()[1:])
    assert code == 1 and "Cannot select" in said


def test_libraries_of_the_user_go_to_a_helper(tmp_path: Any, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Bitcode that the environment names may be anything: no bitcode at all, here."""
    library = tmp_path / "libdevice.10.bc"
    library.write_bytes(b"BC\xc0\xde nonsense")
    monkeypatch.setenv("TRITONX_LIBDEVICE_PATH", str(library))
    with pytest.raises(PassFailure, match="stage 'ptx'"):
        compile_for(with_library, {"x_ptr": "*fp32", "SYMBOL": "constexpr"}, "cuda:90", {"SYMBOL": "__nv_j0f"})
    assert len(asked) == 1


def test_the_time_limit_is_a_knob(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITONX_ISOLATE_TIMEOUT", "1e-9")
    with pytest.raises(PassFailure, match="TRITONX_ISOLATE_TIMEOUT"):
        compile_for(in_order, {"x_ptr": "*i32"}, "cuda:90")
    monkeypatch.undo()
    assert "ptx" in compile_for(in_order, {"x_ptr": "*i32"}, "cuda:90")


def test_without_a_helper_unknown_code_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is never compiled here instead."""
    monkeypatch.setattr(pool_module, "_pool", Pool())
    monkeypatch.setattr("sys.executable", "/nonexistent/python")
    with pytest.raises(PassFailure, match="no helper process for LLVM could be started"):
        compile_for(in_order, {"x_ptr": "*i32"}, "cuda:90")


def test_what_llvm_printed_is_shown_without_its_own_trace() -> None:
    said = (
        "python: /src/APFloat.cpp:42: f: Assertion `x' failed.\n"
        "PLEASE submit a bug report to https://example.org\nStack dump:\n0.\tProgram arguments: python\n"
        " #0 0x00007f llvm::sys::PrintStackTrace\n"
    )
    assert translation._words(said) == "python: /src/APFloat.cpp:42: f: Assertion `x' failed."
    assert translation._words("error: couldn't do it at line 3\n") == "couldn't do it"


def test_assembler_errors_name_the_lines_of_foreign_code() -> None:
    from tritonx.backends.nvidia.pipeline import with_lines
    from tritonx.runtime.errors import PTXASError

    backend, target = registry.parse_target("cuda:90")
    options = backend.parse_options(target, {})
    module = ASTSource(two_texts, {"x_ptr": "*i32"}).make_module(target, options)
    compilation = Compilation(target, options)
    run_stages(module, backend.stages(target, options)[:3], compilation)
    error = with_lines(PTXASError("Illegal operand"), compilation.origin)
    first, second = line_of(two_texts, '"=r,r"'), line_of(two_texts, '"=v,v"')
    assert f"{__file__}:{first}:" in str(error) and f"{__file__}:{second}:" in str(error)
    assert str(error).endswith("Illegal operand")
