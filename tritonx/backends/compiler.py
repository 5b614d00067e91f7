"""Triton's names for the compile side of a backend, for code that imports ``triton.backends.compiler``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from tritonx.backends.api import Backend, Compilation, Options, PassStage, Stage, Target, run_stages
from tritonx.backends.api import Language as Language

if TYPE_CHECKING:
    from tritonx.runtime.compiling.ir_view import ModuleView

GPUTarget = Target
"""Triton's name: ``GPUTarget(backend, arch, warp_size)``."""


class Tensor(Protocol):
    """An argument that lies in memory."""

    def data_ptr(self) -> int: ...


class BaseBackend:
    """Triton's base class: a backend for one target. `make_backend` gives a `TargetBackend`.

    >>> from tritonx.backends.compiler import make_backend
    >>> isinstance(make_backend(tritonx.runtime.driver.active.get_current_target()), BaseBackend)
    True
    """

    supports_native_tensor_specialization = True

    def __init__(self, target: Target) -> None:
        self.target = target
        if not self.supports_target(target):
            raise ValueError(f"{type(self).__name__} does not compile for {target}")

    @staticmethod
    def supports_target(target: Target) -> bool:
        """Whether this backend compiles for ``target``."""
        raise NotImplementedError

    def hash(self) -> str:
        """What, beside tritonx's own sources and a kernel's, decides the code: libraries put it into their keys."""
        raise NotImplementedError

    def parse_options(self, opts: Mapping[str, object]) -> Options:
        """The options of a compile, checked, with the target's defaults."""
        raise NotImplementedError

    def add_stages(self, stages: dict[str, Callable[..., object]], options: Options, language: object = None) -> None:
        """Put the stages of a compile into ``stages``, by name and in order: (what the one before made, or
        ``ASTSource.make_ir``, metadata) → what this one makes. They belong to one compile, since a stage may keep
        something for the next."""
        raise NotImplementedError

    def load_dialects(self, ctx: object) -> None:
        """Triton's hook: dialects need no loading here."""

    def get_module_map(self) -> dict[str, object]:
        """Triton's hook: which module ``tl.extra.libdevice`` stands for is the target's to say here."""
        return {}

    @staticmethod
    def get_int_specialization(arg: int, **kwargs: object) -> str:
        return "D" if arg % 16 == 0 and kwargs.get("align", False) else ""

    @staticmethod
    def get_tensor_specialization(arg: Tensor, **kwargs: object) -> str:
        return "D" if arg.data_ptr() % 16 == 0 and kwargs.get("align", False) else ""

    @staticmethod
    def get_arg_specialization(arg: object, ty: str, **kwargs: object) -> str | None:
        """The marks of ``arg``: ``ty`` is ``int`` or ``tensor``."""
        kwargs = {"align": True, **kwargs}
        if ty == "int":
            return BaseBackend.get_int_specialization(cast(int, arg), **kwargs)
        if ty == "tensor":
            return BaseBackend.get_tensor_specialization(cast(Tensor, arg), **kwargs)
        return None

    @staticmethod
    def parse_attr(desc: str) -> list[list[Any]]:
        """Marks → attributes of the function's argument."""
        from tritonx.runtime.launch.arg_spec import parse_marks

        return parse_marks(desc)


class Metadata(Protocol):
    """What a launcher of Triton's reads of a compiled kernel."""

    num_warps: int
    num_ctas: int
    shared: int


class TargetBackend(BaseBackend):
    """A backend of tritonx for one target: what ``make_backend`` returns."""

    def __init__(self, backend: Backend, target: Target) -> None:
        self.backend = backend
        super().__init__(target)

    def supports_target(self, target: Target) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]  # Triton's is static; here the backend's name decides
        return target.backend == self.backend.name

    @property
    def binary_ext(self) -> str:
        return self.backend.binary_stage

    def hash(self) -> str:
        from tritonx.runtime.compiling.keys import backend_key

        parts = str(self.target), self.backend.version_key(), backend_key(type(self.backend))
        return "-".join(part for part in parts if part)

    def parse_options(self, opts: Mapping[str, object]) -> Options:
        from tritonx.backends.registry import parse_options

        return parse_options(self.backend, self.target, opts)

    def add_stages(self, stages: dict[str, Callable[..., object]], options: Options, language: object = None) -> None:
        compilation = Compilation(self.target, options)
        for stage in self.backend.stages(self.target, options):
            stages[stage.name] = _stage_function(stage, compilation)

    def get_target_name(self, options: object) -> str:
        """The target as a module says it (``backend:architecture``)."""
        return str(self.target)

    def pack_metadata(self, metadata: Metadata) -> tuple[int, int, int]:
        """What Triton's launchers get of a kernel: warps, blocks of a cluster, bytes of shared memory."""
        return metadata.num_warps, metadata.num_ctas, metadata.shared

    def get_codegen_implementation(self, options: Options) -> dict[str, object]:
        """Triton's hook: what the front end asks of a backend comes from its target here."""
        return {}


def _stage_function(stage: Stage, compilation: Compilation) -> Callable[..., object]:
    def run(src: ModuleView | str | bytes, metadata: dict[str, Any]) -> object:
        from tritonx.runtime.compiling.ir_view import ModuleView

        compilation.metadata = metadata
        made = run_stages(src.module if isinstance(src, ModuleView) else src, (stage,), compilation)[stage.name]
        return ModuleView(made) if isinstance(stage, PassStage) else made

    return run


def make_backend(target: Target | str) -> TargetBackend:
    """The backend that compiles for ``target``, with the methods of Triton's. Raises NoBackend.

    >>> tritonx.compiler.make_backend("cuda:90").binary_ext
    'cubin'
    """
    from tritonx.runtime.devices.drivers import find_backend

    if isinstance(target, str):
        from tritonx.backends.registry import parse_target

        return TargetBackend(*parse_target(target))
    return TargetBackend(find_backend(target.backend), target)
