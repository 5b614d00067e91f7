"""What a configuration would compile, told without compiling anything.

As for compiling ahead, a configuration is launched with ``warmup=True`` through the heuristics between the
tuner and the kernel, so that there is no second idea of what it compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace

from tritonx.backends.api import Backend, Candidate, Target
from tritonx.runtime.compiling.request import Request
from tritonx.runtime.errors import BackendContractError
from tritonx.runtime.launch.launching import asking


@dataclass(frozen=True)
class DryRun:
    """One kernel of a launch, and the grid that it runs over."""

    request: Request
    grid: tuple[int, int, int]

    @property
    def backend(self) -> Backend:
        return self.request.placement.backend

    @property
    def target(self) -> Target:
        return self.request.placement.target

    def code(self) -> Hashable:
        """What two launches share that run the same code over the same grid, as their backend says."""
        options = self.backend.code_options(self.target, self.request.options)
        wanted = type(self.request.options)
        if type(options) is not wanted:
            raise BackendContractError(
                f"code_options of backend {self.backend.name!r} gives {type(options).__name__}, not {wanted.__name__}"
            )
        return self.request.placement.device, replace(self.request, options=options).key, self.grid

    def candidate(self, name: str, given: Mapping[str, object]) -> Candidate:
        """The kernel ``name`` with a configuration that gives ``given``, as a backend is asked about it."""
        wanted = self.request.wanted
        names = list(wanted.signature)
        constants = {names[path[0]]: value for path, value in wanted.constants.items() if len(path) == 1}
        return Candidate(name, dict(given), dict(wanted.signature), constants, self.request.options, self.grid)


def dry_runs(
    launch: Callable[..., object], args: tuple[object, ...], options: Mapping[str, object]
) -> tuple[DryRun, ...]:
    """What ``launch(*args, **options)`` would compile, in its order. Raises what the launch raises."""
    found: list[DryRun] = []
    token = asking.set(lambda request, grid: found.append(DryRun(request, grid)))
    try:
        launch(*args, **{**options, "warmup": True})
    finally:
        asking.reset(token)
    return tuple(found)
