"""Kernels as functions of JAX arrays: ``tritonx.jax.call``.

JAX's arrays are immutable, and several may share their memory, so a launch refuses to store to one. ``call`` launches a
kernel on the host and returns new arrays; it works on values and under ``jax.jit``, ``jax.vmap`` and ``jax.lax.map``,
through ``jax.pure_callback``. The names of its arguments are those of jax-triton's ``triton_call``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

Grid = int | tuple[int, ...] | Callable[[dict[str, Any]], int | tuple[int, ...]]


def call(
    *args: Any,
    kernel: Any,
    out_shape: Any,
    grid: Grid,
    input_output_aliases: Mapping[int, int] | None = None,
    **metaparams: Any,
) -> Any:
    """Launch ``kernel`` on ``args`` and new arrays for its outputs, and return these.

    The kernel's parameters are ``args`` in order, then one pointer for each output, then what ``metaparams`` names:
    compile-time parameters and options such as ``num_warps``. ``args`` are arrays, traced or not, and Python's numbers,
    which stay what they are. ``out_shape`` describes the outputs: anything with ``shape`` and ``dtype``, such as
    ``jax.ShapeDtypeStruct``, or a tree of them, whose structure the result has. An output begins as zeros, or as the
    input that ``input_output_aliases`` (number of an argument → number of an output) gives it: the kernel then gets one
    array for both, and the caller's stays as it is. ``grid`` may be a function of ``metaparams``.

    The kernel runs on the CPU; arrays of other devices are copied there and back. It is a pure function to JAX, which
    may call it more or less often than the program says, and it has no derivative (``jax.custom_vjp`` gives it one).
    ``jax.vmap`` calls it for one element after the other. Raises ReadOnlyArgument where the kernel stores to an input.

    >>> @tritonx.jit
    ... def double_kernel(x, y, n, BLOCK: tl.constexpr):
    ...     i = tl.arange(0, BLOCK)
    ...     tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)
    """
    import jax as library

    jax: Any = library  # untyped, and to a type checker this module itself
    outputs, structure = jax.tree_util.tree_flatten(out_shape)
    described = [jax.ShapeDtypeStruct(tuple(each.shape), each.dtype) for each in outputs]
    aliases = dict(input_output_aliases or {})
    traced = [i for i, value in enumerate(args) if not isinstance(value, bool | int | float)]
    _check_aliases(aliases, args, traced, described)
    numbers = {i: value for i, value in enumerate(args) if i not in traced}
    run = partial(_run, kernel, grid, metaparams, described, aliases, traced, numbers)
    arrays = [args[i] for i in traced]
    results = jax.pure_callback(run, described, *arrays, vmap_method="sequential")
    return jax.tree_util.tree_unflatten(structure, results)


def _check_aliases(
    aliases: Mapping[int, int], args: Sequence[Any], traced: Sequence[int], outputs: Sequence[Any]
) -> None:
    for given, made in aliases.items():
        if given not in traced or not 0 <= made < len(outputs):
            raise ValueError(
                f"input_output_aliases has {given}: {made}, but there are {len(args)} arguments, of which "
                f"{list(traced)} are arrays, and {len(outputs)} outputs"
            )
        value, output = args[given], outputs[made]
        if (tuple(value.shape), value.dtype) != (output.shape, output.dtype):
            raise ValueError(
                f"input_output_aliases gives argument {given}, {value.dtype}{list(value.shape)}, to output {made}, "
                f"{output.dtype}{list(output.shape)}: both have one shape and dtype"
            )
    if len(set(aliases.values())) != len(aliases):
        raise ValueError(f"input_output_aliases gives one output several arguments: {dict(aliases)}")


def _run(
    kernel: Any,
    grid: Grid,
    metaparams: Mapping[str, Any],
    outputs: Sequence[Any],
    aliases: Mapping[int, int],
    traced: Sequence[int],
    numbers: Mapping[int, Any],
    *arrays: Any,
) -> list[Any]:
    """One launch, on NumPy's arrays."""
    import numpy as np

    given: dict[int, Any] = {**numbers, **{i: np.asarray(array) for i, array in zip(traced, arrays, strict=True)}}
    sources = {made: i for i, made in aliases.items()}
    results: list[Any] = []
    for number, output in enumerate(outputs):
        if number in sources:
            given[sources[number]] = result = np.array(given[sources[number]])
        else:
            result = np.zeros(output.shape, output.dtype)
        results.append(result)
    extents = grid(dict(metaparams)) if callable(grid) else grid
    kernel[extents if isinstance(extents, tuple) else (extents,)](
        *(given[i] for i in range(len(given))), *results, **metaparams
    )
    return results


__all__ = ["call"]
