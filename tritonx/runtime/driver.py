"""Which backend and device kernels run on where their arguments do not say.

``tritonx.runtime.driver`` is this module; ``driver.active`` is the backend in use, with the methods of Triton's
drivers. In order: what ``set_active`` chose, the backend that ``TRITONX_BACKEND`` names, the first backend with a
device that is not the host, the host. The first two also override the arguments of a launch; the environment is read at
the first use and by ``reset_active``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import tritonx.backends.registry as registry
from tritonx.backends.api import Backend, Driver, Target
from tritonx.runtime import knobs
from tritonx.runtime.devices.cpp_types import cpp_type
from tritonx.runtime.devices.device_array import DeviceArray, allocate
from tritonx.runtime.devices.drivers import adopt, driver_of, owner_of
from tritonx.runtime.devices.torch_interface import pytorch
from tritonx.runtime.errors import NoBackend, NoDevice, StartedBeforeFork, TritonError
from tritonx.runtime.refusals import refusing
from tritonx.runtime.settings.environment import variable

if TYPE_CHECKING:
    from tritonx.runtime.launch.measured_launch import Listener

driver = sys.modules[__name__]
"""Triton's spelling: ``from triton.runtime.driver import driver``."""

_FLUSH_BYTES = 256 << 20
"""More than the last-level caches of present devices hold; as Triton's benchmark does."""


class _Utils:
    """Triton's ``driver.active.utils``."""

    def __init__(self, owner: ActiveDriver) -> None:
        self._owner = owner

    def get_device_properties(self, device: int = 0) -> Mapping[str, int]:
        return self._owner.implementation.properties(device)


