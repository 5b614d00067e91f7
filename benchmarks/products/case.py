"""What a case is: the launches of one compiler, the library's, and the exact result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

Configuration = dict[str, Any]

POISON = 0x7F7F7F7F
"""In results that are integers, before a launch; those that are floats hold NaN."""


@dataclass(frozen=True)
class Described:
    """An argument that is a tensor descriptor of a matrix, for blocks of a shape."""

    matrix: torch.Tensor
    block: tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """A launch of a kernel of `benchmarks/<module>.py`, of either compiler. ``options`` are constants and the launch's
    own."""

    module: str
    kernel: str
    grid: tuple[int, ...]
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]


Step = Call | Callable[[], object]
"""A launch, or what PyTorch does between launches."""


@dataclass(frozen=True)
class Case:
    """``steps(configuration)`` fill ``outputs``, of which ``part`` is compared with ``exact()``, in float64; the
    relative error is at most ``tolerance``. ``library`` computes the same, where PyTorch has a call for it. What is
    ``brief`` is launched from a graph, since a launch takes as long as it does. ``scratch`` is what the steps leave for
    one another. The first two configurations are those to expect most of."""

    name: str
    operations: float
    configurations: Sequence[Configuration]
    outputs: tuple[torch.Tensor, ...]
    steps: Callable[[Configuration], Sequence[Step]]
    exact: Callable[[], Sequence[torch.Tensor]]
    tolerance: float
    library: Callable[[], Sequence[torch.Tensor]] | None = None
    part: Callable[[torch.Tensor], torch.Tensor] = lambda output: output
    brief: bool = False
    scratch: tuple[torch.Tensor, ...] = ()

    def poison(self) -> None:
        for output in (*self.outputs, *self.scratch):
            output.fill_(float("nan") if output.dtype.is_floating_point else POISON)

    def error(self, outputs: Sequence[torch.Tensor], exact: Sequence[torch.Tensor]) -> float:
        """The largest: of a result's norm, or a twentieth of an element's beside itself and the mean square."""
        return largest(e for o, x in zip(outputs, exact, strict=True) for e in _errors(self.part(o).double(), x))


def _errors(found: torch.Tensor, exact: torch.Tensor) -> tuple[float, float]:
    difference, norm = found - exact, exact.norm()
    mean = norm / exact.numel() ** 0.5
    return float(difference.norm() / norm), float((difference.abs() / (exact.abs() + mean)).max()) / 20


def largest(values: Iterable[float]) -> float:
    """NaN where one is."""
    found = 0.0
    for value in values:
        found = value if not value <= found else found
        if found != found:
            break
    return found


@dataclass(frozen=True)
class Bench:
    """Where the matrices lie. A small one has a few blocks of each kind, for a host."""

    device: str = "cuda"
    small: bool = False

    def drawn(self, *shape: int, dtype: torch.dtype) -> torch.Tensor:
        if not dtype.is_floating_point:
            limits = torch.iinfo(dtype)
            return torch.randint(limits.min, limits.max + 1, shape, device=self.device, dtype=dtype)
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        return torch.randn(*shape, device=self.device, dtype=wide).to(dtype)

    def empty(self, *shape: int, dtype: torch.dtype) -> torch.Tensor:
        return torch.empty(*shape, device=self.device, dtype=dtype)

    def sizes(self, m: int, n: int, k: int) -> tuple[int, int, int]:
        return (min(m, 256), min(n, 512), min(k, 384)) if self.small else (m, n, k)


Builder = Callable[[Bench], Case]


def tiles(choices: Sequence[tuple[int, int, int, int, int]], **constants: int | str) -> list[Configuration]:
    """Of blocks of M, N and K, warps and stages."""
    return [
        {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 8, **constants, "num_warps": w, "num_stages": s}
        for m, n, k, w, s in choices
    ]  # fmt: skip


def tile_grid(m: int, n: int, c: Configuration) -> tuple[int, ...]:
    return (-(-m // c["BLOCK_M"]) * -(-n // c["BLOCK_N"]),)
