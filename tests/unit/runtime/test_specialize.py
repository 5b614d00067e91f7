"""The specialisation of arguments, against what Triton 3.6 was measured to do and against the rules of divisibility."""

from __future__ import annotations

import ast
import collections
import json
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tritonx.runtime.errors import UnsupportedArgument
from tritonx.runtime.launch.arg_spec import parse_marks
from tritonx.runtime.launch.specialize import specializer

MEASURED = json.loads((Path(__file__).parents[2] / "data" / "specialize_3.6.0.json").read_text())


class Device(NamedTuple):
    type: str
    index: int | None


class Tensor:
    """What the runtime reads of a torch tensor."""

    def __init__(self, dtype: str, address: int) -> None:
        self.dtype = dtype
        self.device = Device("cpu", None)
        self.address = address

    def data_ptr(self) -> int:
        return self.address


class dtype:  # the class name is part of the measured message
    pass


def argument(text: str) -> object:
    from tritonx.language.values.constexpr import constexpr

    tensor = re.fullmatch(r"tensor (torch\.\w+) (?:ptr%16=|off)(\d+)", text)
    if tensor:
        return Tensor(tensor[1], 4096 + int(tensor[2]))
    if text == "inf":
        return float("inf")
    if text in ("triton.language.float32", "torch.float16"):
        return dtype()
    if text.startswith("constexpr["):
        return constexpr(4)
    return ast.literal_eval(text)


@pytest.mark.parametrize("text", MEASURED)
def test_replays_the_measurements(text: str) -> None:
    expected = MEASURED[text]
    if expected.startswith("ERR"):
        kind, _, message = expected.removeprefix("ERR ").partition(": ")
        with pytest.raises({"TypeError": TypeError, "KeyError": KeyError}[kind]) as caught:
            specializer()(argument(text))
        assert message.removeprefix("failed to specialize argument of type: ").split(".")[-1] in str(caught.value)
        return
    spec, _ = specializer()(argument(text))
    type_, attribute = spec.pair()
    if text.startswith("constexpr["):
        assert (type_, attribute.value) == ("constexpr", 4)
        return
    assert str((type_, attribute)) == expected


@given(st.integers(-(2**63), 2**64 - 1).filter(lambda n: n != 1))
def test_divisibility_of_integers(value: int) -> None:
    spec, passed = specializer()(value)
    assert passed == value
    known = parse_marks(spec.attr)
    expected = next((d for d in (16, 8, 4) if value % d == 0), None)
    divisible = [["tt.divisibility", expected]] if expected else []
    assert known == divisible + ([["tt.negative", 1]] if value < 0 else [])
    bits = 32 if -(2**31) <= value < 2**31 else 64
    assert spec.type == ("u64" if value >= 2**63 else f"i{bits}")


def test_restricted_parameters() -> None:
    plain = specializer(specialize=False)
    assert plain(1)[0].pair() == ("i32", None)
    assert plain(16)[0].pair() == ("i32", None)
    assert plain(2**40)[0].pair() == ("i64", None)
    unaligned = specializer(align=False)
    assert unaligned(1)[0].pair() == ("constexpr", 1)
    assert unaligned(16)[0].pair() == ("i32", "")
    annotated = specializer(fixed_type="i64")
    assert annotated(1)[0].pair() == ("i64", "")
    assert annotated(48)[0].pair() == ("i64", "D")
    assert [annotated(x)[0].attr for x in (48, -48, -1)] == ["D", "DN", "N"]
    assert unaligned(-16)[0].attr == "N" and plain(-16)[0] is plain(16)[0]
    assert specializer(is_const=True)(np.zeros(4, np.float32))[0].type == "*kfp32"


def test_too_large_integer() -> None:
    with pytest.raises(OverflowError):
        specializer()(2**64)


@pytest.mark.parametrize("offset", range(0, 33, 3))
def test_numpy_arrays_give_address_and_alignment(offset: int) -> None:
    base = np.zeros(256, np.int8)
    start = (-base.ctypes.data) % 16
    view = base[start + offset :]
    spec, address = specializer()(view)
    assert address == view.ctypes.data
    assert spec.pair() == ("*i8", "D" if offset % 16 == 0 else "")


def test_numpy_scalars_are_numbers() -> None:
    assert specializer()(np.int64(7))[0].pair() == ("i32", "")
    assert specializer()(np.float32(7))[0].pair() == ("fp32", None)
    assert specializer()(np.bool_(True))[0].pair() == ("u1", None)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e4m3b11fnuz"])
def test_small_floats_of_ml_dtypes(name: str) -> None:
    import ml_dtypes

    spec, _ = specializer()(np.zeros(64, getattr(ml_dtypes, name)))
    assert (
        spec.type
        == {
            "bfloat16": "*bf16",
            "float8_e4m3fn": "*fp8e4nv",
            "float8_e5m2": "*fp8e5",
            "float8_e4m3fnuz": "*fp8e4b8",
            "float8_e4m3b11fnuz": "*fp8e4b15",
        }[name]
    )


@pytest.mark.parametrize("dtype", [">f4", "complex64", "U3", "O"])
def test_arrays_that_the_language_has_no_type_for(dtype: str) -> None:
    with pytest.raises(KeyError, match="cannot be kernel arguments"):
        specializer()(np.zeros(4, dtype))


def test_dlpack_alone_is_enough() -> None:
    array = np.arange(12, dtype=np.float32)

    class Foreign:
        def __dlpack__(self, **kwargs: object) -> object:
            return array.__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return array.__dlpack_device__()

    spec, address = specializer()(Foreign())
    assert spec.type == "*fp32"
    assert address == array.ctypes.data
    assert spec.location == ("dlpack", 1, 0)


def test_array_interface_alone_is_enough() -> None:
    array = np.arange(12, dtype=np.int16)
    foreign = type("Foreign", (), {"__array_interface__": property(lambda self: array.__array_interface__)})()
    spec, address = specializer()(foreign)
    assert spec.type == "*i16"
    assert address == array.ctypes.data


def test_tuples_keep_their_class() -> None:
    Point = collections.namedtuple("Point", "x y")
    spec, passed = specializer()(Point(16, (1, None)))
    assert spec.pair() == (("i32", ("constexpr", "constexpr")), ("D", (1, None)))
    assert spec.rebuild is not None
    assert type(spec.rebuild((3, 4))) is Point
    assert passed == (16, (1, None))
    assert specializer()(Point(32, (1, None)))[0] is spec
    assert specializer()((32, (1, None)))[0] is not spec


def test_restrictions_of_a_parameter_are_not_those_of_a_tuples_elements() -> None:
    array = np.zeros(64, np.float32)
    free = specializer()((1, 16, (1, array)))[0]
    for restrictions in ((False, False, True), (True, True, False), (True, False, False)):
        assert specializer(*restrictions)((1, 16, (1, array)))[0] is free


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, object(), "text", np.dtype("float32")])
def test_other_arguments_are_refused(value: object) -> None:
    with pytest.raises(UnsupportedArgument, match=rf"failed to specialize argument of type: {type(value).__name__}"):
        specializer()(value)
