"""The pseudo-code of instructions on floats where the emulator reads the documents otherwise than they are meant.

``CODE`` is by the stem of an instruction's name; each entry says what the emulator made of the words. The functions
that it names work on the bits of the operands, so that the host's own floats, on which the emulator computes, cannot
interfere.
"""

from __future__ import annotations

import re
from typing import Any

WORDS = {"f16": (16, 0x200, 0x7C00), "f32": (32, 0x400000, 0x7F800000), "f64": (64, 1 << 51, 0x7FF << 52)}
"""Of each format: its bits, what makes a NaN quiet, and infinity."""


def minima_and_maxima() -> dict[str, str]:
    """The documents order -0 below +0 (``LT_NEG_ZERO``; "== -0.0" in CDNA's, which the emulator compares as numbers).
    In IEEE mode the first signalling NaN, made quiet, is the result (``cvtToQuietNAN(64'F(S0.f16))``: the emulator's
    way by f64 leaves a signalling f16 as it is). RDNA 4 takes the number."""
    found: dict[str, str] = {}
    for kind in WORDS:
        for name in ("min", "max"):
            long = "minimum" if name == "min" else "maximum"
            for stem in (name, f"{name}_num", long):
                found[f"V_{stem.upper()}_{kind.upper()}"] = f"D0.{kind} = tx_{stem}_{kind}(S0.{kind}, S1.{kind})"
    return found


def sums() -> dict[str, str]:
    """The emulator simplifies 0 - x to -x and x + 0 to x, whatever the sign of a zero x."""
    found: dict[str, str] = {}
    for kind in WORDS:
        upper = kind.upper()
        found[f"V_ADD_{upper}"] = f"D0.{kind} = tx_add_{kind}(S0.{kind}, S1.{kind})"
        found[f"V_SUB_{upper}"] = f"D0.{kind} = tx_sub_{kind}(S0.{kind}, S1.{kind})"
        found[f"V_SUBREV_{upper}"] = f"D0.{kind} = tx_sub_{kind}(S1.{kind}, S0.{kind})"
    return found


def scaled_for_division(kind: str, exponents: int, factor: int, tiny: int) -> str:
    """V_DIV_SCALE as the documents have it. The emulator's own is for kernels that flush subnormal numbers (a subnormal
    divisor is 0 there and gives NaN), which ours do not: their descriptors say so. "== DENORM" means "is subnormal"."""
    scaled, quotient = f"ldexp(S0.{kind}, {factor})", f"tx_subnormal_quotient_{kind}(S2.{kind}, S1.{kind})"
    reciprocal = f"tx_subnormal_reciprocal_{kind}(S1.{kind})"
    cases = [
        (f"(S2.{kind} == 0.0) || (S1.{kind} == 0.0)", 0, f"NAN.{kind}"),
        (
            f"exponent(S2.{kind}) - exponent(S1.{kind}) >= {exponents}",
            1,
            f"S0.{kind} == S1.{kind} ? {scaled} : S0.{kind}",
        ),
        (f"isDENORM(S1.{kind})", 0, scaled),
        (f"{reciprocal} && {quotient}", 1, f"S0.{kind} == S1.{kind} ? ldexp(S0.{kind}, -{factor}) : S0.{kind}"),
        (reciprocal, 0, f"ldexp(S0.{kind}, -{factor})"),
        (quotient, 1, f"S0.{kind} == S2.{kind} ? {scaled} : S0.{kind}"),
        (f"exponent(S2.{kind}) <= {tiny}", 0, scaled),
    ]
    lines = ["VCC.u64[laneId] = 0"]
    for i, (condition, scales, value) in enumerate(cases):
        lines += [f"{'elsif' if i else 'if'} ({condition}) then", f"VCC.u64[laneId] = {scales}", f"D0.{kind} = {value}"]
    return ";\n".join([lines[0], "\n".join([*lines[1:], "else", f"D0.{kind} = S0.{kind}", "endif"])])


