"""sin, cos, tan, sinpi, cospi of every argument.

x = n · π/2 + r with r as a pair, |r| ≤ π/4: up to 2^20 by three parts of π/2 (Cody and Waite), of which the first
product is exact in a fused multiply-add; beyond, by 256 bits of 2/π from where they matter (Payne and Hanek, 1983), in
a function of its own that hardly any lane calls."""

from __future__ import annotations

from itertools import pairwise

from tritonx.conversion.llvm_writer import Module, Writer
from tritonx.conversion.mathlib.code import Code
from tritonx.conversion.mathlib.doubles.pairs import (
    Constant,
    Pair,
    constant,
    exact,
    fast_two_sum,
    select_pair,
    square,
    two_product,
    two_sum,
)
from tritonx.conversion.mathlib.doubles.values import Double, Word, select, select_word

_SIN = (
    -0.16666666666666666, 0.008333333333333331, -0.00019841269841265052, 2.7557319219328634e-06,
    -2.505210622879051e-08, 1.605853103949209e-10, -7.586662967321083e-13,
)  # fmt: skip
_COS = (
    0.041666666666666664, -0.0013888888888888887, 2.480158730158464e-05, -2.755731922139697e-07,
    2.087675578904718e-09, -1.147046056542305e-11, 4.74585291504536e-14,
)  # fmt: skip
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
PI: Constant = (3.141592653589793, 1.2246467991473532e-16)
_TWO_OVER_PI = 0.6366197723675814
_NEAR = 2.0**20
_NAN = float("nan")

_DIGITS = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea"
    "09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b"
    "1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f7"
    "8a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361da9e391615ee61b086599855f14a06840",
    16,
)
"""2/π · 2^1408 without its fraction."""
_WORDS = 23
"""Of 64 bits, from 2^64 down: a word of zeros, then the 22 of the digits."""
LARGE = "@tx.f64.reduce"


def reduced(x: Double) -> tuple[Pair, Word]:
    """(r, n); r is NaN for infinities and NaN."""
    n, quadrant = (x * _TWO_OVER_PI).nearest()
    first = (-n).fma(_HALF_PI[0], x)
    product = two_product(n, n.const(_HALF_PI[1]))
    r = two_sum(first, -product.hi)
    r = fast_two_sum(r.hi, r.lo - (-n).fma(-_HALF_PI[2], product.lo))
    return _beyond(x, r, quadrant)


def _beyond(x: Double, near: Pair, quadrant: Word) -> tuple[Pair, Word]:
    """The reduction by all digits where x is large."""
    code, w = x.code, x.code.writer
    define_reduction(w.module)
    slow, done, start = w.new_label("large"), w.new_label("reduced"), w.block
    w.branch_if((abs(x) >= _NEAR).text, slow, done)
    w.label(slow)
    made = w.inst(f"call {_RESULT} {LARGE}(double {x.text})")
    parts = [w.inst(f"extractvalue {_RESULT} {made}, {k}") for k in range(3)]
    w.enter(done)
    given = [(near.hi.text, "double"), (near.lo.text, "double"), (quadrant.text, "i64")]
    hi, lo, n = (
        w.inst(f"phi {type_} [ {old}, %{start} ], [ {new}, %{slow} ]")
        for (old, type_), new in zip(given, parts, strict=True)
    )
    return Pair(Double(code, hi), Double(code, lo)), Word(code, n)


_RESULT = "{ double, double, i64 }"


def define_reduction(module: Module) -> None:
    """Put the reduction of large arguments into the module."""
    if LARGE in module.definitions:
        return
    module.define(LARGE, "")  # the body declares what it calls
    w = Writer(module)
    pair, quadrant = _reduce_by_digits(Double(Code(w, 0, double=True), "%x"))
    made = "poison"
    for k, part in enumerate((pair.hi, pair.lo, quadrant)):
        type_ = "i64" if k == 2 else "double"
        made = w.inst(f"insertvalue {_RESULT} {made}, {type_} {part.text}, {k}")
    head = f"define internal {_RESULT} {LARGE}(double %x) noinline nounwind {{"
    module.define(LARGE, "\n".join([head, *w.lines, f"  ret {_RESULT} {made}", "}"]))


