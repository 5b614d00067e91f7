"""Arguments of a kernel that are computed from the others at each launch: ``@heuristics``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tritonx.kernel.interface import Grid, KernelInterface, Keywords
from tritonx.kernel.pickling import Named

if TYPE_CHECKING:
    from tritonx.explain import Report


class Heuristics(Named, KernelInterface[Any]):
    """A kernel some of whose arguments are computed from the others: ``values`` is name → function of all arguments.

    >>> whole = tritonx.heuristics({"BLOCK": lambda args: args["x"].size})(double)
    >>> x = np.ones(4)
    >>> compiled = whole[(1,)](x)
    >>> isinstance(whole, tritonx.runtime.Heuristics), x.tolist()
    (True, [2.0, 2.0, 2.0, 2.0])
    """

    def __init__(
        self, fn: Any, arg_names: Sequence[str], values: Mapping[str, Callable[[dict[str, Any]], Any]]
    ) -> None:
        self.fn = fn
        self.values = values
        self.arg_names = list(arg_names)
        self.__name__ = getattr(fn, "__name__", "kernel")

    def run(self, *args: object, **kwargs: object) -> object:
        """Launch with the computed arguments added, in their order; each sees those before it."""
        known: dict[str, object] = dict(zip(self.arg_names, args))  # noqa: B905  # ``strict=False`` costs half as much
        known.update(kwargs)
        for name, compute in self.values.items():
            kwargs[name] = known[name] = compute(known.copy())
        return self.fn.run(*args, **kwargs)

    def launch_with(self, grid: Grid, args: tuple[object, ...], keywords: Keywords) -> object:
        if type(self).run is not _RUN or "run" in self.__dict__:
            return super().launch_with(grid, args, keywords)
        known: dict[str, object] = dict(zip(self.arg_names, args))  # noqa: B905  # as above
        known.update(keywords)
        known["grid"], known["warmup"] = grid, False
        for name, compute in self.values.items():
            keywords[name] = known[name] = compute(known.copy())
        if isinstance(self.fn, KernelInterface):
            return self.fn.launch_with(grid, args, keywords)  # pyright: ignore[reportUnknownMemberType]  # whatever it launches
        return self.fn.run(*args, grid=grid, warmup=False, **keywords)

    def explain(self, /, *args: object, grid: Grid, target: str | None = None, **kwargs: object) -> Report:
        """What the compiler makes of a launch, with the computed arguments added: `JITFunction.explain`.

        >>> whole = tritonx.heuristics({"BLOCK": lambda args: args["x"].size})(double)
        >>> whole.explain(np.zeros(8), grid=(1,), target="cuda:90").facts.kernel
        'double'
        """
        known: dict[str, object] = {**dict(zip(self.arg_names, args, strict=False)), **kwargs}
        known["grid"], known["warmup"] = grid, True
        for name, compute in self.values.items():
            kwargs[name] = known[name] = compute(known.copy())
        return self.fn.explain(*args, grid=grid, target=target, **kwargs)


_RUN = Heuristics.run


def heuristics(values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Any], Heuristics]:
    """Compute the arguments named in ``values`` at each launch: ``{"EVEN": lambda args: args["n"] % 16 == 0}``.

    >>> @tritonx.heuristics({"WHOLE": lambda args: args["n"] % args["BLOCK"] == 0})
    ... @tritonx.jit
    ... def ones(x, n, BLOCK: tl.constexpr, WHOLE: tl.constexpr):
    ...     at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ...     tl.store(x + at, 1, mask=None if WHOLE else at < n)
    >>> x = np.zeros(6)
    >>> compiled = ones[(2,)](x, 6, BLOCK=4)
    >>> x.tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    return lambda fn: Heuristics(fn, fn.arg_names, values)