CODE: dict[str, str] = {
    **minima_and_maxima(),
    **sums(),
    "V_DIV_SCALE_F32": scaled_for_division("f32", 96, 64, 23),
    "V_DIV_SCALE_F64": scaled_for_division("f64", 768, 128, 53),
    "V_DIV_FMAS_F32": "D0.f32 = VCC.u64[laneId] ? tx_scaled_fma_f32(S0.f32, S1.f32, S2.f32) : "
    "fma(S0.f32, S1.f32, S2.f32)",
    "V_EXP_F32": "D0.f32 = tx_flushed_f32(pow(2.0F, S0.f32))",  # "denormals are flushed"
    "GLOBAL_ATOMIC_ADD_F64": "tmp = MEM[ADDR].f64;\nMEM[ADDR].f64 = tmp + DATA.f64;\nRETURN_DATA.f64 = tmp",
}


def read_as_meant(code: str) -> str:
    """Infinities and NaNs of f16, of which the emulator makes numbers of other sizes, as their bits; what a quotient
    below half the least number rounds to, to nearest, which is zero (the emulator has the least number)."""
    code = code.replace("-INF.f16", "tx_bits_f16(0xfc00)").replace("+INF.f16", "tx_bits_f16(0x7c00)")
    code = code.replace("16'F(0xfe00)", "tx_bits_f16(0xfe00)")
    code = code.replace("UNDERFLOW_F32", "0.0F").replace("UNDERFLOW_F64", "0.0")
    return PACKED_SUM.sub(r"= tx_add_\2(\1, \3)", code)


PACKED_SUM = re.compile(r"= (S0\[[^\]]+\]\.(f16|f32)) \+ (S1\[[^\]]+\]\.\2)")
"""A half of V_PK_ADD_F16 or V_PK_ADD_F32."""


def install(emu: Any, pcode: Any) -> None:
    """Let the emulator read these words."""
    known = emu.get_pcode

    def code_of(op: Any) -> str:
        stem = re.sub(r"_(E32|E64)$", "", op.name)
        return CODE[stem] if stem in CODE else read_as_meant(known(op))

    emu.get_pcode = code_of
    for name in ("MIN", "MAX"):  # RDNA 4's were read as RDNA 3's, which have the IEEE mode
        single = getattr(emu.ir4.VOP2Op, f"V_{name}_NUM_F32_E32")
        emu.VOPD_TO_VOP2[getattr(emu.ir4.VOPDOp, f"V_DUAL_{name}_NUM_F32")] = single
    for kind in WORDS:
        pcode._FUNCS.update(functions(pcode, kind))
    pcode._FUNCS["f32_to_bf16"] = to_bfloat(pcode._FUNCS["f32_to_bf16"])


def to_bfloat(known: Any) -> Any:
    """V_CVT_PK_BF16_F32. The emulator rounds by adding half of the last place that stays, to a NaN too: a zero where
    that carries into the sign (f16's 0x7fff, which is 0x7fffe000 in f32), infinity where the upper bits are clear. A
    NaN stays one, made quiet (IEEE 754; the document has the word f32_to_bf16 alone)."""
    from tinygrad.dtype import dtypes
    from tinygrad.uop.ops import UOp

    def convert(value: Any) -> Any:
        bits = value.bitcast(dtypes.uint32)

        def const(number: int) -> Any:
            return UOp.const(number, dtypes.uint32)

        is_nan = (bits & const(0x7FFFFFFF)) > const(0x7F800000)
        quiet = (bits >> const(16) | const(0x40)).cast(dtypes.uint16)
        return is_nan.where(quiet, known(value))

    return convert


