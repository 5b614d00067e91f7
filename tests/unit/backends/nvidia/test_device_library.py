"""`tl.extra.libdevice` on NVIDIA: the library's own function where the library is, ours where it is not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends.nvidia import BACKEND
from tritonx.backends.nvidia.libdevice import device_library, library_excerpt

needs_library = pytest.mark.skipif(not device_library.found(), reason="no libdevice.10.bc")


@tritonx.jit
def hyperbolic(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, tl.extra.libdevice.tanh(tl.load(x_ptr + i)))


@tritonx.jit
def own_exponential(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, tl.exp(tl.load(x_ptr + i)))


@tritonx.jit
def cosine(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, tl.extra.libdevice.cos(tl.load(x_ptr + i)))


@tritonx.jit
def power(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, tl.extra.libdevice.pow(tl.load(x_ptr + i), -111.999))


def ptx(compiler: Any, kernel: Any, dtype: str = "fp32", **options: Any) -> str:
    return compiler(kernel, "90", {"x_ptr": f"*{dtype}"}, {"N": 128}, until="ptx", **options).ptx


@needs_library
def test_the_library_is_linked(compiler: Any) -> None:
    """Its tanh takes the special-function unit; ours is a polynomial."""
    text = ptx(compiler, hyperbolic)
    assert "ex2.approx.ftz.f32" in text and "rcp.approx.ftz.f32" in text
    assert ".extern .func" not in text and "__nvvm_reflect" not in text


@needs_library
def test_tables_and_structures_come_along(compiler: Any) -> None:
    """The reduction of large arguments has a table, a structure and a function that is not inlined, with f64."""
    for dtype in ("fp32", "fp64"):
        text = ptx(compiler, cosine, dtype)
        assert "__cudart_i2opi" in text and ".extern .func" not in text


def test_functions_of_the_language_are_our_own(compiler: Any) -> None:
    text = compiler(own_exponential, "90", {"x_ptr": "*fp32"}, {"N": 128}, until="llir").stages["llir"]
    assert device_library.PREFIX not in text


def test_without_the_library_our_own_function_stands_in(compiler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_library, "found", lambda: False)
    assert "__nv" not in ptx(compiler, hyperbolic)


@needs_library
@tritonx.jit
def applied(x_ptr, F: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x_ptr + i, F(tl.load(x_ptr + i)))


OWN = {
    "fast_tanhf": "tanh.approx.f32", "fast_sinf": "sin.approx.f32", "fast_cosf": "cos.approx.f32",
    "fast_log2f": "lg2.approx.ftz.f32", "fast_expf": "ex2.approx", "rsqrt": "rsqrt.approx", "exp2": "ex2.approx",
}  # fmt: skip


@pytest.mark.parametrize("target", ["75", "80", "90"])
def test_intrinsics_are_instructions(compiler: Any, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    """LLVM writes an intrinsic that it does not know as a call of a function of that name, which no assembler takes."""
    monkeypatch.setattr(device_library, "found", lambda: False)
    for name, instruction in OWN.items():
        constants = {"F": getattr(tl.extra.libdevice, name), "N": 128}
        text = compiler(applied, target, {"x_ptr": "*fp32"}, constants, until="ptx").ptx
        assert instruction in text and "llvm." not in text, name


def test_the_options_that_change_its_arithmetic(compiler: Any) -> None:
    """Subnormal numbers are flushed unless `enable_reflect_ftz` is off; fused unless `enable_fp_fusion` is off."""
    assert ".ftz." in ptx(compiler, hyperbolic)
    exact = ptx(compiler, hyperbolic, enable_reflect_ftz=False)
    assert set(re.findall(r"\S+\.ftz\S*", exact)) == {"ex2.approx.ftz.f32", "rcp.approx.ftz.f32"}
    assert re.search(r"\smul\.f32", ptx(compiler, hyperbolic))
    for name in ("exp2", "sqrt", "rsqrt"):
        constants = {"F": getattr(tl, name), "N": 128}
        flushing = compiler(applied, "90", {"x_ptr": "*fp32"}, constants, until="ptx")
        keeping = compiler(applied, "90", {"x_ptr": "*fp32"}, constants, until="ptx", enable_reflect_ftz=False)
        assert ".approx.ftz.f32" in flushing.ptx and ".approx.f32" in keeping.ptx and ".ftz" not in keeping.ptx
    apart = ptx(compiler, hyperbolic, enable_fp_fusion=False)
    assert "mul.rn.f32" in apart and not re.search(r"\s(mul|add)\.f32", apart)


@needs_library
def test_a_product_with_several_uses_is_computed_once(compiler: Any) -> None:
    """The quotient u of powf's logarithm is rounded where its error, m - 1 - u, is taken as well."""
    text = ptx(compiler, power)
    product = re.search(r"mul\.rn\.f32 \t(%r\d+), %r\d+, %r\d+;\n(?:.*\n)*?.*sub\.f32 \t%r\d+, %r\d+, \1;", text)
    assert product, text


def test_a_product_with_one_use_may_be_fused() -> None:
    function = """define float @f(float %a, float %b) {
  %u = fmul float %a, %b
  %once = fmul float %a, 2.0
  %e = fsub float %a, %u
  %s = fadd float %u, %once
}"""
    assert re.findall(r"= (.*) float", library_excerpt.fused(function)) == [
        "fmul", "fmul contract", "fsub contract", "fadd contract",
    ]  # fmt: skip


@needs_library
def test_a_function_that_it_lacks() -> None:
    with pytest.raises(ValueError, match="no function __nv_nothing"):
        library_excerpt.excerpt(["@__nv_nothing"], str(device_library.path()), fuse=True)


def test_the_library_is_part_of_a_compile_s_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = set[str]()
    for content in (b"one", b"another"):
        file = tmp_path / "libdevice.10.bc"
        file.write_bytes(content)
        monkeypatch.setenv("TRITONX_LIBDEVICE_PATH", str(file))
        keys.add(BACKEND.version_key())
    assert len(keys) == 2
