"""What builtins say about wrong arguments: the type of the error and its text, as in Triton."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.ir import Block

import tritonx.language as tl
from tritonx.backends.api import Options, Target
from tritonx.frontend.semantics import IncompatibleTypeErrorImpl, Semantics, ir_type
from tritonx.ir.builder import Builder
from tritonx.language.values.tensor import tensor


def value(type_: tl.dtype) -> tensor:
    return tensor(Block(arg_types=[ir_type(type_)]).args[0], type_)


def block(element: tl.dtype, *shape: int) -> tensor:
    return value(tl.block_type(element, shape))


@pytest.fixture
def sem() -> Semantics:
    return Semantics(Builder(Block()), Options(debug=True, supported_fp8_dtypes=("fp8e4nv", "fp8e5")), Target("cpu"))


I32, F32, F64 = block(tl.int32, 16), block(tl.float32, 16), block(tl.float64, 16)
POINTER, POINTERS = value(tl.pointer_type(tl.float32)), block(tl.pointer_type(tl.float32), 16)
BYTES = block(tl.pointer_type(tl.int8), 16)
CONST = value(tl.pointer_type(tl.float32, 1, True))
MASK = block(tl.int1, 16)
BP = "please use block pointers"
LEFT, RIGHT = block(tl.float16, 32, 64), block(tl.float16, 64, 16)


def scaled(s: Any, acc: tensor, left: tensor = LEFT) -> tensor:
    return tl.dot_scaled(left, None, "fp16", RIGHT, None, "fp16", acc=acc, _semantic=s)


CASES: list[tuple[str, Callable[[Any], Any], type[Exception], str]] = [
    ("arange length", lambda s: tl.arange(0, 2**20 + 1, _semantic=s), ValueError, "numel (2097152) exceeds triton"),
    ("arange order", lambda s: tl.arange(4, 4, _semantic=s), ValueError, "end argument must be greater than the start"),
    ("arange tensor", lambda s: tl.arange(0, I32, _semantic=s), ValueError, "must be of type tl.constexpr"),
    (
        "load no pointer",
        lambda s: tl.load(F32, _semantic=s),
        ValueError,
        "Unsupported ptr type <['16'], fp32> in `tl.load`",
    ),
    (
        "load other",
        lambda s: tl.load(POINTERS, other=1.0, _semantic=s),
        ValueError,
        "`other` cannot be provided without `mask`",
    ),
    (
        "load scalar mask",
        lambda s: tl.load(POINTER, mask=MASK, _semantic=s),
        ValueError,
        "Mask argument cannot be block type if pointer argument is not a block",
    ),
    ("load boundary", lambda s: tl.load(POINTERS, boundary_check=(0,), _semantic=s), ValueError, BP),
    (
        "load mask type",
        lambda s: tl.load(POINTERS, mask=I32, _semantic=s),
        ValueError,
        "Mask must have boolean scalar type",
    ),
    (
        "load cache",
        lambda s: tl.load(POINTERS, cache_modifier=".zz", _semantic=s),
        ValueError,
        "Cache modifier .zz not supported",
    ),
    (
        "load evict",
        lambda s: tl.load(POINTERS, eviction_policy="never", _semantic=s),
        ValueError,
        "Eviction policy never not supported",
    ),
    ("store const", lambda s: tl.store(CONST, 1.0, _semantic=s), ValueError, "Cannot store to a constant pointer"),
    (
        "store block",
        lambda s: tl.store(POINTER, F32, _semantic=s),
        ValueError,
        "Value argument cannot be block type if pointer argument is not a block",
    ),
    ("store boundary", lambda s: tl.store(POINTERS, F32, boundary_check=(0,), _semantic=s), ValueError, BP),
    ("pointers", lambda s: s.add(POINTERS, POINTERS), TypeError, "cannot add pointers together"),
    (
        "pointer float",
        lambda s: s.add(POINTERS, 1.5),
        IncompatibleTypeErrorImpl,
        "invalid operands of type pointer<fp32> and",
    ),
    (
        "pointer mul",
        lambda s: s.mul(POINTERS, 2),
        IncompatibleTypeErrorImpl,
        "invalid operands of type pointer<fp32> and",
    ),
    ("shapes", lambda s: s.add(I32, block(tl.int32, 8)), ValueError, "incompatible dimensions at index 0: 16 and 8"),
    ("range", lambda s: s.add(block(tl.int8, 4), 300), ValueError, "Scalar 300 is out of range for type int8"),
    (
        "negative",
        lambda s: s.add(block(tl.uint8, 4), -1),
        ValueError,
        "between an unsigned tensor and a negative scalar",
    ),
    (
        "rounding",
        lambda s: tl.cast(F32, tl.int32, "rtz", _semantic=s),
        ValueError,
        "fp_downcast_rounding should be set only for truncating fp conversions",
    ),
    ("rounding word", lambda s: tl.cast(F32, tl.float16, "up", _semantic=s), ValueError, "Invalid rounding mode: up"),
    (
        "bitcast",
        lambda s: tl.cast(F32, tl.int64, bitcast=True, _semantic=s),
        ValueError,
        "Cannot bitcast data-type of size 32 to data-type of size 64",
    ),
    (
        "fp8",
        lambda s: tl.cast(F32, tl.float8e4b8, _semantic=s),
        ValueError,
        "type fp8e4b8 not supported in this architecture",
    ),
    (
        "atomic fp16",
        lambda s: tl.atomic_max(value(tl.pointer_type(tl.float16)), 1.0, _semantic=s),
        ValueError,
        "atomic_max does not support fp16",
    ),
    (
        "bits of floats",
        lambda s: tl.atomic_and(POINTER, 1.0, _semantic=s),
        ValueError,
        "atomic_and does not support fp32",
    ),
    (
        "quotient of storage",
        lambda s: tl.fdiv(block(tl.float8e4b15, 16), block(tl.float8e4b15, 16), _semantic=s),
        TypeError,
        "there is no arithmetic on fp8e4b15",
    ),
    ("atomic int8", lambda s: tl.atomic_add(BYTES, 1, _semantic=s), ValueError, "atomic_add does not support int8"),
    (
        "atomic sem",
        lambda s: tl.atomic_add(POINTER, 1.0, sem="soon", _semantic=s),
        ValueError,
        "Memory semantic soon not supported",
    ),
    (
        "cas width",
        lambda s: tl.atomic_cas(BYTES, 1, 2, _semantic=s),
        ValueError,
        "atomic_cas only supports elements with width {16, 32, 64}",
    ),
    (
        "atomic load order",
        lambda s: tl.atomic_load(POINTER, sem="release", _semantic=s),
        ValueError,
        "atomic_load only supports acquire and relaxed semantics",
    ),
    (
        "atomic load scope",
        lambda s: tl.atomic_load(POINTER, scope="grid", _semantic=s),
        ValueError,
        "Memory semantic grid not supported",
    ),
    (
        "atomic load of pointers",
        lambda s: tl.atomic_load(value(tl.pointer_type(tl.pointer_type(tl.int8))), _semantic=s),
        ValueError,
        "atomic_load only supports integer and floating-point elements",
    ),
    (
        "atomic store order",
        lambda s: tl.atomic_store(POINTER, 1.0, sem="acq_rel", _semantic=s),
        ValueError,
        "atomic_store only supports release and relaxed semantics",
    ),
    (
        "atomic store of a block",
        lambda s: tl.atomic_store(POINTER, I32, _semantic=s),
        ValueError,
        "Value argument cannot be block type if pointer argument is not a block",
    ),
    (
        "poll width",
        lambda s: tl.atomic_poll(BYTES, 1, _semantic=s),
        ValueError,
        "atomic_poll only supports integer elements with width {16, 32, 64}",
    ),
    (
        "scaled product of a scalar",
        lambda s: scaled(s, block(tl.float32, 32, 16), value(tl.float16)),
        AssertionError,
        "dot_scaled operands must be block tensors (not scalars)",
    ),
    (
        "scaled product's accumulator",
        lambda s: scaled(s, block(tl.float32, 16, 16)),
        AssertionError,
        "expected accumulator shape [32, 16], got [16, 16]",
    ),
    (
        "scaled product's accumulator's dtype",
        lambda s: scaled(s, block(tl.float16, 32, 16)),
        AssertionError,
        "expected accumulator dtype fp32, got fp16; pass out_dtype=fp16 to use this accumulator dtype",
    ),
    (
        "product's accumulator",
        lambda s: tl.dot(LEFT, RIGHT, acc=block(tl.float32, 16, 16), _semantic=s),
        AssertionError,
        "expected accumulator shape [32, 16], got [16, 16]",
    ),
    (
        "poll time",
        lambda s: tl.atomic_poll(value(tl.pointer_type(tl.int32)), 1, timeout_ns=1.5, _semantic=s),
        ValueError,
        "atomic_poll timeout_ns must be a scalar integer",
    ),
    (
        "poll negative time",
        lambda s: tl.atomic_poll(value(tl.pointer_type(tl.int32)), 1, timeout_ns=-1, _semantic=s),
        ValueError,
        "atomic_poll timeout_ns must be non-negative",
    ),
    ("reshape", lambda s: tl.reshape(I32, (4, 8), _semantic=s), ValueError, "cannot change total number of elements"),
    (
        "permute",
        lambda s: tl.permute(block(tl.int32, 4, 8), (0, 0), _semantic=s),
        ValueError,
        "permute dims must be a permutation of 0, 1, ..., n-1",
    ),
    ("trans", lambda s: tl.trans(I32, _semantic=s), ValueError, "tl.trans invoked with a 0- or 1-dimensional tensor"),
    ("expand", lambda s: tl.expand_dims(I32, 2, _semantic=s), ValueError, "invalid axis 2. Expected -2 <= axis < 2"),
    ("expand twice", lambda s: tl.expand_dims(I32, (0, -3), _semantic=s), ValueError, "received duplicate axes"),
    ("broadcast", lambda s: tl.broadcast_to(I32, (4, 16), _semantic=s), ValueError, "Cannot broadcast, rank mismatch"),
    ("index", lambda s: s.index(I32, tl.constexpr(16)), IndexError, "index 16 is out of range for an axis of 16"),
    ("index by a float", lambda s: s.index(I32, 1.5), TypeError, "unsupported tensor index: 1.5"),
    (
        "index of a scalar",
        lambda s: s.index(value(tl.int32), 0),
        IndexError,
        "unsupported tensor index: the block has 0 axes",
    ),
    ("two ellipses", lambda s: s.index(I32, (..., 0, ...)), IndexError, "can only have a single ellipsis"),
    ("split", lambda s: tl.split(I32, _semantic=s), AssertionError, "last axis has the extent 2"),
    (
        "cat shapes",
        lambda s: tl.cat(I32, tl.reshape(I32, (1, I32.type.shape[0]), _semantic=s), _semantic=s),
        AssertionError,
        "cat takes two blocks of one shape",
    ),
    ("cat axis", lambda s: tl.cat(I32, I32, dim=1, _semantic=s), ValueError, "invalid axis 1"),
    (
        "fdiv both",
        lambda s: tl.fdiv(F32, F32, ieee_rounding=True, approx=True, _semantic=s),
        ValueError,
        "cannot both be True",
    ),
    ("fdiv approx", lambda s: tl.fdiv(F64, F64, approx=True, _semantic=s), ValueError, "approx division is of float32"),
    ("gather", lambda s: tl.gather(I32, F32, 0, _semantic=s), AssertionError, "index must be an integer tensor"),
    (
        "gather axis",
        lambda s: tl.gather(I32, I32, 1, _semantic=s),
        AssertionError,
        "gather axis 1 must be < source rank (1)",
    ),
    (
        "histogram",
        lambda s: tl.histogram(F32, 16, _semantic=s),
        AssertionError,
        "histogram only supports integer input",
    ),
    ("program_id", lambda s: tl.program_id(3, _semantic=s), ValueError, "program_id axis must be 0, 1, or 2 but got 3"),
    (
        "hint",
        lambda s: tl.multiple_of(block(tl.int32, 4, 4), 8, _semantic=s),
        ValueError,
        "Shape of input to multiple_of does not match the length of values",
    ),
    ("hint type", lambda s: tl.max_contiguous(I32, 8.0, _semantic=s), TypeError, "must have type `constexpr[int]`"),
    ("assume", lambda s: tl.assume(MASK, _semantic=s), ValueError, "assume needs a scalar int1"),
    ("clamp", lambda s: tl.clamp(I32, 0, 1, _semantic=s), TypeError, "Only floating point clamp is supported"),
    ("exp", lambda s: tl.exp(I32, _semantic=s), ValueError, "Expected dtype ['fp32', 'fp64'] but got int32"),
    ("dot rank", lambda s: tl.dot(F32, F32, _semantic=s), AssertionError, "input and other must have equal ranks >= 2"),
    (
        "dot shape",
        lambda s: tl.dot(block(tl.float32, 16, 32), block(tl.float32, 16, 32), _semantic=s),
        AssertionError,
        "input and other must have equal reduction dimensions",
    ),
    (
        "dot both",
        lambda s: tl.dot(
            block(tl.float32, 16, 16), block(tl.float32, 16, 16), input_precision="ieee", allow_tf32=True, _semantic=s
        ),
        AssertionError,
        "Only one of input_precision and allow_tf32 can be specified",
    ),
    (
        "dot precision",
        lambda s: tl.dot(block(tl.float32, 16, 16), block(tl.float32, 16, 16), input_precision="high", _semantic=s),
        ValueError,
        "input_precision must be one of",
    ),
    ("print", lambda s: tl.device_print("é", _semantic=s), AssertionError, "Only printable ASCII characters"),
    (
        "descriptor stride",
        lambda s: tl.make_tensor_descriptor(POINTER, [8, 8], [8, 2], [4, 4], _semantic=s),
        ValueError,
        "Tensor descriptor last dim must be 1 but got 2",
    ),
    (
        "descriptor bytes",
        lambda s: tl.make_tensor_descriptor(POINTER, [8, 8], [8, 1], [4, 2], _semantic=s),
        ValueError,
        "must have at least 16 bytes in the last dimension, but got 2 * 4 = 8 bytes",
    ),
    (
        "descriptor rank",
        lambda s: tl.make_tensor_descriptor(POINTER, [], [], [], _semantic=s),
        ValueError,
        "Expected 1 <= ndim <= 5 but got 0 dimensions",
    ),
    (
        "libdevice type",
        lambda s: tl.extra.libdevice.tanh(I32, _semantic=s),
        ValueError,
        "input arg type does not match",
    ),
    (
        "libdevice arity",
        lambda s: tl.extra.libdevice.pow(F32, _semantic=s),
        TypeError,
        "libdevice.pow takes 2 arguments, got 1",
    ),
    ("truth", lambda s: s.host_value(I32), ValueError, "Boolean value of Tensor with more than one value is ambiguous"),
    (
        "block pointer mask",
        lambda s: tl.load(
            tl.make_block_ptr(POINTER, (8,), (1,), (0,), (4,), (0,), _semantic=s), mask=MASK, _semantic=s
        ),
        ValueError,
        "`mask` and `other` arguments cannot be specified for loading block pointers",
    ),
    (
        "block pointer order",
        lambda s: tl.make_block_ptr(POINTER, (8,), (1,), (0,), (4,), (1,), _semantic=s),
        ValueError,
        "Expected a permutation of (0, 1, ..., len(order)-1) in order",
    ),
]


BELOW_3_9 = {"clamp", "quotient of storage"}
"""What 3.9 takes."""


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [pytest.param(*c[1:], id=c[0], marks=[pytest.mark.level("3.8")] if c[0] in BELOW_3_9 else []) for c in CASES],
)
def test_error(sem: Semantics, call: Callable[[Any], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        call(sem)
    assert text in str(raised.value)


def test_non_boolean_condition_warns(sem: Semantics) -> None:
    with pytest.warns(UserWarning, match="tl.where with a non-boolean condition is deprecated"):
        tl.where(I32, 1, 2, _semantic=sem)


def test_shift_by_the_width_warns(sem: Semantics) -> None:
    with pytest.warns(UserWarning, match=r"Value 32 exceeds the maximum bitwidth \(32\) for type 'int32'"):
        sem.shl(I32, 32)
