"""``kernel.device_caches``: what was compiled, as Triton shows it, and forgetting it."""

from __future__ import annotations

import textwrap
from collections.abc import Generator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.runtime import knobs
from tritonx.runtime.errors import OtherKernel


@pytest.fixture
def kernel() -> Any:
    @tritonx.jit
    def store(x, value: tl.constexpr):
        tl.store(x, value)

    return store


@pytest.fixture
def asked() -> Generator[list[str]]:
    """The keys of the compiles that were asked for."""
    keys: list[str] = []
    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda key, **_: keys.append(key)
        yield keys


def test_a_device_without_kernels_has_an_entry(kernel: Any) -> None:
    for device in (0, 3, "cpu"):
        kernels, _, target, backend, _ = kernel.device_caches[device]
        assert len(kernels) == 0 and target.backend == backend.name
    assert len(kernel.device_caches) == 0


def test_keys_are_those_that_hooks_hear_and_warming_up_counts(kernel: Any, asked: list[str]) -> None:
    x = np.zeros(1, np.int32)
    compiled = kernel.warmup(x, 1, grid=(1,))
    kernels = kernel.device_caches[0][0]
    assert list(kernels) == asked and kernels[asked[0]] is compiled
    assert kernel[(1,)](x, 1) is compiled and len(kernels) == 1
    kernel[(1,)](x, 2)
    assert list(kernels) == asked and len(asked) == 2
    assert list(kernel.device_caches) == [0]
    assert set(kernel.device_caches["cpu"][0]) == set(asked) and not kernel.device_caches["cpu:1"][0]
    assert not kernel.device_caches["cuda"][0]


@pytest.mark.parametrize("how", ["all", "device", "kernel", "popped"])
def test_what_is_cleared_is_asked_for_again(kernel: Any, asked: list[str], how: str) -> None:
    x = np.zeros(1, np.int32)
    for value in (1, 2):
        kernel[(1,)](x, value)
    first = asked[0]
    if how == "all":
        kernel.device_caches.clear()
    elif how == "device":
        kernel.device_caches[0][0].clear()
    elif how == "popped":
        assert len(kernel.device_caches.pop(0)[0]) == 2
    else:
        assert kernel.device_caches[0][0].pop(first).name == "store"
        assert kernel.device_caches[0][0].pop(first, None) is None
        with pytest.raises(KeyError):
            kernel.device_caches[0][0].pop(first)
    asked.clear()
    kernel[(1,)](x, 1)
    assert asked == [first] and x[0] == 1
    kernel[(1,)](x, 2)
    assert len(asked) == (1 if how == "kernel" else 2) and x[0] == 2


def test_a_preloaded_kernel_is_not_compiled_again(kernel: Any) -> None:
    data: list[str] = []
    x = np.zeros(1, np.float32)
    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda compile, **_: data.append(compile["specialization_data"])
        kernel.warmup(x, 5, grid=(1,))
        kernel.device_caches.clear()
        preloaded = kernel.preload(data[0])
        assert list(kernel.device_caches[0][0].values()) == [preloaded]
        assert kernel[(1,)](x, 5) is preloaded and x[0] == 5
    assert len(data) == 2  # the launch compiles nothing


@tritonx.jit
def seventeen():
    return 17


@tritonx.jit
def given(out, FUNC: tl.constexpr):
    tl.store(out, FUNC())


@pytest.mark.parametrize("where", ["module", "function"])
def test_a_kernel_is_preloaded_that_takes_a_function(where: str) -> None:
    @tritonx.jit
    def thirty_one():
        return 31

    function, value = (seventeen, 17) if where == "module" else (thirty_one, 31)
    kernel, x, data = tritonx.jit(given.fn), np.zeros(1, np.int32), list[str]()
    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda compile, **_: data.append(compile["specialization_data"])
        kernel.warmup(x, function, grid=(1,))
        kernel.device_caches.clear()
        preloaded = kernel.preload(data[0])
        assert kernel[(1,)](x, function) is preloaded and x[0] == value
    assert len(data) == 2  # the launch compiles nothing


