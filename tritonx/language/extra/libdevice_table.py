"""The functions of ``tl.extra.libdevice``: 198 names, and for each the argument types it takes and the type it gives.

A letter is a type: f fp32, d fp64, i int32, l int64, u uint32, U uint64; ``fi>f`` takes an fp32 and an int32 and
gives an fp32. The meaning of a name is that of the math function of C or of the device intrinsic it is called after.
"""

from __future__ import annotations

from functools import cache

_TYPES = {"f": "fp32", "d": "fp64", "i": "int32", "l": "int64", "u": "uint32", "U": "uint64"}

_SIGNATURES: dict[str, str] = {
    "U>d": "ull2double_rd ull2double_rn ull2double_ru ull2double_rz",
    "U>f": "ull2float_rd ull2float_rn ull2float_ru ull2float_rz",
    "d>d": "rcp64h",
    "d>f": "double2float_rd double2float_rn double2float_ru double2float_rz",
    "d>i": (
        "double2hiint double2int_rd double2int_rn double2int_ru double2int_rz double2loint double2uint_rd "
        "double2uint_rn double2uint_ru double2uint_rz isfinited "
    ),
    "d>l": (
        "double2ll_rd double2ll_rn double2ll_ru double2ll_rz double2ull_rd double2ull_rn double2ull_ru "
        "double2ull_rz double_as_longlong "
    ),
    "f>f": (
        "fast_cosf fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sinf fast_tanf fast_tanhf "
        "rsqrt_rn saturatef "
    ),
    "f>i": (
        "finitef float2int_rd float2int_rn float2int_ru float2int_rz float2uint_rd float2uint_rn "
        "float2uint_ru float2uint_rz float_as_int float_as_uint "
    ),
    "f>l": "float2ll_rd float2ll_rn float2ll_ru float2ll_rz float2ull_rd float2ull_rn float2ull_ru float2ull_rz",
    "i>d": "int2double_rn",
    "i>f": "int2float_rd int2float_rn int2float_ru int2float_rz int_as_float",
    "l>d": "ll2double_rd ll2double_rn ll2double_ru ll2double_rz longlong_as_double",
    "l>f": "ll2float_rd ll2float_rn ll2float_ru ll2float_rz",
    "u>d": "uint2double_rn",
    "u>f": "uint2float_rd uint2float_rn uint2float_ru uint2float_rz uint_as_float",
    "ff>f": "fast_dividef fast_powf",
    "ii>d": "hiloint2double",
    "iii>i": "byte_perm",
    "d>d f>f": "ceil trunc",
    "f>f d>d": (
        "acos acosh asin asinh atan atanh cbrt cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erf erfc erfcinv "
        "erfcx erfinv exp exp10 exp2 expm1 floor j0 j1 lgamma log log10 log1p log2 logb nearbyint normcdf "
        "normcdfinv rcbrt rcp_rd rcp_rn rcp_ru rcp_rz rint round rsqrt sin sinh sinpi sqrt sqrt_rd sqrt_rn "
        "sqrt_ru sqrt_rz tan tanh tgamma y0 y1 "
    ),
    "f>i d>i": "ilogb isinf isnan signbit",
    "f>l d>l": "llrint llround",
    "i>i l>i": "clz ffs popc",
    "i>i l>l": "brev",
    "dd>d ff>f": "add_rd add_rn add_ru add_rz mul_rd mul_rn mul_ru mul_rz",
    "ff>f dd>d": (
        "atan2 copysign div_rd div_rn div_ru div_rz fdim fmod hypot nextafter remainder rhypot sub_rd sub_rn "
        "sub_ru sub_rz "
    ),
    "fi>f di>d": "ldexp scalbn",
    "if>f id>d": "jn yn",
    "ii>i uu>u": "hadd mul24 rhadd",
    "fff>f ddd>d": "fma fma_rd fma_rn fma_ru fma_rz norm3d rnorm3d",
    "iiu>i uuu>u": "sad",
    "ffff>f dddd>d": "norm4d rnorm4d",
    "i>i l>l f>f d>d": "abs",
    "fi>f di>d ff>f dd>d": "pow",
    "ii>i uu>u ll>l UU>U": "mulhi",
}
"""Overloads → the names that have exactly these."""

PREDICATES = frozenset({"isnan", "isinf", "finitef", "isfinited"})
"""Functions whose int32 result is a truth value; the language gives an int1."""


@cache
def names() -> dict[str, str]:
    """Every name with its overloads."""
    return {name: overloads for overloads, listed in _SIGNATURES.items() for name in listed.split()}


@cache
def overloads(name: str) -> dict[tuple[str, ...], str]:
    """Argument type names → result type name. ``KeyError`` for an unknown name."""
    result: dict[tuple[str, ...], str] = {}
    for overload in names()[name].split():
        arguments, _, returned = overload.partition(">")
        result[tuple([_TYPES[a] for a in arguments])] = _TYPES[returned]
    return result


def arity(name: str) -> int:
    """How many arguments the function takes."""
    return names()[name].index(">")
