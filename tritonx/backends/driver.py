"""Triton's names for the run side of a backend, for code that imports ``triton.backends.driver``."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol

from tritonx.backends.api import Target
from tritonx.runtime.driver import ActiveDriver


class Benchmarker(Protocol):
    """Times a kernel's call: milliseconds, at the quantiles asked for."""

    def __call__(
        self, kernel_call: Callable[[], object], *, quantiles: list[float], **kwargs: object
    ) -> Sequence[float]: ...


class DriverBase(metaclass=ABCMeta):
    """What a driver of Triton's derives from. ``tritonx.runtime.driver.set_active`` takes a backend, or its name: a
    class derived from this one can be asked, and is nothing that kernels are launched with. tritonx's own drivers
    (``driver.active``) count as derived.

    >>> isinstance(tritonx.runtime.driver.active, DriverBase)
    True
    """

    @classmethod
    @abstractmethod
    def is_active(cls) -> bool:
        """Whether its device is here."""

    @abstractmethod
    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C++ type of a parameter of this type (``*fp32``, ``i32``)."""

    @abstractmethod
    def get_current_target(self) -> Target:
        """What kernels are compiled for."""

    @abstractmethod
    def get_active_torch_device(self) -> object:
        """The ``torch.device`` of the current device."""

    @abstractmethod
    def get_benchmarker(self) -> Benchmarker:
        """What times kernels."""


class GPUDriver(DriverBase):
    """Triton's base class of drivers of GPUs.

    >>> from tritonx.backends.driver import DriverBase
    >>> issubclass(GPUDriver, DriverBase)
    True
    """

    def assemble_tensormap_to_arg(self, tensormaps_info: object, args: object) -> object:
        """The arguments as they are."""
        return args


DriverBase.register(ActiveDriver)
