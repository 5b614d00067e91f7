"""Functions on vectors mean the same once they are taken apart: both are compiled for the host and run."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from tritonx.conversion.legal import Legal
from tritonx.conversion.legalize import legal_text
from tritonx.conversion.legalize.shared_bounds import guarded
from tritonx.conversion.spirv.write import spirv_legal

SPIRV = spirv_legal()
LEGAL = {
    "spirv": SPIRV,
    "accesses of four": Legal(vector=4, narrow_accesses=False),
    "no vectors": Legal(vector=1),
    "bfloat as bits": Legal(vector=8, bfloat=False),
    "all": Legal(),
}
"""By name, what a machine may say; LLVM's own is the last."""
SEED = int(os.environ["TRITONX_SEED"])
MAXIMUM = "declare <{n} x {t}> @llvm.maximum.v{n}{s}(<{n} x {t}>, <{n} x {t}>)"


def run(text: str, a: bytes, b: bytes) -> bytes:
    """``f(a, b, out)`` of the module, compiled for the host."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine: Any = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
    engine.finalize_object()
    out = ctypes.create_string_buffer(1024)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(engine.get_function_address("f"))
    function(ctypes.create_string_buffer(a, len(a)), ctypes.create_string_buffer(b, len(b)), out)
    return out.raw


def program(n: int, elem: str, body: str, result: str | None = None, declarations: str = "") -> str:
    return f"""
define void @f(ptr %a, ptr %b, ptr %out) {{
entry:
  %x = load <{n} x {elem}>, ptr %a, align 1
  %y = load <{n} x {elem}>, ptr %b, align 1
{body}
  store {result or f"<{n} x {elem}>"} %z, ptr %out, align 1
  ret void
}}
{declarations}
"""


LOOP = """  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = phi <32 x i32> [ %x, %entry ], [ %z, %loop ]
  %z = add <32 x i32> %s, %y
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, 5
  br i1 %more, label %loop, label %end
end:
"""

PROGRAMS = {
    "integers": program(
        64,
        "i16",
        "  %s = mul <64 x i16> %x, splat (i16 3)\n  %c = icmp slt <64 x i16> %s, %y\n"
        "  %z = select <64 x i1> %c, <64 x i16> %s, <64 x i16> %y",
    ),
    "widened": program(32, "i8", "  %z = sext <32 x i8> %x to <32 x i16>", "<32 x i16>"),
    "cut in other pieces": program(32, "i8", "  %z = bitcast <32 x i8> %x to <8 x i32>", "<8 x i32>"),
    "cut in smaller pieces": program(4, "i64", "  %z = bitcast <4 x i64> %x to <32 x i8>", "<32 x i8>"),
    "a vector as one number": program(2, "i32", "  %z = bitcast <2 x i32> %x to i64", "i64"),
    "shuffled": program(
        4,
        "i32",
        "  %s = shufflevector <4 x i32> %x, <4 x i32> %y, <6 x i32> <i32 7, i32 0, i32 5, i32 2, i32 2, i32 4>\n"
        "  %e = extractelement <6 x i32> %s, i32 2\n  %z = insertelement <6 x i32> %s, i32 %e, i32 0",
        "<6 x i32>",
    ),
    "in a loop": program(32, "i32", LOOP),
    "floats": program(32, "float", "  %s = fneg <32 x float> %x\n  %z = fadd <32 x float> %s, %y"),
    "words of integers": program(32, "i16", "  %z = mul <32 x i16> %x, %y").replace("align 1", "align 4"),
    "words of bytes": program(64, "i8", "  %z = xor <64 x i8> %x, %y").replace("align 1", "align 16"),
    "a part of a word": program(6, "i8", "  %z = add <6 x i8> %x, %y").replace("align 1", "align 4"),
    "words of halves": program(
        8,
        "half",
        "  %c = bitcast <8 x half> %x to <8 x i16>\n  %d = bitcast <8 x half> %y to <8 x i16>\n"
        "  %e = icmp ult <8 x i16> %c, %d\n  %z = select <8 x i1> %e, <8 x half> %x, <8 x half> %y",
    ).replace("align 1", "align 8"),
    "maximum": program(
        16,
        "float",
        "  %z = call <16 x float> @llvm.maximum.v16f32(<16 x float> %x, <16 x float> %y)",
        declarations=MAXIMUM.format(n=16, t="float", s="f32"),
    ),
    "saturating": program(
        16,
        "float",
        "  %z = call <16 x i32> @llvm.fptosi.sat.v16i32.v16f32(<16 x float> %x)",
        "<16 x i32>",
        "declare <16 x i32> @llvm.fptosi.sat.v16i32.v16f32(<16 x float>)",
    ),
    "one bit": program(32, "i8", "  %c = icmp ult <32 x i8> %x, %y\n  %z = zext <32 x i1> %c to <32 x i8>"),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("machine", LEGAL)
def test_same_meaning(name: str, machine: str) -> None:
    text, legal = str(llvm.parse_assembly(PROGRAMS[name])), LEGAL[machine]
    written = legal_text(text, legal)
    assert legal.vector is not None or written == text
    accessed = re.findall(r"load <(\d+) x|store <(\d+) x", written)
    assert legal.vector is None or all(int(n or m) <= legal.vector for n, m in accessed)
    rng = np.random.default_rng(SEED)
    a, b = (rng.standard_normal(32).astype(np.float32) if "float" in text else rng.bytes(128) for _ in range(2))
    if name.startswith("words") and not legal.narrow_accesses:
        assert not re.search(r"(load|store) .*\b(half|i16|i8)\b", written)
    assert run(written, bytes(a), bytes(b)) == run(text, bytes(a), bytes(b)), f"seed {SEED}"


def test_a_fused_product_of_halves_is_no_function_of_halves() -> None:
    """Which OpenCL would call lane by lane; `test_differential` has its values."""
    text = program(
        8,
        "half",
        "  %z = call <8 x half> @llvm.fma.v8f16(<8 x half> %x, <8 x half> %y, <8 x half> %x)",
        declarations="declare <8 x half> @llvm.fma.v8f16(<8 x half>, <8 x half>, <8 x half>)",
    )
    written = legal_text(str(llvm.parse_assembly(text)), SPIRV)
    assert written.count("call double @llvm.fma.f64(") == 8
    assert "f16" not in written


SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45)


@pytest.mark.parametrize("name", ["maximum", "minimum", "maximumnum", "minimumnum"])
@pytest.mark.parametrize(("elem", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_extrema_of_zeros_and_nans(name: str, elem: str, dtype: Any) -> None:
    """OpenCL's fmax and fmin, which SPIR-V has for ``maxnum`` and ``minnum``, may return either zero."""
    a, b = (np.array(column, dtype) for column in zip(*itertools.product(SPECIAL, SPECIAL), strict=True))
    lines = [
        f"  %z = call <64 x {elem}> @llvm.{name}.v64f{dtype().itemsize * 8}(<64 x {elem}> %x, <64 x {elem}> %y)",
        f"declare <64 x {elem}> @llvm.{name}.v64f{dtype().itemsize * 8}(<64 x {elem}>, <64 x {elem}>)",
    ]
    written = legal_text(str(llvm.parse_assembly(program(64, elem, lines[0], declarations=lines[1]))), SPIRV)
    assert "llvm.m" in written and f"@llvm.{name}." not in written
    got = np.frombuffer(run(written, a.tobytes(), b.tobytes()), dtype)[:64]
    with np.errstate(invalid="ignore"):
        number = {"max": np.fmax, "min": np.fmin}[name[:3]](a, b) if name.endswith("num") else None
        expected = {"max": np.maximum, "min": np.minimum}[name[:3]](a, b) if number is None else number
    zeros = (a == 0) & (b == 0)
    negative = (np.signbit(a) & np.signbit(b)) if name.startswith("max") else (np.signbit(a) | np.signbit(b))
    expected = np.where(zeros, np.where(negative, dtype(-0.0), dtype(0.0)), expected)
    same = (got == expected) & (np.signbit(got) == np.signbit(expected)) | (np.isnan(got) & np.isnan(expected))
    assert same.all(), [(x, y, z) for x, y, z, ok in zip(a, b, got, same, strict=True) if not ok]


