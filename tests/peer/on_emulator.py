"""Triton's own tests, of a checkout of it, on an emulator of a GPU: as a plug-in of pytest.

    cd CHECKOUT/python/test
    PYTHONPATH=TRITONX python -m tritonx.compat -m pytest -p tests.peer.on_emulator --emulate cuda:90 --device cpu \\
        --draw 8 --seconds 600 --rootdir . --confcutdir . unit/language/test_core.py

``--emulate cuda:…`` executes the PTX that is written, ``hip:…`` the code object (``TINYGRAD`` names a checkout of
tinygrad). ``--draw N`` takes N cases of each test, by ``TRITONX_SEED``; a case may take ``--each`` seconds, and behind
``--seconds`` the rest is skipped. Tests ask PyTorch what the GPU is, and for arrays on it: it answers for the emulator,
and arrays are the host's. What tests say of the text of IR and code, Triton's passes meet and not these."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Generator
from functools import wraps
from types import SimpleNamespace
from typing import Any

import pytest
import torch  # pyright: ignore[reportMissingImports]  # only where Triton's tests run

FACTORIES = (
    "arange", "as_tensor", "empty", "empty_strided", "full", "linspace", "ones", "rand", "randint", "randn",
    "randperm", "tensor", "zeros",
)  # fmt: skip

START = time.monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("emulator")
    group.addoption("--emulate", default="cuda:90", help="the target")
    group.addoption("--draw", type=int, default=0, help="cases of each test; 0 is all")
    group.addoption("--each", type=int, default=60, help="seconds of a case")
    group.addoption("--seconds", type=float, default=float("inf"), help="seconds of all")


def pytest_configure(config: pytest.Config) -> None:
    from tritonx.runtime.driver import set_active

    kind, _, arch = config.getoption("--emulate").partition(":")
    if kind == "hip":
        from tritonx_testing.emulators.amd.backend import emulated

        torch.version.hip = "7.0"
    else:
        from tritonx_testing.emulators.ptx.backend import emulated
    backend: Any = emulated(arch)
    set_active(backend)
    answer_for(arch, divmod(int(arch), 10) if kind == "cuda" else (9, 4))


def answer_for(arch: str, capability: tuple[int, int]) -> None:
    """What PyTorch says of the GPU, and that arrays on it are the host's."""
    major, minor = capability
    said = SimpleNamespace(
        name="emulated", major=major, minor=minor, multi_processor_count=4, total_memory=1 << 34, gcnArchName=arch,
        shared_memory_per_block_optin=65536,
    )  # fmt: skip
    answers: dict[str, Any] = {
        "get_device_capability": capability, "get_device_properties": said, "is_available": True, "current_device": 0,
        "synchronize": None,
    }  # fmt: skip
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *_, answer=answer: answer)
    for name in FACTORIES:
        setattr(torch, name, on_host(getattr(torch, name)))
    moved = torch.Tensor.to
    torch.Tensor.to = lambda self, *args, **options: moved(self, *map(host, args), **options)
    torch.Tensor.cuda = lambda self, *_: self


def on_host(make: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which makes arrays of the GPU on the host."""

    @wraps(make)
    def made(*args: Any, **options: Any) -> Any:
        if "device" in options:
            options["device"] = host(options["device"])
        return make(*args, **options)

    return made


def host(device: object) -> object:
    """The host in place of the GPU; anything else as it is."""
    is_gpu = isinstance(device, str | torch.device) and str(device).startswith("cuda")
    return "cpu" if is_gpu else device


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    count = config.getoption("--draw")
    if not count:
        return
    draw = random.Random(int(os.environ.get("TRITONX_SEED") or 0))
    cases: defaultdict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[item.nodeid.split("[")[0]].append(item)
    items[:] = [item for each in cases.values() for item in draw.sample(each, min(count, len(each)))]
    draw.shuffle(items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    if time.monotonic() - START > item.config.getoption("--seconds"):
        pytest.skip("the time is over")

    def late(*_: object) -> None:
        raise TimeoutError(f"not done after {item.config.getoption('--each')} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(item.config.getoption("--each"))
    try:
        return (yield)
    finally:
        signal.alarm(0)
