"""``kernel.device_caches``: the kernels compiled so far, as Triton shows them.

    kernels, keys, target, backend, binder = kernel.device_caches[device]

``kernels`` is a mapping of the key that the hooks of a compile get to the kernel. It is a view: what is cleared or
popped there is forgotten, so that the next launch asks the cache on disk, and compiles what that does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tritonx.backends.api import Backend, Target
    from tritonx.runtime.async_compile import FutureKernel
    from tritonx.runtime.compiling.compiled_kernel import CompiledKernel


@dataclass(frozen=True)
class Compiled:
    """A compile as the launches found it: for which device, and under which key hooks heard of it."""

    device: int
    backend: Backend
    target: Target
    key: str


Kept = Callable[[], Mapping[Compiled, "CompiledKernel | FutureKernel"]]
Forget = Callable[[Callable[[Compiled], bool]], None]


class Kernels(Mapping[str, "CompiledKernel | FutureKernel"]):
    """The kernels of one device by key; one that is being compiled is its FutureKernel."""

    def __init__(self, is_here: Callable[[Compiled], bool], kept: Kept, forget: Forget) -> None:
        self._is_here = is_here
        self._kept = kept
        self._forget = forget

    def _found(self) -> dict[str, CompiledKernel | FutureKernel]:
        return {at.key: kernel for at, kernel in self._kept().items() if self._is_here(at)}

    def __getitem__(self, key: str) -> CompiledKernel | FutureKernel:
        return self._found()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self._forget(lambda at: self._is_here(at) and at.key == key)

    def pop(self, key: str, *default: object) -> object:
        """The kernel under ``key``, forgotten; ``default`` where there is none, else a KeyError."""
        found = self._found()
        if key not in found and default:
            return default[0]
        del self[key]
        return found[key]

    def clear(self) -> None:
        """Forget the device's kernels."""
        self._forget(self._is_here)

    def __repr__(self) -> str:
        return repr(self._found())


class DeviceCaches(Mapping[object, object]):
    """Device → (kernels, keys, target, backend, binder). A device is its number, as in Triton, or what PyTorch calls it
    (``"cuda:1"``, ``"cpu"``). One that nothing was compiled for has no kernels."""

    def __init__(
        self, kept: Kept, forget: Forget, placed: Callable[[], tuple[Target, Backend]], binder: object
    ) -> None:
        """``placed``: target and backend where nothing was compiled yet."""
        self._kept = kept
        self._forget = forget
        self._placed = placed
        self._binder = binder

    def __getitem__(self, device: object) -> tuple[Kernels, dict[object, object], Target, Backend, object]:
        is_here = _on(device)
        found = next((at for at in self._kept() if is_here(at)), None)
        target, backend = self._placed() if found is None else (found.target, found.backend)
        return Kernels(is_here, self._kept, self._forget), {}, target, backend, self._binder

    def __iter__(self) -> Iterator[int]:
        return iter(dict.fromkeys(at.device for at in self._kept()))

    def __len__(self) -> int:
        return len({at.device for at in self._kept()})

    def clear(self) -> None:
        """Forget all kernels."""
        self._forget(lambda _: True)

    def pop(self, device: object) -> tuple[object, ...]:
        """The entry of ``device``, whose kernels are forgotten."""
        kernels, *rest = self[device]
        found = dict(kernels)
        kernels.clear()
        return found, *rest

    def __repr__(self) -> str:
        return repr({device: self[device][0] for device in self})


def _on(device: object) -> Callable[[Compiled], bool]:
    """Whether a compile was for ``device``."""
    if isinstance(device, int):
        return lambda at: at.device == device
    kind, _, number = str(device).partition(":")  # "cuda:1", or a torch.device
    wanted = int(number) if number.isdigit() else None
    return lambda at: kind in at.backend.torch_device_types and wanted in (None, at.device)
