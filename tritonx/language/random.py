"""``tl.random``: counter-based random numbers (Philox; Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
SC 2011).

The stream of a seed is a function of the offset: Philox-4x32, 10 rounds by default, whose first two counters are the
low and the high half of the offset. ``philox`` with counters of 64 bits is Philox-4x64.
"""

# Parameters of kernels have no Python types, and constexpr defaults are not those of their annotations.
# pyright: basic, reportArgumentType=false, reportAssignmentType=false, reportOperatorIssue=false
# pyright: reportIndexIssue=false, reportCallIssue=false, reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tritonx.kernel.declaration import declare as jit
from tritonx.language import core, math

if TYPE_CHECKING:
    from tritonx.language.types.static_types import Operand
    from tritonx.language.values.tensor import tensor

    Four: TypeAlias = tuple[tensor, tensor, tensor, tensor]

N_ROUNDS_DEFAULT = core.constexpr(10)

# Weyl constants that are added to the two halves of the key, and the two multipliers, of the 32- and the 64-bit
# generator.
_KEY_STEP_A_32 = core.constexpr(0x9E3779B9)
_KEY_STEP_B_32 = core.constexpr(0xBB67AE85)
_MULTIPLIER_A_32 = core.constexpr(0xD2511F53)
_MULTIPLIER_B_32 = core.constexpr(0xCD9E8D57)
_KEY_STEP_A_64 = core.constexpr(0x9E3779B97F4A7C15)
_KEY_STEP_B_64 = core.constexpr(0xBB67AE8584CAA73B)
_MULTIPLIER_A_64 = core.constexpr(0xD2E7470EE14C6C93)
_MULTIPLIER_B_64 = core.constexpr(0xCA5A826395121157)


@jit
def philox_impl(
    c0: tensor, c1: tensor, c2: tensor, c3: tensor, k0: tensor, k1: tensor, n_rounds: core.constexpr = N_ROUNDS_DEFAULT
) -> Four:
    """``n_rounds`` of Philox on four counters (uint32 or uint64 blocks) with the two halves of the key: four blocks
    of words.

    >>> c = tl.arange(0, 2).to(tl.uint32)
    >>> a, b, e, d = tl.philox_impl(c, c, c, c, c, c)
    >>> a
    [1713891541, 897475542]
    """
    wide: core.constexpr = c0.dtype.primitive_bitwidth == 64
    step_a: core.constexpr = _KEY_STEP_A_64 if wide else _KEY_STEP_A_32
    step_b: core.constexpr = _KEY_STEP_B_64 if wide else _KEY_STEP_B_32
    multiplier_a: core.constexpr = _MULTIPLIER_A_64 if wide else _MULTIPLIER_A_32
    multiplier_b: core.constexpr = _MULTIPLIER_B_64 if wide else _MULTIPLIER_B_32
    for _ in core.static_range(n_rounds):
        even, odd = c0, c2
        c0 = math.umulhi(multiplier_b, odd) ^ c1 ^ k0
        c2 = math.umulhi(multiplier_a, even) ^ c3 ^ k1
        c1 = core.mul(multiplier_b, odd, sanitize_overflow=False)
        c3 = core.mul(multiplier_a, even, sanitize_overflow=False)
        k0 = core.add(k0, step_a, sanitize_overflow=False)
        k1 = core.add(k1, step_b, sanitize_overflow=False)
    return c0, c1, c2, c3


@jit
def philox(
    seed: Operand, c0: Operand, c1: Operand, c2: Operand, c3: Operand, n_rounds: core.constexpr = N_ROUNDS_DEFAULT
) -> Four:
    """Four random words for each counter (c0, c1, c2, c3) under an integer seed of up to 64 bits: four blocks of
    uint32, of the counters' common shape. The counters are blocks or scalars of integers. The same as Triton's, bit
    for bit. A seed that is no integer fails an assertion of the compile.

    >>> a, b, c, d = tl.philox(7, tl.arange(0, 2), 0, 0, 0)
    >>> a
    [4099963437, 1747881627]
    """
    key = core.to_tensor(seed)
    core.static_assert(key.dtype.is_int(), "the seed of a random number must be an integer")
    key = key.to(core.uint64)
    c0 = core.to_tensor(c0)
    c1 = core.to_tensor(c1)
    c2 = core.to_tensor(c2)
    c3 = core.to_tensor(c3)
    if c0.dtype.primitive_bitwidth == 32:
        low = (key & 0xFFFFFFFF).to(core.uint32)
        high = ((key >> 32) & 0xFFFFFFFF).to(core.uint32)
        return philox_impl(
            c0.to(core.uint32, bitcast=True),
            c1.to(core.uint32, bitcast=True),
            c2.to(core.uint32, bitcast=True),
            c3.to(core.uint32, bitcast=True),
            low,
            high,
            n_rounds,
        )
    else:
        core.static_assert(c0.dtype.primitive_bitwidth == 64, "philox counters have 32 or 64 bits")
        return philox_impl(
            c0.to(core.uint64, bitcast=True),
            c1.to(core.uint64, bitcast=True),
            c2.to(core.uint64, bitcast=True),
            c3.to(core.uint64, bitcast=True),
            key,
            key * 0,
            n_rounds,
        )