@pytest.mark.parametrize("opcode", ["fadd", "fsub", "fmul", "fdiv"])
def test_bfloat_is_rounded_once_from_f32(opcode: str) -> None:
    """LLVM's own bfloat on the host is compared: it computes in f32 and rounds."""
    import ml_dtypes

    text = str(llvm.parse_assembly(program(32, "bfloat", f"  %z = {opcode} <32 x bfloat> %x, %y")))
    written = legal_text(text, SPIRV)
    assert "bfloat" not in written
    rng = np.random.default_rng(SEED)
    bits = rng.integers(0, 1 << 16, (2, 32)).astype(np.uint16)
    a, b = (row.view(ml_dtypes.bfloat16).astype(np.float32) for row in bits)
    operation = {"fadd": np.add, "fsub": np.subtract, "fmul": np.multiply, "fdiv": np.divide}[opcode]
    with np.errstate(all="ignore"):
        expected = operation(a, b).astype(ml_dtypes.bfloat16)
    got = np.frombuffer(run(written, bits[0].tobytes(), bits[1].tobytes())[:64], ml_dtypes.bfloat16)
    same = (got.view(np.uint16) == expected.view(np.uint16)) | (np.isnan(got) & np.isnan(expected))
    assert same.all(), f"seed {SEED}"


def test_bfloat_stays_where_a_compiler_has_it() -> None:
    """The host's has no function that rounds to it, so the text is not run."""
    text = program(
        32, "bfloat", "  %s = fmul <32 x bfloat> %x, splat (bfloat 0xR3F80)\n  %z = fadd <32 x bfloat> %s, %y"
    )
    written = legal_text(str(llvm.parse_assembly(text)), LEGAL["accesses of four"])
    llvm.parse_assembly(written).verify()
    assert written.count(" fadd bfloat ") == written.count(" fmul bfloat ") == 32


def test_an_access_outside_goes_elsewhere() -> None:
    text = """@shared_memory = internal addrspace(3) global [64 x i8] undef, align 16

define void @f(i32 %i, float %v) {
  %p = getelementptr float, ptr addrspace(3) @shared_memory, i32 %i
  store float %v, ptr addrspace(3) %p, align 4
  %w = load <4 x float>, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @shared_memory, i32 16), align 16
  %o = atomicrmw add ptr addrspace(3) %p, i32 1 monotonic, align 4
  ret void
}
"""
    written = str(llvm.parse_assembly(guarded(str(llvm.parse_assembly(text)), 3)))
    assert [int(n) for n in re.findall(r"icmp ule i64 .*, (\d+)", written)] == [60, 48, 60]
    assert written.count("ptr addrspace(3) @outside_of_shared_memory\n") == 3
