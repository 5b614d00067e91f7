"""Helpers that libraries import from Triton give here what they give there."""

from __future__ import annotations

import importlib
import os
import random
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.peer
if find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

DRAW = random.Random(int(os.environ["TRITONX_SEED"]))
PACKAGES = ("triton", "tritonx")


def both(module: str) -> tuple[ModuleType, ModuleType]:
    theirs, ours = (importlib.import_module(package + module) for package in PACKAGES)
    return theirs, ours


def outcome(function: Any, *args: Any, **kwargs: Any) -> tuple[str, Any]:
    """What a call gives, or the kind and the text of what it raises."""
    try:
        return "value", function(*args, **kwargs)
    except (ValueError, TypeError, KeyError, AssertionError) as error:
        return type(error).__mro__[0].__name__, str(error)


def test_names_of_types() -> None:
    theirs, ours = both("._utils")
    assert ours.type_canonicalisation_dict == theirs.type_canonicalisation_dict
    assert ours.BITWIDTH_DICT == theirs.BITWIDTH_DICT
    for name in theirs.type_canonicalisation_dict:
        assert ours.canonicalize_dtype(f"torch.{name}") == theirs.canonicalize_dtype(f"torch.{name}")
        assert ours.canonicalize_ptr_dtype(name, True) == theirs.canonicalize_ptr_dtype(name, True)
        assert ours.get_primitive_bitwidth(name) == theirs.get_primitive_bitwidth(name)
    assert (
        outcome(ours.canonicalize_dtype, "float7")[0] == outcome(theirs.canonicalize_dtype, "float7")[0] == "KeyError"
    )


@pytest.mark.parametrize(
    "shape", [[16, 32], [1], [3], [16, 24], [1024, 1024], [2048, 1024], [16, 2.0], ["16"], [16] * 5, [1 << 21]], ids=str
)
def test_shapes_of_blocks(shape: list[Any]) -> None:
    theirs, ours = both("._utils")
    assert outcome(ours.validate_block_shape, shape) == outcome(theirs.validate_block_shape, shape)


def test_nested_paths() -> None:
    theirs, ours = both("._utils")

    def draw(depth: int) -> Any:
        kind = DRAW.choice([None, list, tuple]) if depth else None
        return DRAW.randrange(4) if kind is None else kind(draw(depth - 1) for _ in range(DRAW.randrange(4)))

    for _ in range(50):
        value = [draw(3) for _ in range(4)]
        found = ours.find_paths_if(value, lambda path, leaf: leaf == 1)
        assert found == theirs.find_paths_if(value, lambda path, leaf: leaf == 1)
        assert [ours.get_iterable_path(value, path) for path in found] == [1] * len(found)


@pytest.mark.parametrize("version", ["10.2", "11.0", "11.8", "12.0", "12.5", "12.6", "12.8", "13.0", "13.1", "14.2"])
def test_versions_of_ptx(version: str) -> None:
    theirs, ours = both(".backends.nvidia.compiler")
    assert ours.ptx_get_version(version) == theirs.ptx_get_version(version)


@pytest.mark.parametrize("capability", [75, 80, 86, 89, 90, 100])
def test_names_of_processors(capability: int) -> None:
    theirs, ours = both(".backends.nvidia.compiler")
    assert ours.sm_arch_from_capability(capability) == theirs.sm_arch_from_capability(capability)


@pytest.mark.parametrize("backend", ["nvidia", "amd"])
def test_types_of_cpp(backend: str) -> None:
    theirs, ours = both(f".backends.{backend}.driver")
    for name in ("*fp32", "*ki8", "i1", "i8", "i64", "u1", "u16", "u64", "fp16", "bf16", "fp32", "f32", "fp64"):
        assert ours.ty_to_cpp(name) == theirs.ty_to_cpp(name)
    assert ours.FLOAT_STORAGE_TYPE == theirs.FLOAT_STORAGE_TYPE
    assert ours.FLOAT_PACK_FUNCTION == theirs.FLOAT_PACK_FUNCTION