def _reduce_by_digits(x: Double) -> tuple[Pair, Word]:
    """|x| = m · 2^(e - 52) with a 53-bit m. Of m · 2/π · 2^(e - 52), the digits that stand for multiples of 4 are left
    out: 256 bits from the one that gives a quadrant of 2 on."""
    code, w = x.code, x.code.writer
    bits = x.bits()
    e = ((bits >> 52) & 0x7FF) - 1023
    m = (bits & (1 << 52) - 1) | 1 << 52
    # Bit i behind the point of 2/π, at i + 63 in the words, has the weight 2^(e - 52 - i) in the quotient: 2 is the
    # first.
    skipped = e + 10
    words = [Word(code, str(_signed(_DIGITS >> 64 * (21 - k) & (1 << 64) - 1))) if k >= 0 else Word(code, "0")
             for k in range(-1, 22)]  # fmt: skip
    whole = skipped >> 6
    for step in (16, 8, 4, 2, 1):
        chosen = (whole & step).differs(0)
        words = [
            select_word(chosen, words[k + step] if k + step < len(words) else Word(code, "0"), words[k])
            for k in range(min(4 + step, len(words)))
        ]
    amount = skipped & 63
    window = [
        Word(code, w.call("i64", "@llvm.fshl.i64", ("i64", a.text), ("i64", b.text), ("i64", amount.text)))
        for a, b in pairwise(words)
    ]
    digits = "0"
    for word in window:
        wide = w.inst(f"zext i64 {word.text} to i256")
        digits = w.inst(f"or i256 {w.inst(f'shl i256 {digits}, 64')}, {wide}")
    product = w.inst(f"mul i256 {digits}, {w.inst(f'zext i64 {m.text} to i256')}")
    return _angle(x, product)


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def _angle(x: Double, product: str) -> tuple[Pair, Word]:
    """A quotient of 256 bits, of which the first two are before the point."""
    code, w = x.code, x.code.writer
    # Half a quadrant more: the quadrant's number rounds to nearest, what is left is signed.
    shifted = w.inst(f"add i256 {product}, {1 << 253}")
    quadrant = w.inst(f"trunc i256 {w.inst(f'lshr i256 {shifted}, 254')} to i64")
    rest = w.inst(f"sub i256 {w.inst(f'and i256 {shifted}, {(1 << 254) - 1}')}, {1 << 253}")
    negative = w.inst(f"icmp slt i256 {rest}, 0")
    size = w.inst(f"select i1 {negative}, i256 {w.inst(f'sub i256 0, {rest}')}, i256 {rest}")
    total = exact(x.const(0.0))
    for low in (203, 153, 103, 53):
        chunk = w.inst(f"trunc i256 {w.inst(f'lshr i256 {size}, {low}')} to i64")
        part = (Word(code, chunk) & (1 << 50) - 1).converted() * 2.0 ** (low - 254)
        total = total + part
    angle = total * (_HALF_PI[0], _HALF_PI[1])
    flip = w.inst(f"xor i1 {negative}, {x.is_negative().text}")
    sign = Double(code, w.inst(f"select i1 {flip}, double {code.const(-1.0)}, double {code.const(1.0)}"))
    ordinary = abs(x) < float("inf")
    sign = select(ordinary, sign, _NAN)
    n = Word(code, quadrant)
    n = select_word(x.is_negative(), x.word(0) - n, n)
    return Pair(angle.hi * sign, angle.lo * sign), n


def sine(r: Pair) -> Pair:
    """Of |r| ≤ π/4: r + r³ · S(r²), the first term as a pair."""
    z = r.hi * r.hi
    cubic = z * r.hi * z.polynomial(_SIN)
    return fast_two_sum(r.hi, (r.lo * (z * -0.5)) + cubic + r.lo)


def cosine(r: Pair) -> Pair:
    """Of |r| ≤ π/4: 1 - r²/2 + r⁴ · C(r²), the first two terms as pairs."""
    squared = square(r.hi)
    z = squared.hi
    head = fast_two_sum(r.hi.const(1.0), z * -0.5)
    low = (r.hi * r.lo + squared.lo * 0.5) - z * z * z.polynomial(_COS)
    return fast_two_sum(head.hi, head.lo - low)


def turned(r: Pair, n: Word) -> Double:
    """sin(r + n · π/2)."""
    odd = (n & 1).differs(0)
    value = select_pair(odd, cosine(r), sine(r)).value()
    return (value.bits() ^ ((n & 2) << 62)).double()


def sin(x: Double) -> Double:
    small = x.fma(x * x * (-1.0 / 6), x).signed_as(x)
    return select(abs(x) < 2.0**-27, small, turned(*reduced(x)))


def cos(x: Double) -> Double:
    r, n = reduced(x)
    return turned(r, n + 1)


def tan(x: Double) -> Double:
    r, n = reduced(x)
    s, c = sine(r), cosine(r)
    odd = (n & 1).differs(0)
    value = (select_pair(odd, -c, s) / select_pair(odd, s, c)).value()
    return select(abs(x) < 2.0**-27, x.fma(x * x * (1.0 / 3), x), value)


def half_turns(x: Double) -> tuple[Pair, Word]:
    """(r, n) of πx; n is even from 2^53 on."""
    large = abs(x) >= 2.0**40
    x = select(large, x - (x * 0.5).rounded("trunc") * 2.0, x)
    n, word = (x + x).nearest()
    return constant(x, PI) * n.fma(-0.5, x), word


def sinpi(x: Double) -> Double:
    """Zeros have the argument's sign."""
    value = turned(*half_turns(x))
    value = select(value.equals(0.0), x.const(0.0).signed_as(x), value)
    return select(abs(x) < float("inf"), value, _NAN)


def cospi(x: Double) -> Double:
    r, n = half_turns(x)
    value = turned(r, n + 1)
    value = select(value.equals(0.0), 0.0, value)
    return select(abs(x) < float("inf"), value, _NAN)
