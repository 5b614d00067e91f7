"""Triton's module ``triton._C.libtriton``: the part of its bindings that libraries use."""

from typing import TYPE_CHECKING

from tritonx._C.libtriton import ir
from tritonx.runtime.bindings import ABSENT
from tritonx.runtime.compiling.keys import get_cache_invalidating_env_vars
from tritonx.runtime.jit import native_specialize_impl
from tritonx.runtime.refusals import refusing
from tritonx.runtime.settings.environment import getenv
from tritonx.runtime.settings.knob_types import getenv_bool
from tritonx.runtime.submodules import loading

__all__ = ["get_cache_invalidating_env_vars", "getenv", "getenv_bool", "ir", "native_specialize_impl"]

if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = refusing(__name__, ABSENT, loading(__name__, ("linear_layout", "nvidia")))
