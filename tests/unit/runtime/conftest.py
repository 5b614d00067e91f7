"""A backend that records instead of computing, so that the launch path is tested without a compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tritonx.backends import registry
from tritonx.backends.api import Backend, Compilation, Driver, EmitStage, KernelImage, LoadedKernel, Options, Target
from tritonx.runtime import driver
from tritonx.runtime.compiling.sources import ASTSource


class FakeKernel:
    n_regs = 11
    n_spills = 3
    n_max_threads = 256
    function = 77

    def __init__(self, image: KernelImage, log: list[Any]) -> None:
        self.image = image
        self.log = log

    def launch(self, grid: tuple[int, int, int], stream: int, args: Sequence[Any]) -> None:
        self.log.append((self.image.name, grid, stream, tuple(args)))


class FakeDriver(Driver):
    def __init__(self, backend: FakeBackend, devices: int = 1) -> None:
        self.backend = backend
        self.devices = devices
        self.launched: list[Any] = []
        self.loaded: list[tuple[str, int]] = []
        self.memory: dict[int, bytearray] = {}
        self.device = 0

    def device_count(self) -> int:
        return self.devices

    def current_device(self) -> int:
        return self.device

    def current_stream(self, device: int) -> int:
        return 5 + device

    def current_target(self, device: int | None = None) -> Target:
        return Target(self.backend.name, "v1", 32)

    def properties(self, device: int) -> Mapping[str, int]:
        return {"multiprocessor_count": 4}

    def load(self, image: KernelImage, device: int) -> LoadedKernel:
        self.loaded.append((image.name, device))
        return FakeKernel(image, self.launched)

    def allocate(self, nbytes: int, device: int) -> int:
        address = 4096 * (len(self.memory) + 1)
        self.memory[address] = bytearray(nbytes)
        return address

    def free(self, address: int, device: int) -> None:
        del self.memory[address]

    def copy_to_device(self, destination: int, source: memoryview, device: int) -> None:
        self.memory[destination][: len(source)] = bytes(source)

    def copy_to_host(self, destination: memoryview, source: int, device: int) -> None:
        destination[:] = self.memory[source][: len(destination)]

    def synchronize(self, device: int | None = None) -> None:
        pass

    def time(self, run: Callable[[], object], repeat: int, *, flush_cache: bool = True) -> list[float]:
        times: list[float] = []
        for _ in range(repeat):
            run()
            times.append(1.0)
        return times


@dataclass(frozen=True)
class FakeOptions(Options):
    speed: int = 1
    patience: int = 1

    PORTABLE: ClassVar[frozenset[str]] = frozenset({"patience"})


class FakeBackend(Backend):
    name = "fake"
    binary_stage = "bin"
    options_type = FakeOptions
    dlpack_device_types = frozenset({1})
    torch_device_types = frozenset({"cpu"})
    array_interfaces = ("__array_interface__",)

    def __init__(self, name: str = "fake", host: bool = True, devices: int = 1) -> None:
        self.name = name  # pyright: ignore
        if not host:
            self.dlpack_device_types = frozenset({77})  # pyright: ignore
            self.torch_device_types = frozenset({name})  # pyright: ignore
            self.array_interfaces = ()  # pyright: ignore
        self.compiles: list[Any] = []
        self.own_driver = FakeDriver(self, devices)

    def parse_target(self, arch: str) -> Target:
        return Target(self.name, arch or "v1", 32)

    def known_targets(self) -> tuple[Target, ...]:
        return (Target(self.name, "v1", 32),)

    def stages(self, target: Target, options: Options) -> tuple[EmitStage, ...]:
        def binary(value: Any, compilation: Compilation) -> bytes:
            self.compiles.append((value, compilation.options))
            compilation.metadata["shared"] = 128
            return b"\x00binary of " + value.encode()

        return (EmitStage("ttir", lambda value, _: f"ttir {value}"), EmitStage("bin", binary, "binary"))

    def driver(self) -> Driver:
        return self.own_driver


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[dict[str, FakeBackend]]:
    """``fake`` runs on the host, ``chip`` has two devices of its own. The module of a kernel is its signature's
    text."""
    backends = {"fake": FakeBackend(), "chip": FakeBackend("chip", host=False, devices=2)}
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TRITONX_CACHE_DIR", raising=False)
    monkeypatch.setattr(registry, "available", lambda: backends)
    monkeypatch.setattr("tritonx.runtime.devices.drivers._drivers", {})
    monkeypatch.setattr(
        ASTSource, "make_module", lambda self, target, options: f"{self.signature} {self.constants} {self.attrs}"
    )
    driver.reset_active()
    yield backends
    driver.reset_active()


@pytest.fixture
def fake(fakes: dict[str, FakeBackend]) -> FakeBackend:
    return fakes["fake"]
