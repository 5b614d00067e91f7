"""Triton's ``_filecheck``: a kernel held against the checks in its comments."""

from __future__ import annotations

import sys

import pytest

import tritonx
from tritonx._filecheck import MatchError, NoFileCheck, filecheck_test, run_filecheck, run_filecheck_test, run_parser
from tritonx.backends.api import Target


@tritonx.jit
def summed(x, n, by: tritonx.language.constexpr):
    tritonx.language.store(x, n + by)


@tritonx.jit
def copied(x):
    tritonx.language.store(x + 1, tritonx.language.load(x, cache_modifier=".cg"))


def test_a_module() -> None:
    text = run_parser(summed, args=(tritonx.MockTensor(tritonx.language.float32), 7), kwargs={"by": 3}).str_nodebug()
    assert "tt.func public @summed(%x: !tt.ptr<f32>" in text and "%n: i32" in text
    assert "3 : i32" in run_parser(summed, (tritonx.MockTensor(tritonx.language.int32), 7, 3)).str_nodebug()


def test_the_target_says_what_is_possible() -> None:
    assert "tt.func" in str(
        run_parser(summed, (tritonx.MockTensor(tritonx.language.int32), 7, 3), target=Target("hip", "gfx942", 64))
    )
    with pytest.raises(KeyError, match="no_option"):
        run_parser(ranges, (), {"no_option": 1})


@tritonx.jit
def ranges() -> None:
    # CHECK-LABEL: ranges
    # CHECK: [[AT:%.*]] = tt.make_range {end = 16 : i32, start = 0 : i32}
    # CHECK-NEXT: arith.addi [[AT]], [[AT]]
    at = tritonx.language.arange(0, 16)
    at + at


test_a_kernel_as_a_test = filecheck_test(ranges)


def test_a_check_that_fails() -> None:
    @tritonx.jit
    def wrong() -> None:
        # CHECK-LABEL: wrong
        # CHECK: tt.make_range
        pass

    with pytest.raises(ValueError, match=r"expected string not found in input\n # CHECK: tt.make_range") as caught:
        run_filecheck_test(wrong)
    assert isinstance(caught.value, MatchError) and "tt.func public @wrong" in caught.value.module_str
    assert str(caught.value).endswith(caught.value.module_str)


def test_a_check_of_what_is_not_to_be() -> None:
    with pytest.raises(MatchError, match=r"this check fails\n# CHECK-NOT: b\n.*excluded string"):
        run_filecheck("text", "a\nb\n", "# CHECK-NOT: b")


def test_a_text_without_checks() -> None:
    with pytest.raises(MatchError, match="No check strings"):
        run_filecheck("text", "a\n", "nothing")


def test_what_is_no_kernel() -> None:
    with pytest.raises(AssertionError, match="a kernel that @jit made"):
        run_filecheck_test(len)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "filecheck.matcher", None)
    with pytest.raises(NoFileCheck, match="pip install filecheck"):
        run_filecheck("text", "a\n", "# CHECK: a")


def test_the_text_of_a_version() -> None:
    module = run_parser(copied, args=(tritonx.MockTensor(tritonx.language.float32),))
    assert "cacheModifier = cg" in module.str_at("3.8")
    assert "cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>" in module.str_at("3.9")
