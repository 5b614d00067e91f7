"""What the tuner asks a backend: a configuration before it is compiled, and what it would lack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tritonx.backends.contract.options import Options


@dataclass(frozen=True)
class Shortage:
    """A block of a kernel would need more of ``name`` (shared memory in bytes, registers of a thread) than a
    device of the target gives it.

    >>> Shortage(300_000, 232_448, "shared memory").required
    300000
    """

    required: int
    limit: int
    name: str


@dataclass(frozen=True)
class Candidate:
    """A configuration of a tuned kernel as a launch with it would be compiled: what a backend is asked about.

    ``given``: the keywords of the configuration, compile-time parameters and options. ``types``: the parameters' types
    by name, ``constexpr`` for what is compiled in, and ``constants`` the values of those, whether the configuration,
    the launch or a heuristic gives them. ``options``: all of them, as the backend parsed them.

    >>> from tritonx.backends.api import Options
    >>> types, constants = {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 64}
    >>> candidate = Candidate("copy", {"BLOCK": 64}, types, constants, Options(num_warps=8), (1, 1, 1))
    >>> candidate.constants["BLOCK"] * candidate.grid[0]
    64
    """

    kernel: str
    given: Mapping[str, object]
    types: Mapping[str, object]
    constants: Mapping[str, object]
    options: Options
    grid: tuple[int, int, int]