def test_the_least_products() -> None:
    for backend, function, target in (
        ("nvidia", "min_dot_size", ("cuda", 90, 32)),
        ("amd", "get_min_dot_size", ("hip", "gfx942", 64)),
    ):
        theirs, ours = both(f".backends.{backend}.compiler")
        for name in ("float8e5", "float16", "bfloat16", "float32", "int8"):
            found = []
            for package, module in zip(PACKAGES, (theirs, ours), strict=True):
                dtype = getattr(importlib.import_module(f"{package}.language"), name)
                found.append(getattr(module, function)(module.GPUTarget(*target))(dtype, dtype))
            assert found[0] == found[1]


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950", "gfx1100"])
def test_marks_of_arguments(arch: str) -> None:
    theirs, ours = both(".backends.amd.compiler")
    for marks in ("", "D", "S", "DS"):
        assert ours.HIPBackend.parse_attr(marks) == theirs.HIPBackend.parse_attr(marks)
    assert ours.is_in_thread_transpose_enabled(arch) == theirs.is_in_thread_transpose_enabled(arch)
    for copies in (False, True):
        assert ours.is_pingpong_schedule_enabled(arch, copies) == theirs.is_pingpong_schedule_enabled(arch, copies)


def test_quantiles() -> None:
    theirs, ours = both(".testing")
    values = [DRAW.random() for _ in range(DRAW.randrange(1, 20))]
    shares = [0, 1, *(DRAW.random() for _ in range(5))]
    assert ours._quantile(values, shares) == pytest.approx(theirs._quantile(values, shares), rel=1e-12)
    assert outcome(ours._quantile, values, [1.5])[0] == outcome(theirs._quantile, values, [1.5])[0] == "ValueError"


def test_settings_of_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group of its own, of every type, beside Triton's: the same readings, assignments and resets."""
    groups = []
    for package in PACKAGES:
        knobs = importlib.import_module(f"{package}.knobs")

        class mine(knobs.base_knobs):
            flag = knobs.env_bool("MINE_FLAG", True)
            number = knobs.env_int("MINE_NUMBER", 7)
            text = knobs.env_str("MINE_TEXT", "none")
            made = knobs.env_str_callable_default("MINE_MADE", lambda: "made")
            maybe = knobs.env_opt_str("MINE_MAYBE")
            either = knobs.env_opt_bool("MINE_EITHER")

        groups.append((knobs, mine()))
    (theirs, their), (ours, our) = groups
    assert our.knobs == their.knobs
    for name, text in {"FLAG": "0", "NUMBER": "12", "TEXT": "a", "MADE": "b", "MAYBE": "c", "EITHER": "1"}.items():
        monkeypatch.setenv(f"MINE_{name}", text)
        assert our.knobs == their.knobs
    for module, group in groups:
        with group.scope():
            group.flag, group.number, group.text = True, 3, "assigned"
            assert [os.environ[f"MINE_{name}"] for name in ("FLAG", "NUMBER", "TEXT")] == ["1", "3", "assigned"]
            assert group.knobs["number"] == 3
            group.number = module.env
            assert group.knobs["number"] == 3  # of the environment, where the assignment was mirrored
    assert our.knobs == their.knobs and our.number == 12
    assert theirs.toenv(True) == ours.toenv(True) and theirs.toenv([]) == ours.toenv([])


def test_specialisation_of_arguments() -> None:
    theirs, ours = both(".backends.compiler")
    for arg in (16, 17, 0, -32):
        for given in ({}, {"align": True}, {"align": False}):
            found = [m.BaseBackend.get_int_specialization(arg, **given) for m in (theirs, ours)]
            assert found[0] == found[1]


def test_tuples_of_lists() -> None:
    theirs, ours = both(".runtime.jit")
    for value in (1, [1, [2, [3]], "a"], (1, [2]), []):
        assert ours.convert_to_tuple_if_list(value) == theirs.convert_to_tuple_if_list(eval(repr(value)))
    assert ours.get_full_name(outcome) == theirs.get_full_name(outcome)
