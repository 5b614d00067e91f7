"""Triton's names for the compile side of a backend, for code that imports ``triton.backends.compiler``."""

from __future__ import annotations

from typing import Any

from tritonx.backends.api import Backend, Target

GPUTarget = Target
"""Triton's name: ``GPUTarget(backend, arch, warp_size)``."""


class BaseBackend(Backend):
    """Triton's base class, as far as libraries call it: the specialisation of one argument."""

    @staticmethod
    def get_int_specialization(arg: int, **kwargs: Any) -> str:
        return "D" if arg % 16 == 0 and kwargs.get("align", True) else ""

    @staticmethod
    def get_tensor_specialization(arg: Any, **kwargs: Any) -> str:
        return "D" if arg.data_ptr() % 16 == 0 and kwargs.get("align", True) else ""

    @staticmethod
    def get_arg_specialization(arg: Any, ty: str, **kwargs: Any) -> str | None:
        """The marks of ``arg``: ``ty`` is ``int`` or ``tensor``."""
        if ty == "int":
            return BaseBackend.get_int_specialization(arg, **kwargs)
        if ty == "tensor":
            return BaseBackend.get_tensor_specialization(arg, **kwargs)
        return None

    @staticmethod
    def parse_attr(desc: str) -> list[list[Any]]:
        """Marks → attributes of the function's argument."""
        from tritonx.runtime.specialize import parse_marks

        return parse_marks(desc)