class ActiveDriver:
    """A backend's driver under the names that Triton's drivers have."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.utils = _Utils(self)

    @property
    def implementation(self) -> Driver:
        return driver_of(self.backend)

    def is_active(self) -> bool:
        """Whether the backend has a device here, even one that this process cannot use (it only compiles). The driver
        is started only where the backend cannot tell without. One that fails otherwise than by saying so has none."""
        return registry.asked(self.backend, "whether there is a device", self._has_device, otherwise=False)

    def _has_device(self) -> bool:
        found = self.backend.has_device()
        if found is not None:
            return found
        try:
            return self.implementation.device_count() > 0
        except StartedBeforeFork:
            return True
        except (TritonError, ImportError, OSError):
            return False

    def get_current_target(self) -> Target:
        return self.implementation.current_target()

    def get_current_device(self) -> int:
        return self.implementation.current_device()

    def set_current_device(self, device: int) -> None:
        """Make a device this thread's current one: PyTorch's where that is imported, else the driver's."""
        module = self._torch_module()
        if module is not None and hasattr(module, "set_device"):
            module.set_device(device)
        else:
            self.implementation.activate(device)

    def get_current_stream(self, device: int | None = None) -> int:
        own = self.implementation
        return own.current_stream(own.current_device() if device is None else device)

    def _torch_module(self) -> Any:
        """``torch.cuda`` or the like where PyTorch is imported and has a module for these devices, else None."""
        return getattr(sys.modules.get("torch"), self.torch_device_type, None)

    @property
    def torch_device_type(self) -> str:
        """The word torch uses for these devices; the backend's own name where torch knows none."""
        return next(iter(sorted(self.backend.torch_device_types)), self.backend.name)

    def get_active_torch_device(self) -> Any:
        """The ``torch.device`` of the current device; needs torch."""
        torch = pytorch()
        kind = self.torch_device_type
        return torch.device(kind) if kind == "cpu" else torch.device(kind, self.get_current_device())

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        """(major, minor) where the target's architecture is such a number; (0, 0) otherwise."""
        arch = self.implementation.current_target(device).arch
        return divmod(arch, 10) if isinstance(arch, int) else (0, 0)

    def map_python_to_cpp_type(self, ty: str) -> str:
        """The C++ type of a parameter of this type (``*fp32``, ``i32``)."""
        return cpp_type(self.backend, ty)

    def assemble_tensormap_to_arg(self, tensormaps_info: object, args: object) -> object:
        """The arguments as they are: Triton's hook for launchers."""
        return args

    def get_device_interface(self) -> Any:
        """What has ``synchronize``, ``Event``, ``current_device``: torch's module for these devices where torch is
        imported, else a stand-in over the driver."""
        module = self._torch_module()
        return module if module is not None and hasattr(module, "Event") else DeviceInterface(self)

    def get_benchmarker(self) -> Callable[..., Any]:
        """``do_bench`` on these devices."""
        from tritonx.runtime.devices.benchmark import benchmarker

        return benchmarker(self.implementation)

    def get_empty_cache_for_benchmark(self) -> DeviceArray:
        """A buffer that fills the caches when it is cleared."""
        return allocate(_FLUSH_BYTES // 4, "int32", self.backend.name)

    def clear_cache(self, cache: Any) -> None:
        """Overwrite the buffer, which puts everything else out of the caches."""
        cache.zero_()

    def __repr__(self) -> str:
        return f"ActiveDriver({self.backend.name})"


@cache
def driver_class(backend: Backend) -> type[ActiveDriver]:
    """The class of the backend's `ActiveDriver`: made without arguments, asked ``is_active()`` before that. It is what
    Triton's ``backends[name].driver`` is, and what ``driver.active`` is an instance of."""

    def init(self: ActiveDriver) -> None:
        ActiveDriver.__init__(self, backend)

    def is_active() -> bool:
        return ActiveDriver(backend).is_active()

    members = {"__doc__": ActiveDriver.__doc__, "__init__": init, "is_active": staticmethod(is_active)}
    return type(f"{backend.name.capitalize()}Driver", (ActiveDriver,), members)


def _driver_for(backend: Backend) -> ActiveDriver:
    make: Any = driver_class(backend)  # whose constructor takes nothing
    return make()


class DeviceInterface:
    """The part of ``torch.cuda`` that benchmarks use, over a driver."""

    def __init__(self, owner: ActiveDriver) -> None:
        self._owner = owner

    def synchronize(self, device: int | None = None) -> None:
        self._owner.implementation.synchronize(device)

    def current_device(self) -> int:
        return self._owner.get_current_device()

    def device_count(self) -> int:
        return self._owner.implementation.device_count()

    def get_device_capability(self, device: int | None = None) -> tuple[int, int]:
        """(major, minor) where the target's architecture is such a number; (0, 0) otherwise."""
        return self._owner.get_device_capability(device)


class _Choice:
    """What is chosen for all launches, of which ``token`` tells: it is part of every launch's key."""

    def __init__(self) -> None:
        self.active: ActiveDriver | None = None
        self.token: str | None = None
        self.instrumentation_mode = ""
        self.listener: Listener | None = None
        """Who is given what launches record of their regions."""
        self.quick: object = None
        """Who times launches in the place of hooks, while ``enters`` and ``leaves`` are all that these have: the text
        of `runtime.launch.binder` calls its ``begin``, and ``end`` or ``failed``."""
        self.read_environment = False
        self._backend: str | None = None

    def take(self, backend: str | None) -> None:
        """Launches run on this backend; None: where their arguments say."""
        self._backend = backend
        self._tell()

    def instrument(self, mode: str, listener: Listener | None = None) -> None:
        """Launches that do not say otherwise are compiled with this ``instrumentation_mode``. ``listener`` is given
        what they record (``runtime.launch.measured_launch``)."""
        self.instrumentation_mode, self.listener = mode, listener
        self._tell()

    def _tell(self) -> None:
        mode = self.instrumentation_mode
        self.token = f"{self._backend or ''} {mode}" if mode else self._backend


choice = _Choice()


def override() -> ActiveDriver | None:
    """The backend that overrides where the arguments live; None where they decide."""
    if not choice.read_environment:
        name = knobs.runtime.backend
        if name and choice.active is None:
            try:
                choice.active = _driver_for(registry.chosen(name))
            except (NoBackend, ValueError) as error:
                raise NoBackend(f"environment variable {variable('TRITON_BACKEND')}: {error}") from error
            choice.take(name)
        choice.read_environment = True
    return choice.active


def set_active(chosen: ActiveDriver | Backend | Driver | str) -> None:
    """Run every launch on this backend: its name, the backend, or its driver."""
    if isinstance(chosen, str):
        chosen = registry.get_backend(chosen.partition(":")[0])
    if isinstance(chosen, Driver):
        owner = owner_of(chosen)
        if owner is None:
            raise NoBackend(f"{chosen!r} is the driver of no backend that is in use")
        chosen = registry.get_backend(owner)
    if isinstance(chosen, Backend):
        if registry.available().get(chosen.name) is not chosen:
            adopt(chosen)
        chosen = _driver_for(chosen)
    choice.active = chosen
    choice.take(f"{chosen.backend.name}@{id(chosen.backend)}")
    choice.read_environment = True


def reset_active() -> None:
    """Let the environment and the arguments decide again."""
    choice.active = None
    choice.take(None)
    choice.read_environment = False
    _default.clear()
    override()


_default: list[ActiveDriver] = []


def _find_default() -> ActiveDriver:
    candidates = [_driver_for(backend) for backend in registry.available().values()]
    if not candidates:
        raise NoDevice("no backend is installed that could run kernels; tritonx.backends() lists what was found")
    if wanted := knobs.runtime.default_backend:
        return _device_of(wanted, candidates)
    candidates.sort(key=lambda c: 1 in c.backend.dlpack_device_types)  # the host last
    for candidate in candidates:
        if candidate.is_active():
            return candidate
    return candidates[-1]


def _device_of(wanted: str, candidates: list[ActiveDriver]) -> ActiveDriver:
    """The one that ``TRITON_DEFAULT_BACKEND`` names: a backend, or the vendor whose package brings it."""
    names = {name: c for c in candidates for name in (type(c.backend).__module__.rpartition(".")[2], c.backend.name)}
    if wanted not in names:
        raise NoBackend(f"Unknown backend device {wanted!r}. Available backends: {sorted(names)}")
    if not names[wanted].is_active():
        raise NoDevice(f"Backend device {wanted!r} is not active.")
    return names[wanted]


def default() -> ActiveDriver:
    """The best device found, whatever is set."""
    if not _default:
        _default.append(_find_default())
    return _default[0]


def get_active() -> ActiveDriver:
    """The backend in use."""
    return override() or default()


_refuse = refusing(
    __name__,
    {
        "DriverBase": "``tritonx.backends.driver`` has it",
        "DriverConfig": "the module itself is what is configured",
        "backends": "``tritonx.backends`` has them",
    },
)


def __getattr__(name: str) -> Any:
    return get_active() if name == "active" else _refuse(name)
