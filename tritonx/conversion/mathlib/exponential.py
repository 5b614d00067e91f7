"""exp, exp2, exp10, expm1 and the f64 exponential that `special` and `power` are built on.

exp(x) = 2^n · exp(r) with n = round(x·log2 e) and r = x - n·ln 2, |r| ≤ ln 2 / 2. ln 2 is split in two so that n·hi is
exact. exp(r) = 1 + r + r²·Q(r). The coefficients are weighted minimax fits (Lawson iteration at 2000 Chebyshev nodes)
of (exp(r) - 1 - r) / r²; the error of the f32 fit relative to exp is 1.2e-9, that of the f64 one 8e-16.
"""

from __future__ import annotations

from tritonx.conversion.mathlib.code import Code

_LOG2_E = 1.4426950408889634
_LN2_HI = 0.693145751953125  # 16 significant bits
_LN2_LO = 1.428606765330187e-06
_EXP_Q = (0.5, 0.1666666716, 0.04166626558, 0.008333271369, 0.001394639257, 0.0001991496683)
_EXP2_Q = (0.2402265072, 0.05550410971, 0.009618036449, 0.001333345775, 0.0001546730491, 1.530938789e-05)
_EXP_Q_F64 = tuple(
    map(
        float.fromhex,
        (
            "0x1.fffffffffffbbp-2",
            "0x1.5555555550f93p-3",
            "0x1.55555555674b2p-5",
            "0x1.111111244cee5p-7",
            "0x1.6c16c12ec0279p-10",
            "0x1.a0199124dbdfcp-13",
            "0x1.a01a813ccef9fp-16",
            "0x1.72e619bbe5aa9p-19",
            "0x1.27dcd6e431f73p-22",
        ),
    )
)
_LN2_HI_F64 = float.fromhex("0x1.62e42fefa3800p-1")  # 42 significant bits
_LN2_LO_F64 = float.fromhex("0x1.ef35793c76730p-45")


def _reduce(code: Code, x: str) -> tuple[str, str]:
    """(r, n as an integer) with x = n·ln 2 + r."""
    n, integer = code.round_to_int(code.mul(x, code.const(_LOG2_E)))
    r = code.fma(n, code.const(-_LN2_HI), x)
    return code.fma(n, code.const(-_LN2_LO), r), integer


def exp(code: Code, x: str) -> str:
    """e^x. Beyond [-104, 89] the result is 0 or infinity, which the clamped argument gives as well."""
    r, n = _reduce(code, code.at_least(code.at_most(x, 89.0), -104.0))
    q = code.polynomial(r, _EXP_Q)
    value = code.add(code.fma(code.mul(r, r), q, r), code.const(1.0))
    return code.scale(value, n)


def exp2(code: Code, x: str) -> str:
    """2^x; x - round(x) is exact."""
    clamped = code.at_least(code.at_most(x, 129.0), -151.0)
    whole, n = code.round_to_int(clamped)
    f = code.sub(clamped, whole)
    q = code.polynomial(f, _EXP2_Q)
    linear = code.mul(f, code.const(0.6931471805599453))
    value = code.add(code.fma(code.mul(f, f), q, linear), code.const(1.0))
    return code.scale(value, n)


def expm1(code: Code, x: str) -> str:
    """e^x - 1 without cancellation: 2^n·(r + r²Q) + (2^n - 1), both halves exact enough where they meet."""
    r, n = _reduce(code, code.at_least(code.at_most(x, 89.0), -25.0))
    q = code.polynomial(r, _EXP_Q)
    tail = code.fma(code.mul(r, r), q, r)
    # 2^128 is no float: above 88.7 one factor of two is applied at the end.
    high = code.int_compare("sgt", n, 127)
    n = code.int_select(high, code.int_const(127), n)
    power = code.power_of_two(n)
    value = code.fma(power, tail, code.sub(power, code.const(1.0)))
    value = code.select(high, code.mul(code.fma(power, tail, power), code.const(2.0)), value)
    return code.select(code.compare("oeq", x, code.const(0.0)), x, value)


def exp_f64(code: Code, x: str) -> str:
    """e^x in double, relative error about 1e-15; `code` is a double one. The argument must lie in [-740, 700]."""
    n, integer = code.round_to_int(code.mul(x, code.const(_LOG2_E)))
    r = code.fma(n, code.const(-_LN2_HI_F64), x)
    r = code.fma(n, code.const(-_LN2_LO_F64), r)
    q = code.polynomial(r, _EXP_Q_F64)
    value = code.add(code.fma(code.mul(r, r), q, r), code.const(1.0))
    return code.scale(value, integer)
