"""A parameter may have any name that Python allows: those of builtins, of the generated binder, of Unicode."""

from __future__ import annotations

import builtins
import keyword
import linecache
import os
from random import Random
from typing import Any

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.interpreter.function import interpreted

FORMS = (
    "{name}, out",
    "out, {name}",
    "out, *, {name}",
    "out, {name}: tl.constexpr",
    "out, {name}=7",
    "out, *, {name}: tl.constexpr = 7",
)


SAMPLE = Random(int(os.environ["TRITONX_SEED"]))


def binders_names() -> set[str]:
    """What the generated code of a kernel uses, prefix and all."""
    binder = kernel("_x", "out, _x")[0].launcher._binder
    code = binder.launch.__code__
    return {*binder.launch.__globals__, *code.co_varnames, *code.co_names, binder.prefix, f"_{binder.prefix}"}


def kernel(name: str, form: str) -> tuple[Any, str]:
    """A kernel with a parameter ``name`` that stores it, one more."""
    text = f"@tritonx.jit\ndef kernel({form.format(name=name)}):\n    store(out, {name} + 1)\n"
    file = f"<parameter {name} in {form}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {"__name__": "parameter_names", "tritonx": tritonx, "tl": tl, "store": tl.store}
    exec(compile(text, file, "exec"), namespace)
    return namespace["kernel"], text


def names() -> list[str]:
    launchers = {
        "grid",
        "warmup",
        "stream",
        "device",
        "args",
        "kwargs",
        "options",
        "cls",
        "self",
        "config",
        "fn",
        "debug",
    }
    numbered = {f"{kind}{i}" for kind in ("k", "a", "s", "d", "_tx_k", "__tx_k") for i in (0, 1)}
    more = {*keyword.softkwlist, *tl.__all__, "_", "__", "__x", "é", "变量", "tritonx", "make", "arch", "maxnreg"}
    every = set(dir(builtins)) | binders_names() | launchers | numbered | more
    return sorted(filter(possible, every))


def possible(name: str) -> bool:
    """Whether a parameter of ``kernel`` may be called so."""
    return name.isidentifier() and not keyword.iskeyword(name) and name not in ("__debug__", "out", "store")


def launches(launch: Any, name: str, form: str, out: Any) -> list[Any]:
    """Every way in which a launch can give the parameter its 7."""
    ways = [lambda: launch(out=out, **{name: 7})]
    if "*" not in form:
        ways.append((lambda: launch(7, out)) if form.startswith("{") else (lambda: launch(out, 7)))
    if "=" in form:
        ways.append(lambda: launch(out))
    return ways


def test_every_name_binds(fake: Any) -> None:
    """The launcher gets its value, whatever the name and however it is given; options are beside it."""
    out = np.zeros(1, np.int32)
    found = names()
    assert {"type", "print", "_tx_k0", "TypeError", "grid", "é"} <= set(found)
    for name in found:
        for form in FORMS if name in ("type", "_tx_k0") else SAMPLE.sample(FORMS, 1):
            made, _ = kernel(name, form)
            given = made[(1,)]
            for way in launches(given, name, form, out):
                fake.own_driver.launched.clear()
                way()
                [(_, _, _, values)] = fake.own_driver.launched
                expected = (out.ctypes.data,) if "constexpr" in form else (out.ctypes.data, 7)
                assert sorted(values) == sorted(expected), (name, form)
            assert made.launcher._binder.bind(None, out=out, **{name: 7})[2] == {"out": out, name: 7}


ALWAYS = ("type", "self", "grid", "warmup", "_tx_k0", "é")


@pytest.mark.parametrize("name", [*ALWAYS, *SAMPLE.sample(sorted(filter(possible, [*dir(builtins), *tl.__all__])), 6)])
def test_a_kernel_uses_its_parameter(name: str) -> None:
    for form in FORMS:
        made, _ = kernel(name, form)
        for each in (made, interpreted(made)):
            out = np.zeros(1, np.int32)
            for way in launches(each[(1,)], name, form, out):
                out[:] = 77
                way()
                assert out[0] == 8, (each, form)


def test_an_array_may_be_called_as_an_option(fake: Any) -> None:
    """A number given for a parameter of an option's name is the option too; an array is not."""
    made, _ = kernel("num_stages", "out, num_stages")
    out = np.zeros(1, np.int32)
    assert made[(1,)](out, 5).metadata.num_stages == 5
    assert made[(1,)](out, out).metadata.num_stages == 3
    assert fake.own_driver.launched[-1][3] == (out.ctypes.data, out.ctypes.data)
