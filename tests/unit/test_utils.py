"""Triton's helpers that torch imports."""

from __future__ import annotations

import numpy as np
import pytest

from tritonx._utils import find_paths_if, get_iterable_path, set_iterable_path
from tritonx.backends.compiler import BaseBackend
from tritonx.runtime.jit import mangle_type, native_specialize_impl


def test_paths() -> None:
    nested = [1, (2, [3, "x"]), "y"]
    assert find_paths_if(nested, lambda path, value: isinstance(value, str)) == [(1, 1, 1), (2,)]
    assert get_iterable_path(nested, (1, 1, 1)) == "x"
    set_iterable_path(nested, (1, 1, 0), 5)
    assert nested == [1, (2, [5, "x"]), "y"]
    with pytest.raises(ValueError, match="at least one position"):
        set_iterable_path(nested, (), 5)


def test_specialisation_of_one_argument() -> None:
    assert native_specialize_impl(BaseBackend, 16, False, True, True) == ("i32", "D")
    assert native_specialize_impl(BaseBackend, 1, False, False, False) == ("i32", None)
    assert mangle_type(np.zeros(3, np.float16)) == "*fp16"
    assert mangle_type(1) == "i32"
    assert BaseBackend.get_arg_specialization(32, "int") == "D"
    assert BaseBackend.parse_attr("D") == [["tt.divisibility", 16]]
