"""Triton's names for the compile side of a backend, for code that imports ``triton.backends.compiler``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from tritonx.backends.api import Backend, Options, Target

GPUTarget = Target
"""Triton's name: ``GPUTarget(backend, arch, warp_size)``."""


class Tensor(Protocol):
    """An argument that lies in memory."""

    def data_ptr(self) -> int: ...


class BaseBackend(Backend):
    """Triton's base class, as far as libraries call it: the specialisation of one argument."""

    @staticmethod
    def get_int_specialization(arg: int, **kwargs: object) -> str:
        return "D" if arg % 16 == 0 and kwargs.get("align", True) else ""

    @staticmethod
    def get_tensor_specialization(arg: Tensor, **kwargs: object) -> str:
        return "D" if arg.data_ptr() % 16 == 0 and kwargs.get("align", True) else ""

    @staticmethod
    def get_arg_specialization(arg: object, ty: str, **kwargs: object) -> str | None:
        """The marks of ``arg``: ``ty`` is ``int`` or ``tensor``."""
        if ty == "int":
            return BaseBackend.get_int_specialization(cast(int, arg), **kwargs)
        if ty == "tensor":
            return BaseBackend.get_tensor_specialization(cast(Tensor, arg), **kwargs)
        return None

    @staticmethod
    def parse_attr(desc: str) -> list[list[Any]]:
        """Marks → attributes of the function's argument."""
        from tritonx.runtime.specialize import parse_marks

        return parse_marks(desc)


@dataclass(frozen=True)
class TargetBackend:
    """A backend for one target: what Triton's ``make_backend`` returns."""

    backend: Backend
    target: Target

    @property
    def binary_ext(self) -> str:
        return self.backend.binary_stage

    def hash(self) -> str:
        """What, beside tritonx's own sources and a kernel's, decides the code: libraries put it into their keys."""
        from tritonx.runtime.keys import backend_key

        parts = str(self.target), self.backend.version_key(), backend_key(type(self.backend))
        return "-".join(part for part in parts if part)

    def parse_options(self, opts: Mapping[str, object]) -> Options:
        return self.backend.parse_options(self.target, opts)

    def load_dialects(self, ctx: object) -> None:
        """Triton's hook: dialects need no loading here."""

    def get_codegen_implementation(self, options: Options) -> dict[str, object]:
        """Triton's hook: what the front end asks of a backend comes from its target here."""
        return {}

    def get_module_map(self) -> dict[str, object]:
        """Triton's hook, likewise."""
        return {}

    @staticmethod
    def get_arg_specialization(arg: object, ty: str, **kwargs: object) -> str | None:
        return BaseBackend.get_arg_specialization(arg, ty, **kwargs)

    @staticmethod
    def parse_attr(desc: str) -> list[list[Any]]:
        return BaseBackend.parse_attr(desc)


def make_backend(target: Target | str) -> TargetBackend:
    """The backend that compiles for ``target``, with the methods of Triton's. Raises NoBackend."""
    from tritonx.runtime.drivers import find_backend

    if isinstance(target, str):
        from tritonx.backends.registry import parse_target

        return TargetBackend(*parse_target(target))
    return TargetBackend(find_backend(target.backend), target)
