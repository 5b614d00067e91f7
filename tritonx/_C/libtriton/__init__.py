"""Triton's module ``triton._C.libtriton``: the part of its bindings that libraries use."""

from tritonx._C.libtriton import ir
from tritonx.runtime.environment import getenv
from tritonx.runtime.jit import native_specialize_impl
from tritonx.runtime.keys import get_cache_invalidating_env_vars
from tritonx.runtime.knob_types import getenv_bool

__all__ = ["get_cache_invalidating_env_vars", "getenv", "getenv_bool", "ir", "native_specialize_impl"]