def functions(pcode: Any, kind: str) -> dict[str, Any]:
    """What ``CODE`` calls on a format, and what the documents' three-operand instructions call."""
    from tinygrad.dtype import dtypes
    from tinygrad.uop.ops import UOp

    width, quiet, infinity = WORDS[kind]
    whole = {16: dtypes.uint16, 32: dtypes.uint32, 64: dtypes.uint64}[width]
    floating = {16: dtypes.half, 32: dtypes.float32, 64: dtypes.float64}[width]
    sign = 1 << width - 1

    def const(value: int) -> Any:
        return UOp.const(value, whole)

    def bits(value: Any) -> Any:
        if value.dtype == floating:
            return value.bitcast(whole)
        return value.cast(whole) if value.dtype != whole else value

    def is_nan(value: Any) -> Any:
        return (value & const(sign - 1)) > const(infinity)

    def signals(value: Any) -> Any:
        return is_nan(value) & (value & const(quiet)).eq(const(0))

    def rank(value: Any) -> Any:
        """An order of the numbers by their bits, -0 below +0."""
        negative = (value & const(sign)).ne(const(0))
        return negative.where(value ^ const(2 * sign - 1), value | const(sign))

    def chosen(larger: bool, a: Any, b: Any) -> Any:
        return (rank(b) < rank(a) if larger else rank(a) < rank(b)).where(a, b)

    def ieee(larger: bool) -> Any:
        def run(x: Any, y: Any) -> Any:
            a, b = bits(x), bits(y)
            number = is_nan(b).where(a, is_nan(a).where(b, chosen(larger, a, b)))
            return signals(a).where(a | const(quiet), signals(b).where(b | const(quiet), number)).bitcast(floating)

        return run

    def numbers(larger: bool) -> Any:
        def run(x: Any, y: Any) -> Any:
            a, b = bits(x), bits(y)
            one = is_nan(a).where(b, is_nan(b).where(a, chosen(larger, a, b)))
            return (is_nan(a) & is_nan(b)).where(a | const(quiet), one).bitcast(floating)

        return run

    def any_nan(larger: bool) -> Any:
        def run(x: Any, y: Any) -> Any:
            a, b = bits(x), bits(y)
            quieted = is_nan(a).where(a | const(quiet), b | const(quiet))
            return (is_nan(a) | is_nan(b)).where(quieted, chosen(larger, a, b)).bitcast(floating)

        return run

    def total(x: Any, y: Any, minus: bool) -> Any:
        a, b = bits(x), bits(y)
        b = b ^ const(sign) if minus else b
        zeros = ((a | b) & const(sign - 1)).eq(const(0))
        return zeros.where(a & b, (a.bitcast(floating) + b.bitcast(floating)).bitcast(whole)).bitcast(floating)

    def is_subnormal(value: Any) -> Any:
        rest = bits(value) & const(sign - 1)
        return rest.ne(const(0)) & (rest < const(infinity & -infinity))

    def flushed(value: Any) -> Any:
        return (
            (bits(value) & const(infinity)).ne(const(0)).where(bits(value), bits(value) & const(sign)).bitcast(floating)
        )

    def wide(value: Any) -> Any:
        return bits(value).bitcast(floating).cast(dtypes.float64)

    def fused(x: Any, y: Any, z: Any) -> Any:
        """In f64: rounded there, at 2^-29 of the result's last place."""
        return wide(x) * wide(y) + wide(z)

    def scaled(x: Any, y: Any, z: Any) -> Any:
        """Scaled before it is rounded. The documents' 2 ** 32 is 2 ** 64 or its inverse: what V_DIV_SCALE scaled by."""
        up = (bits(z) & const(infinity)) > const(127 << 23)
        factor = up.where(UOp.const(2.0**64, dtypes.float64), UOp.const(2.0**-64, dtypes.float64))
        return (fused(x, y, z) * factor).cast(floating)

    def one(value: Any) -> Any:
        return UOp.const(1.0, floating) / bits(value).bitcast(floating)

    found: dict[str, Any] = {
        f"tx_scaled_fma_{kind}": scaled,
        f"tx_flushed_{kind}": flushed,
        f"tx_bits_{kind}": lambda value: value.cast(whole).bitcast(floating),
        f"tx_add_{kind}": lambda x, y: total(x, y, False),
        f"tx_sub_{kind}": lambda x, y: total(x, y, True),
        f"tx_subnormal_quotient_{kind}": lambda x, y: is_subnormal(
            bits(x).bitcast(floating) / bits(y).bitcast(floating)
        ),
        f"tx_subnormal_reciprocal_{kind}": lambda x: is_subnormal(one(x)),
    }
    for larger, name, long in ((False, "min", "minimum"), (True, "max", "maximum")):
        found[f"tx_{name}_{kind}"] = ieee(larger)
        found[f"tx_{name}_num_{kind}"] = numbers(larger)
        found[f"tx_{long}_{kind}"] = any_nan(larger)
        for prefix, two in ((f"v_{name}", ieee), (f"v_{name}_num", numbers), (f"v_{long}", any_nan)):
            run = two(larger)
            found[f"{prefix}_{kind}"] = run
            three = re.sub(r"^(v_\w+?)(_num)?$", r"\g<1>3\g<2>", prefix)
            found[f"{three}_{kind}"] = lambda x, y, z, run=run: run(run(x, y), z)
    return found
