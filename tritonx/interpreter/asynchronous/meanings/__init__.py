"""What the ops of `ttg` and `ttng` mean in the machine, and those of the tile dialect that touch shared memory."""

from __future__ import annotations

from tritonx.interpreter.asynchronous.meanings import (
    barrier,
    computed_places,
    control,
    copies,
    memory,
    packed,
    product,
    scratch,
    tensor_map,
    tensor_memory,
)
from tritonx.interpreter.asynchronous.program import Table

MEANINGS: Table = {
    **control.TABLE,
    **memory.TABLE,
    **computed_places.TABLE,
    **scratch.TABLE,
    **barrier.TABLE,
    **copies.TABLE,
    **tensor_map.TABLE,
    **tensor_memory.TABLE,
    **product.TABLE,
    **packed.TABLE,
}
"""By class of op; what is not here has its meaning in `tritonx.interpreter.meanings`."""

__all__ = ["MEANINGS"]
