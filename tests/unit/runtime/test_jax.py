"""JAX's arrays are not written to: a launch refuses to, and ``tritonx.jax.call`` returns new ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.interpreter import interpreted
from tritonx.runtime.errors import InterpreterError, ReadOnlyArgument

jax: Any = pytest.importorskip("jax")
jnp: Any = pytest.importorskip("jax.numpy")


@tritonx.jit
def double(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@tritonx.jit
def sum_and_difference(x, y, s, d, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(s + i, a + b)
    tl.store(d + i, a - b)


@tritonx.jit
def add_in_place(x, y, n, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def doubled(x: Any, block: int = 8) -> Any:
    n = x.size
    return tritonx.jax.call(
        x,
        n,
        kernel=double_of_number,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=lambda meta: (tritonx.cdiv(n, meta["BLOCK"]),),
        BLOCK=block,
    )


@tritonx.jit
def double_of_number(x, n, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


REFUSED = [
    (double, ReadOnlyArgument, r"double stores through its argument y.*tritonx\.jax\.call"),
    (interpreted(double), InterpreterError, "writes to y, which is read-only"),
]


@pytest.mark.parametrize(("kernel", "error", "words"), REFUSED, ids=["compiled", "lines"])
def test_a_store_is_refused(kernel: Any, error: type[Exception], words: str) -> None:
    target = jnp.ones(8)
    alias = target.reshape(8)
    for _ in range(2):
        with pytest.raises(error, match=words):
            kernel[(1,)](jnp.arange(8.0), target, 8, BLOCK=8)
    assert (alias == 1).all() and (target == 1).all()


def test_reading_is_allowed() -> None:
    o = np.zeros(8, np.float32)
    double[(1,)](jnp.arange(8.0), o, 8, BLOCK=8)
    assert o.tolist() == [0, 2, 4, 6, 8, 10, 12, 14]


@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16", "float16"])
def test_a_call(dtype: str) -> None:
    x = jnp.arange(19).astype(dtype)
    before = np.asarray(x).copy()
    made = doubled(x)
    assert isinstance(made, jax.Array) and made.dtype == x.dtype and made.shape == (19,)
    assert (np.asarray(made) == np.asarray(x * 2)).all() and (np.asarray(x) == before).all()


def test_under_jit_and_vmap() -> None:
    x = jnp.arange(24.0).reshape(3, 8)
    whole = jax.jit(lambda x: doubled(x.reshape(-1) + 1).reshape(3, 8) - 1)(x)
    assert (whole == (x + 1) * 2 - 1).all()
    assert (jax.vmap(doubled)(x) == x * 2).all()
    assert (jax.jit(jax.vmap(doubled))(x) == x * 2).all()
    assert (jax.lax.map(doubled, x) == x * 2).all()


def test_a_tree_of_outputs() -> None:
    x, y = jnp.arange(16.0), jnp.ones(16)
    shape = jax.ShapeDtypeStruct((16,), jnp.float32)
    made = tritonx.jax.call(
        x, y, kernel=sum_and_difference, out_shape={"s": shape, "d": shape}, grid=2, BLOCK=8, num_warps=1
    )
    assert (made["d"] == x + y).all() and (made["s"] == x - y).all()  # trees are flattened by the order of their keys


def test_outputs_that_begin_as_an_input() -> None:
    x, y = jnp.arange(8.0), jnp.ones(8)

    def run(x: Any, y: Any) -> Any:
        return tritonx.jax.call(
            x, y, 4, kernel=add_in_place, out_shape=x, grid=(1,), input_output_aliases={0: 0}, BLOCK=8
        )

    for made in (run(x, y), jax.jit(run)(x, y)):
        assert made.tolist() == [1, 2, 3, 4, 4, 5, 6, 7]
    assert x.tolist() == list(range(8))


@pytest.mark.parametrize(
    ("aliases", "words"),
    [({2: 0}, "of which"), ({0: 1}, "1 outputs"), ({0: 0, 1: 0}, "several"), ({1: 0}, "one shape and dtype")],
)
def test_aliases_that_do_not_fit(aliases: dict[int, int], words: str) -> None:
    x = jnp.arange(8.0)
    y = x if len(aliases) == 2 else jnp.ones(4)
    with pytest.raises(ValueError, match=words):
        tritonx.jax.call(x, y, 4, kernel=add_in_place, out_shape=x, grid=(1,), input_output_aliases=aliases, BLOCK=8)


def test_a_kernel_that_stores_to_its_input() -> None:
    @tritonx.jit
    def wrong(x, o):
        tl.store(x, tl.load(x) + 1)

    with pytest.raises(Exception, match="wrong stores through its argument x"):
        tritonx.jax.call(jnp.ones(1), kernel=wrong, out_shape=jnp.ones(1), grid=(1,)).block_until_ready()
