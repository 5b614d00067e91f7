"""``kernel[grid](...)``: what everything that can be launched has in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeAlias, TypeVar

T = TypeVar("T")

Grid: TypeAlias = Callable[[dict[str, Any]], Any] | Sequence[Any] | SupportsIndex
"""One to three extents, or what gives them for the arguments of a launch by name."""


Keywords: TypeAlias = dict[str, Any]
"""Arguments by name."""


class KernelInterface(Generic[T]):
    """What can be launched with ``kernel[grid](...)``: kernels, autotuners, heuristics, and wrappers of libraries.

    >>> class Counted(tritonx.KernelInterface):
    ...     def run(self, *args, grid, warmup, **options):
    ...         return len(args), grid, warmup
    >>> Counted()[(4,)](1, 2, num_warps=8)
    (2, (4,), False)
    """

    run: T

    if not TYPE_CHECKING:  # what it takes is the subclass's to say

        def run(self, *args, grid, warmup, **kwargs):
            """Launch over ``grid``, or compile only."""
            raise NotImplementedError("run not implemented")

    def warmup(self, /, *args: Any, grid: Any, **kwargs: Any) -> Any:
        """Compile for these arguments without launching; dtypes may stand in for arrays."""
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True, **kwargs)  # pyright: ignore  # what `run` takes is the subclass's to say

    def launch_with(self, grid: Grid, args: tuple[object, ...], keywords: Keywords) -> object:
        """``run(*args, grid=grid, warmup=False, **keywords)``; may change ``keywords``. What wraps a kernel hands one
        dictionary on to the next by it, where ``run`` is not replaced (`runs_as`)."""
        return self.run(*args, grid=grid, warmup=False, **keywords)  # pyright: ignore  # what `run` takes is the subclass's to say

    def __getitem__(self, grid: Grid) -> Callable[..., Any]:
        """The launch of this kernel over ``grid``: one to three extents, or a function of the bound arguments."""
        launch = self.launch_with
        return lambda *args, **kwargs: launch(grid, args, kwargs)


def runs_as(kind: type[object], kernel: object) -> bool:
    """Whether it is of that kind, and no one has put a ``run`` of its own in place."""
    run = getattr(type(kernel), "run", None)
    return isinstance(kernel, kind) and run is getattr(kind, "run", None) and "run" not in vars(kernel)


class MockTensor:
    """A dtype in place of a tensor, for ``warmup``: 16-byte aligned and nowhere.

    >>> double.warmup(tritonx.MockTensor(np.dtype("float32")), BLOCK=8, grid=(1,)).name
    'double'
    """

    def __init__(self, dtype: Any, shape: Iterable[int] | None = None) -> None:
        self.dtype = dtype
        self.shape = (1,) if shape is None else tuple(shape)

    @staticmethod
    def wrap_dtype(arg: Any) -> Any:
        """``arg`` itself, or a MockTensor where it is a dtype of torch or NumPy."""
        kind: Any = arg.__class__
        if kind.__name__ == "dtype" and kind.__module__ in ("torch", "numpy"):
            return MockTensor(arg)
        if kind.__module__ == "numpy.dtypes":
            return MockTensor(arg)
        if kind is type and any(b.__module__ == "numpy" and b.__name__ == "generic" for b in arg.__mro__):
            return MockTensor(arg)
        return arg

    @staticmethod
    def data_ptr() -> int:
        return 0

    @staticmethod
    def ptr_range() -> int:
        return 0

    def stride(self) -> tuple[int, ...]:
        strides = [1]
        for size in reversed(self.shape[1:]):
            strides.append(strides[-1] * size)
        return tuple(reversed(strides))
