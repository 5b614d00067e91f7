"""fmod and remainder, exact: long division of the integers that the numbers are, eleven bits of quotient at a time."""

from __future__ import annotations

from tritonx.conversion.mathlib.doubles.values import Double, Truth, Word, select, select_word

_INFINITY, _NAN = float("inf"), float("nan")
_STEP = 11
"""A rest of 53 bits has room for so many more."""


def _integer(size: Double) -> tuple[Word, Word]:
    """(m, e): a finite number is m · 2^e with m below 2^53 and the e of its format, subnormal or not."""
    bits = size.bits()
    biased = bits >> 52
    normal = biased > 0
    m = (bits & (1 << 52) - 1) | select_word(normal, size.word(1 << 52), size.word(0))
    return m, select_word(normal, biased, size.word(1))


def _divided(a: Double, b: Double) -> tuple[Double, Truth]:
    """(a mod b, whether the integral quotient is odd) of finite a ≥ 0, b > 0."""
    w, code = a.code.writer, a.code
    (ma, ea), (mb, eb) = _integer(a), _integer(b)
    left = ea - eb
    smaller = left < 0
    start = select_word(smaller, a.word(0), ma)
    count = select_word(smaller, a.word(0), left)
    first_quotient = Word(code, w.inst(f"udiv i64 {start.text}, {mb.text}"))
    first_rest = start - first_quotient * mb
    before, loop, done = w.block, w.new_label("divide"), w.new_label("divided")
    names = [w.name(), w.name()]
    w.branch_if((count > 0).text, loop, done)
    w.label(loop)
    at = len(w.lines)
    rest, todo = Word(code, names[0]), Word(code, names[1])
    step = select_word(todo < _STEP, todo, _STEP)
    wide = rest << step
    quotient = Word(code, w.inst(f"udiv i64 {wide.text}, {mb.text}"))
    new_rest, new_todo = wide - quotient * mb, todo - step
    w.lines[at:at] = [
        f"  {names[0]} = phi i64 [ {first_rest.text}, %{before} ], [ {new_rest.text}, %{loop} ]",
        f"  {names[1]} = phi i64 [ {count.text}, %{before} ], [ {new_todo.text}, %{loop} ]",
    ]
    w.branch_if((new_todo > 0).text, loop, done)
    w.label(done)
    rest = Word(code, w.inst(f"phi i64 [ {first_rest.text}, %{before} ], [ {new_rest.text}, %{loop} ]"))
    last = Word(code, w.inst(f"phi i64 [ {first_quotient.text}, %{before} ], [ {quotient.text}, %{loop} ]"))
    value = rest.converted()
    value = _times_ulp(value, eb)
    return select(smaller, a, value), (last & 1).differs(0) & ~smaller


def _times_ulp(value: Double, biased: Word) -> Double:
    """value · 2^(biased - 1075): exact, for the integer has no more bits than the divisor."""
    return value.scaled(biased - 1075)


def _finite(x: Double, y: Double) -> Truth:
    return (abs(x) < _INFINITY) & (abs(y) > 0.0)


def fmod(x: Double, y: Double) -> Double:
    """The rest has the sign of x."""
    fine = _finite(x, y) & ~y.is_nan()
    bounded = (abs(y) < _INFINITY) & fine
    value, _ = _divided(select(bounded, abs(x), 1.0), select(bounded, abs(y), 1.0))
    value = select(bounded, value, abs(x))
    return select(fine, value.signed_as(x), _NAN)


def remainder(x: Double, y: Double) -> Double:
    """IEEE 754's: the quotient is rounded to nearest, halves to even."""
    fine = _finite(x, y) & ~y.is_nan()
    bounded = (abs(y) < _INFINITY) & fine
    b = select(bounded, abs(y), 1.0)
    rest, odd = _divided(select(bounded, abs(x), 1.0), b)
    other = b - rest
    up = (rest > other) | (rest.equals(other) & odd)
    value = select(bounded, select(up, -other, rest), abs(x))
    return select(fine, select(x.is_negative(), -value, value), _NAN)
