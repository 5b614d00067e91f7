"""A process that compiles kernels of a library, which `worker.py` has recorded, with whatever ``triton`` is.

    python suites/recorded.py PATHS < kernels        (``python -m tritonx.compat suites/recorded.py …`` likewise)

PATHS is a list in JSON of what goes on ``sys.path``. For each line of JSON of standard input one of standard output:
the seconds that the processors of this process and its children took and those of each stage on the clock, or what was
in the way. The first kernel is compiled twice, and the second time counts. There need be no GPU."""

from __future__ import annotations

import ast
import gc
import importlib
import json
import os
import resource
import sys
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any, cast
from unittest import mock

TARGET = ("cuda", 90, 32)
DEVICE = SimpleNamespace(
    name="NVIDIA H100 80GB HBM3", major=9, minor=0, multi_processor_count=132, shared_memory_per_block_optin=232448
)


def busy() -> float:
    """Seconds that processors have worked for this process and for its children which ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


class Compiler:
    """Finds kernels and compiles them."""

    def __init__(self) -> None:
        import torch
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource

        self.torch: Any = torch
        self.triton: Any = triton
        self.source: Any = ASTSource
        self.target = GPUTarget(*TARGET)
        self.types = {str(t): t for t in vars(triton.language).values() if isinstance(t, triton.language.dtype)}
        self.times: Any = None
        self.triton.knobs.compilation.listener = self.listen

    def listen(self, *, times: Any, **_: Any) -> None:
        self.times = times

    def named(self, name: str) -> Any:
        """What ``module:qualname`` is, imported as where `DEVICE` is there."""
        module, _, path = name.partition(":")
        answers = {"get_device_name": DEVICE.name, "get_device_capability": (DEVICE.major, DEVICE.minor),
                   "get_device_properties": DEVICE, "current_device": 0}  # fmt: skip
        driver = SimpleNamespace(active=SimpleNamespace(get_current_target=lambda: self.target))
        with ExitStack() as stack:
            for query, answer in answers.items():
                stack.enter_context(mock.patch.object(self.torch.cuda, query, return_value=answer))
            stack.enter_context(mock.patch.object(self.triton.runtime, "driver", driver))
            found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
        return found

    def kernel(self, name: str) -> Any:
        """Without the tuners and heuristics around it."""
        found = self.named(name)
        while not isinstance(found, self.triton.JITFunction):
            found = found.fn
        return found

    def value(self, recorded: Any) -> Any:
        """What `worker.plain` had."""
        if isinstance(recorded, list):
            return tuple(self.value(v) for v in cast("list[Any]", recorded))
        if isinstance(recorded, dict):
            name = cast("dict[str, str]", recorded)["name"]
            return self.types[name] if name in self.types else self.named(name)
        return recorded

    def compile(self, kernel: dict[str, Any]) -> dict[str, Any]:
        """One line's answer."""
        fn = self.kernel(kernel["fn"])
        signature = {k: ast.literal_eval(v) if v.startswith("(") else v for k, v in kernel["signature"].items()}
        constants = {tuple(path): self.value(v) for path, v in kernel["constants"]}
        attributes = {tuple(path): v for path, v in kernel["attrs"]}
        options = {k: v for k, v in kernel["options"].items() if v is not None}
        source = self.source(fn, signature, constants, attributes)
        gc.collect()
        start = busy()
        self.triton.compile(source, target=self.target, options=options)
        seconds = busy() - start
        stages = [("front end", self.times.ir_initialization), *self.times.lowering_stages,
                  ("storing", self.times.store_results)]  # fmt: skip
        return {"seconds": seconds, "stages": {name: micro / 1e6 for name, micro in stages}}

    def answer(self, kernel: dict[str, Any]) -> dict[str, Any]:
        try:
            return self.compile(kernel)
        except (Exception, SystemExit) as error:
            said = str(error).strip().splitlines()
            return {"error": f"{type(error).__name__}: {said[-1] if said else ''}"[:300]}


def main() -> None:
    sys.path[:1] = json.loads(sys.argv[1])  # this file's folder is not wanted
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print
    compiler = Compiler()
    for number, line in enumerate(sys.stdin):
        kernel = json.loads(line)
        if number == 0:
            compiler.answer(kernel)
        answers.write(json.dumps(compiler.answer(kernel)) + "\n")


if __name__ == "__main__":
    main()
