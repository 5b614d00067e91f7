"""What every op of the tile dialect means, executed by NumPy, and three ways of using it.

* `interpret(module, grid, args)` runs IR, program by program;
* `interpreted(kernel)[grid](...)` runs a kernel's own Python lines (what `TRITONX_INTERPRET=1` does to every kernel);
* `launch(kernel, grid, ...)` takes a kernel through the front end and runs the IR.

All three check every memory access and name the kernel's line. `same_behaviour` compares two modules on random inputs.
`UninitialisedArray` is an argument whose elements may only be read after they were written; `reachable` names memory
that a kernel reaches by addresses that it reads.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonx.interpreter.compare import same_behaviour
    from tritonx.interpreter.function import InterpretedFunction, interpreted
    from tritonx.interpreter.host import UninitialisedArray
    from tritonx.interpreter.ir_launch import launch
    from tritonx.interpreter.live_arrays import reachable
    from tritonx.interpreter.machine import interpret

__all__ = [
    "InterpretedFunction",
    "UninitialisedArray",
    "interpret",
    "interpreted",
    "launch",
    "reachable",
    "same_behaviour",
]

_HOMES = {
    "InterpretedFunction": "function",
    "UninitialisedArray": "host",
    "interpret": "machine",
    "interpreted": "function",
    "launch": "ir_launch",
    "reachable": "live_arrays",
    "same_behaviour": "compare",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
