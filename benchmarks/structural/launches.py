"""Jobs of launches: while a program runs, each launch of a kernel is understood and not made.

A tuned kernel is launched with its first configurations. What a program asks of a GPU it gets on the host."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from .declared import ALIGNED, plain
from .job import Job

LAUNCH = ("num_warps", "num_stages", "num_ctas", "maxnreg")


class Launches:
    """What was launched since it was made. ``configurations``: how many of a tuned kernel's."""

    def __init__(self, suite: str, paths: Sequence[str], configurations: int = 2) -> None:
        self.suite = suite
        self.paths = tuple(paths)
        self.configurations = configurations
        self.jobs: list[Job] = []
        self.refused: list[str] = []

    def launched(self, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            self.jobs.append(self._job(kernel, args, kwargs))
        except Exception as problem:
            self.refused.append(f"{self.suite}/{kernel.fn.__name__}: {type(problem).__name__}: {problem}")
        return SimpleNamespace(n_regs=0, n_spills=0, metadata=SimpleNamespace(shared=0), asm={})

    def _job(self, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Job:
        given = {**dict(zip(kernel.arg_names, args, strict=False)), **kwargs}
        signature: dict[str, str] = {}
        constants: list[tuple[int, Any]] = []
        attrs: list[tuple[int, list[list[Any]]]] = []
        for parameter in kernel.params:
            value = given[parameter.name] if parameter.name in given else parameter.default
            type_, marks = ("constexpr", "") if parameter.is_constexpr else _specialised(parameter, value)
            signature[parameter.name] = type_
            if type_ == "constexpr":
                constants.append((parameter.num, plain(value)))
            elif "D" in (marks or ""):
                attrs.append((parameter.num, ALIGNED))
        options = {name: given[name] for name in LAUNCH if given.get(name) is not None}
        file = self._file(kernel)
        return Job(self._name(kernel, signature, dict(constants), options), file, kernel.fn.__name__, signature,
                   constants, attrs, options, (str(Path(file).parent), *self.paths))  # fmt: skip

    @staticmethod
    def _file(kernel: Any) -> str:
        """The source; of a copy in which `peers.py` has changed the import, what it is a copy of."""
        file = Path(inspect.getsourcefile(kernel.fn) or "")
        if file.stem.endswith("_tritonx"):
            return str(Path(__file__).parents[1] / f"{file.stem.removesuffix('_tritonx')}.py")
        return str(file)

    def _name(self, kernel: Any, signature: dict[str, str], constants: dict[int, Any], options: dict[str, Any]) -> str:
        numbers = [f"{kernel.arg_names[i]}={v}" for i, v in constants.items() if type(v) in (int, bool, str) and v != 1]
        types = dict.fromkeys(t.removeprefix("*") for t in signature.values() if t.startswith(("*", "tensordesc")))
        warps = [f"{name.removeprefix('num_')} {value}" for name, value in options.items()]
        return f"{self.suite}/{kernel.fn.__name__} {' '.join([*list(types)[:2], *numbers, *warps])}"


def _specialised(parameter: Any, value: Any) -> tuple[str, str]:
    """Its type and marks, as a launch on a GPU sees it."""
    from triton.runtime.jit import native_specialize_impl

    if value is None:
        return "constexpr", ""
    type_, marks = native_specialize_impl(
        None, value, parameter.is_const, not parameter.do_not_specialize, not parameter.do_not_specialize_on_alignment
    )
    if not isinstance(type_, str):
        raise ValueError(f"{parameter.name} is of {type(value).__name__}")
    return type_, marks


@contextmanager
def recording(launches: Launches) -> Iterator[None]:
    """Launches of this process go there; ``cuda`` is the host, of which a GPU's properties are told."""
    import triton
    from triton.runtime.autotuner import Autotuner

    def run(self: Any, /, *args: Any, grid: Any = None, warmup: bool = False, **kwargs: Any) -> Any:
        return launches.launched(self, args, kwargs)

    def tuned(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        for config in self.configs[: launches.configurations]:
            launched = self.fn.run(*args, **{**kwargs, **config.all_kwargs()})
        return launched

    with ExitStack() as stack:
        stack.enter_context(mock.patch.object(triton.JITFunction, "run", run))
        stack.enter_context(mock.patch.object(Autotuner, "run", tuned))
        stack.enter_context(on_the_host())
        yield


@contextmanager
def on_the_host(device: str = "cpu") -> Iterator[None]:
    """PyTorch's calls for a GPU's memory get the host's."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Host(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            def here(value: Any) -> Any:
                named = isinstance(value, str | torch.device) and str(value).startswith("cuda")
                return device if named else value

            if func is torch.Tensor.cuda:
                return args[0]
            return func(*map(here, args), **{k: here(v) for k, v in (kwargs or {}).items()})

    properties = SimpleNamespace(name="NVIDIA H200", major=9, minor=0, multi_processor_count=132,
                                 shared_memory_per_block_optin=232448, total_memory=140 << 30)  # fmt: skip
    answers: dict[str, Callable[..., Any]] = {
        "get_device_capability": lambda *_: (9, 0), "get_device_properties": lambda *_: properties,
        "get_device_name": lambda *_: properties.name, "current_device": lambda: 0, "device_count": lambda: 1,
        "synchronize": lambda *_: None, "set_device": lambda *_: None, "is_available": lambda: True,
        "empty_cache": lambda: None, "manual_seed": lambda *_: None, "device": lambda *_: nullcontext(),
    }  # fmt: skip
    with ExitStack() as stack:
        stack.enter_context(Host())
        for name, answer in answers.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, answer))
        yield


def own_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