@jit
def randint4x(seed: Operand, offset: Operand, n_rounds: core.constexpr = N_ROUNDS_DEFAULT) -> Four:
    """Four blocks of random uint32 words for each offset, a block or scalar of integers of up to 64 bits, of its shape;
    ``seed`` is an integer, ``n_rounds`` those of ``philox``.

    >>> a, b, c, d = tl.randint4x(7, tl.arange(0, 2))
    >>> a
    [4099963437, 1747881627]
    """
    counter = core.to_tensor(offset)
    low = counter.to(core.uint32)
    zero = low * 0
    if counter.dtype.primitive_bitwidth > 32:
        return philox(seed, low, (counter >> 32).to(core.uint32), zero, zero, n_rounds)
    else:
        return philox(seed, low, zero, zero, zero, n_rounds)


@jit
def randint(seed: Operand, offset: Operand, n_rounds: core.constexpr = N_ROUNDS_DEFAULT) -> tensor:
    """A random uint32 for each offset; see ``randint4x``, which is cheaper where four are needed.

    >>> tl.randint(7, tl.arange(0, 2))
    [4099963437, 1747881627]
    """
    word, _, _, _ = randint4x(seed, offset, n_rounds)
    return word


@jit
def uint_to_uniform_float(x: tensor) -> tensor:
    """Random words of 32 or 64 bits as fp32 in [0, 1): the magnitude of the signed word, scaled; the shape stays. Words
    of another width fail an assertion of the compile.

    >>> tl.uint_to_uniform_float(tl.arange(0, 2).to(tl.uint32) << 30)
    [0.0, 0.5]
    """
    if x.dtype.primitive_bitwidth == 32:
        signed = x.to(core.int32, bitcast=True)
        scale: core.constexpr = 4.6566127342e-10
    else:
        core.static_assert(x.dtype.primitive_bitwidth == 64, "random words have 32 or 64 bits")
        signed = x.to(core.int64, bitcast=True)
        scale: core.constexpr = 1.0842020432385337e-19
    magnitude = core.where(signed < 0, ~signed, signed)
    return magnitude * scale


@jit
def rand(seed: Operand, offset: Operand, n_rounds: core.constexpr = N_ROUNDS_DEFAULT) -> tensor:
    """Uniform fp32 in [0, 1) for each offset, a block or scalar of integers of up to 64 bits, of its shape; ``seed`` is
    an integer.

    >>> tl.rand(7, tl.arange(0, 2))
    [0.09081, 0.8139]
    """
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@jit
def rand4x(seed: Operand, offsets: Operand, n_rounds: core.constexpr = N_ROUNDS_DEFAULT) -> Four:
    """Four blocks of uniform fp32 in [0, 1); see ``rand``.

    >>> a, b, c, d = tl.rand4x(7, tl.arange(0, 2))
    >>> d
    [0.1713, 0.08429]
    """
    a, b, c, d = randint4x(seed, offsets, n_rounds)
    return uint_to_uniform_float(a), uint_to_uniform_float(b), uint_to_uniform_float(c), uint_to_uniform_float(d)


@jit
def pair_uniform_to_normal(u1: tensor, u2: tensor) -> tuple[tensor, tensor]:
    """Two independent standard normals from two blocks of uniform fp32 in [0, 1) (Box and Muller), of their shape.

    >>> u = tl.full((1,), 0.25, tl.float32)
    >>> a, b = tl.pair_uniform_to_normal(u, u)
    >>> b
    [1.665]
    """
    u1 = core.maximum(1.0e-7, u1)
    angle = 6.283185307179586 * u2
    radius = math.sqrt(-2.0 * math.log(u1))
    return radius * math.cos(angle), radius * math.sin(angle)


@jit
def randn(seed: Operand, offset: Operand, n_rounds: core.constexpr = N_ROUNDS_DEFAULT) -> tensor:
    """A standard normal fp32 for each offset; see ``rand``.

    >>> tl.randn(7, tl.arange(0, 2))
    [-2.19, -0.5406]
    """
    a, b, _, _ = randint4x(seed, offset, n_rounds)
    normal, _ = pair_uniform_to_normal(uint_to_uniform_float(a), uint_to_uniform_float(b))
    return normal


@jit
def randn4x(seed: Operand, offset: Operand, n_rounds: core.constexpr = N_ROUNDS_DEFAULT) -> Four:
    """Four blocks of standard normal fp32; see ``rand``.

    >>> a, b, c, d = tl.randn4x(7, tl.arange(0, 2))
    >>> d
    [1.513, 0.7385]
    """
    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)
    n1, n2 = pair_uniform_to_normal(u1, u2)
    n3, n4 = pair_uniform_to_normal(u3, u4)
    return n1, n2, n3, n4
