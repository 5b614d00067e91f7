"""sin, cos and tan in f32.

x = n·π/2 + r, |r| ≤ π/4, by three-part Cody–Waite reduction: every step is one fma, and the first is exact for n <
2^15. Lanes with |x| > 48000 send the chunk through libm one lane at a time: such arguments are rare, and being right
about them takes a multiplication by more digits of 2/π than would be worth keeping in the vector path. sin r = r +
r³·S(r²), cos r = 1 - r²/2 + r⁴·C(r²); minimax fits, relative errors 3.4e-9 and 5e-10. tan r = r + r³·T(r²), fitted
weighted to 1.3e-9, or its reciprocal: a quotient of sine and cosine would add up the errors of both. At π/4 an error of
r weighs 1.6 times as much in the tangent, so that what was rounded off of r goes in as well.
"""

from __future__ import annotations

from tritonx.conversion.mathlib.code import Code

_LIMIT = 48000.0
_PIO2 = (1.5707963705062866, -4.371139000186241e-08, -1.7151245100058819e-15)
SINE = (-0.1666666716, 0.008333329111, -0.0001983932743, 2.718236374e-06)
COSINE = (0.04166666791, -0.00138888834, 2.479951218e-05, -2.720953489e-07)
_T = (0.3333334923, 0.1333267689, 0.05405867845, 0.02128757909, 0.01082367264, 0.0001031862121, 0.004370210227)


def _reduce(code: Code, x: str) -> tuple[str, str]:
    n, quadrant = _quadrants(code, x)
    r = x
    for part in _PIO2:
        r = code.fma(n, code.const(-part), r)
    return r, quadrant


def _quadrants(code: Code, x: str) -> tuple[str, str]:
    return code.round_to_int(code.mul(x, code.const(0.6366197723675814)))


def _reduce_exactly(code: Code, x: str) -> tuple[str, str, str]:
    """(r, what was rounded off of r, quadrant): the second product and the difference with their errors (Knuth's sum
    of two numbers)."""
    n, quadrant = _quadrants(code, x)
    first, second, third = map(code.const, _PIO2)
    exact = code.fma(code.neg(n), first, x)
    product = code.mul(n, second)
    product_error = code.fma(n, second, code.neg(product))
    r = code.sub(exact, product)
    taken = code.sub(exact, r)
    error = code.add(code.sub(exact, code.add(r, taken)), code.sub(taken, product))
    low = code.sub(code.sub(error, product_error), code.mul(n, third))
    high = code.add(r, low)
    return high, code.add(code.sub(r, high), low), quadrant


def sin_cos(code: Code, r: str) -> tuple[str, str]:
    """sin r and cos r for |r| ≤ π/4."""
    square = code.mul(r, r)
    sine = code.fma(code.mul(square, r), code.polynomial(square, SINE), r)
    rest = code.fma(code.mul(square, square), code.polynomial(square, COSINE), code.mul(square, code.const(-0.5)))
    return sine, code.add(rest, code.const(1.0))


def _quadrant(code: Code, x: str, shift: int) -> str:
    """sin(x + shift·π/2): odd quadrants swap sine and cosine, the upper two change the sign."""
    r, n = _reduce(code, x)
    if shift:
        n = code.int_op("add", n, shift)
    sine, cosine = sin_cos(code, r)
    odd = code.int_compare("ne", code.int_op("and", n, 1), 0)
    value = code.select(odd, cosine, sine)
    sign = code.int_op("shl", code.int_op("and", n, 2), 30)
    return code.from_bits(code.int_op("xor", code.bits(value), sign))


def _with_large(code: Code, x: str, value: str, libm: str) -> str:
    """Replace the lanes beyond the reduction's range by calls of `libm`."""
    writer = code.writer
    large = code.compare("ogt", code.abs(x), code.const(_LIMIT))
    slow, done, start = writer.new_label("large"), writer.new_label("done"), writer.block
    writer.branch_if(code.any(large), slow, done)
    writer.label(slow)
    replaced = value
    if code.width:
        for lane in range(code.width):
            element = writer.inst(f"extractelement {code.type} {x}, i64 {lane}")
            exact = writer.call("float", libm, ("float", element))
            replaced = writer.inst(f"insertelement {code.type} {replaced}, float {exact}, i64 {lane}")
        replaced = code.select(large, replaced, value)
    else:
        replaced = writer.call("float", libm, ("float", x))
    after = writer.block
    writer.enter(done)
    return writer.inst(f"phi {code.type} [ {value}, %{start} ], [ {replaced}, %{after} ]")


def sin(code: Code, x: str) -> str:
    value = _quadrant(code, x, 0)
    value = code.select(code.compare("oeq", x, code.const(0.0)), x, value)  # -0
    return _with_large(code, x, value, "@sinf")


def cos(code: Code, x: str) -> str:
    return _with_large(code, x, _quadrant(code, x, 1), "@cosf")


def tan(code: Code, x: str) -> str:
    r, lost, n = _reduce_exactly(code, x)
    square = code.mul(r, r)
    cubic = code.mul(code.mul(square, r), code.polynomial(square, _T))
    near = code.add(r, cubic)
    slope = code.fma(near, near, code.const(1.0))
    value = code.add(r, code.fma(lost, slope, cubic))
    odd = code.int_compare("ne", code.int_op("and", n, 1), 0)
    one = code.const(1.0)
    value = code.div(code.select(odd, code.const(-1.0), value), code.select(odd, value, one))
    return _with_large(code, x, code.select(code.compare("oeq", x, code.const(0.0)), x, value), "@tanf")
