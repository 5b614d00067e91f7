"""What backends share whose GPU is an emulator: it is there, and its memory is this process's."""

from __future__ import annotations

from tritonx.backends.api import Backend, Driver


class OnHost(Backend):
    """In front of the backend that is emulated; ``own`` is the driver."""

    own: Driver
    dlpack_device_types = frozenset({1})
    torch_device_types = frozenset({"cpu"})
    array_interfaces = ("__array_interface__",)

    def serves(self, location: tuple[str, object, int]) -> bool:
        return Backend.serves(self, location)

    def version_key(self) -> str:
        return f"{super().version_key()} emulated"

    def has_device(self) -> bool:
        return True

    def driver(self) -> Driver:
        return self.own