@pytest.mark.parametrize(
    ("name", "error", "reason"),
    [("twelve", tritonx.TritonError, "cannot be preloaded: it is not to be found"), ("given", OtherKernel, "changed")],
)
def test_a_function_that_is_not_there_any_more(name: str, error: type[Exception], reason: str) -> None:
    data: list[str] = []
    with knobs.runtime.scope():
        knobs.runtime.jit_cache_hook = lambda compile, **_: data.append(compile["specialization_data"])
        tritonx.jit(given.fn).warmup(np.zeros(1, np.int32), seventeen, grid=(1,))
    text = data[0].replace('"seventeen"', f'"{name}"').replace(seventeen.cache_key, "0" * 64)
    with pytest.raises(error, match=reason):
        given.preload(text)


class Postponed(Executor):
    """Runs what it was given when it is told."""

    def __init__(self) -> None:
        self.waiting: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append(lambda: future.set_result(fn(*args, **kwargs)))
        return future


def test_a_kernel_that_is_being_compiled_is_shown_as_a_future(kernel: Any) -> None:
    pool, x = Postponed(), np.zeros(1, np.int32)
    with tritonx.AsyncCompileMode(pool):
        kernel.warmup(x, 7, grid=(1,))
        shown = [*kernel.device_caches[0][0].values()]
        pool.waiting.pop()()
        kernel[(1,)](x, 7)
    assert not pool.waiting and [type(each) for each in shown] == [tritonx.FutureKernel]
    assert len(kernel.device_caches[0][0]) == 1 and x[0] == 7


def test_a_block_that_raises_does_not_wait(kernel: Any) -> None:
    """What it has not compiled would never come here."""
    pool, x = Postponed(), np.zeros(1, np.int32)
    with pytest.raises(ZeroDivisionError), tritonx.AsyncCompileMode(pool):
        pending = kernel.warmup(x, 7, grid=(1,))
        raise ZeroDivisionError
    pool.waiting.pop()()
    assert pending.name == "store"


def test_kernels_of_one_signature_are_two_in_the_background() -> None:
    @tritonx.jit
    def one(x):
        tl.store(x, 1)

    @tritonx.jit
    def two(x):
        tl.store(x, 2)

    x = np.zeros(1, np.int32)
    with ThreadPoolExecutor(2) as pool, tritonx.AsyncCompileMode(pool):
        for kernel, value in ((one, 1), (two, 2)):
            kernel.warmup(x, grid=(1,))
            kernel[(1,)](x)
            assert x[0] == value


def test_a_function_that_is_an_argument_may_get_another_text(asked: list[str]) -> None:
    @tritonx.jit
    def given():
        return 1

    @tritonx.jit
    def calls(x, FUNCTION: tl.constexpr):
        tl.store(x, FUNCTION())

    x = np.zeros(1, np.int32)
    calls[(1,)](x, given)
    text = given.src
    given._unsafe_update_src(text.replace("return 1", "return 2"))
    calls[(1,)](x, given)
    assert x[0] == 2
    given._unsafe_update_src(text)
    calls[(1,)](x, given)
    assert x[0] == 1 and len(asked) == 3


def test_a_constexpr_of_a_closure_may_not_get_another_value() -> None:
    def made(value: tl.constexpr) -> Any:
        @tritonx.jit
        def kernel(x):
            tl.store(x, value)

        return kernel

    value, x = tl.constexpr(4), np.zeros(1, np.int32)
    kernel = made(value)
    kernel[(1,)](x)
    kernel[(1,)](x)
    value.value = 5
    with pytest.raises(RuntimeError, match=r"value has changed .*, from constexpr\[4\] to constexpr\[5\]"):
        kernel[(1,)](x)
    value.value = 4
    kernel[(1,)](x)
    assert x[0] == 4


def helper() -> int:
    return 3


@tritonx.constexpr_function
def of_a_helper():
    return helper()


@tritonx.constexpr_function
def of_python(n):
    return textwrap.dedent(" " * n)


def test_a_constexpr_function_calls_no_python_that_is_not_looked_into() -> None:
    """Its value could change and the kernel would not be compiled again."""
    with pytest.raises(RuntimeError, match=r"Unsupported function referenced: .*helper"):
        _ = of_a_helper.cache_key

    @tritonx.jit
    def kernel(x):
        tl.store(x, of_a_helper())

    with pytest.raises(RuntimeError, match=r"Unsupported function referenced: .*helper"):
        kernel[(1,)](np.zeros(1, np.int32))
    assert of_python.cache_key
