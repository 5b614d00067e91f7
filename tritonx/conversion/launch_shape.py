"""What a module says of its launch against what it is compiled for."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from tritonx.ir.failure import PassError


def check_launch_shape(module: ModuleOp, **wanted: int) -> None:
    """Raises PassError where the module says another number than a compile option (``num_warps``, ``num_ctas``)."""
    for option, number in wanted.items():
        name = f"ttg.{option.replace('_', '-')}"
        found = module.attributes.get(name)
        if isinstance(found, IntegerAttr) and found.value.data != number:
            raise PassError(
                module,
                f"the module says {name} = {found.value.data}, the compile options {option} = {number}",
                f"compile with {option}={found.value.data}",
            )
