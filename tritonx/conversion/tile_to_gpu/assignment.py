"""What is decided about the layouts of one function (`solve`), as those read it who write the function (`write`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tritonx.conversion.tile_to_gpu.carried import Group
from tritonx.conversion.tile_to_gpu.matrix_unit import DotLayout
from tritonx.conversion.tile_to_gpu.propagation import propagation_of
from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.layouts.encodings import DistributedEncoding, Encoding


@dataclass(frozen=True)
class Assignment:
    """The decisions about one function.

    `keys[op]` are the keys in which an op is written, the native one first; an op that computes tensors and is
    not there is dead. `native` is the encoding in which each value exists without conversion;
    `converted[value, source]` lists the encodings into which a value is converted, or stored in shared memory, from
    `source`, its native one but between blocks of a cluster.
    """

    keys: Mapping[Operation, list[DistributedEncoding]]
    native: Mapping[SSAValue, DistributedEncoding]
    converted: Mapping[tuple[SSAValue, DistributedEncoding], list[Encoding]]
    dots: Mapping[Operation, DotLayout]
    groups: tuple[Group, ...]
    target: GpuTarget


def operand_encodings(
    op: Operation, key: DistributedEncoding, dots: Mapping[Operation, DotLayout]
) -> Sequence[Encoding | None]:
    """The encodings that an op's operands must have for a key; None for what is no tensor or may be in any."""
    dot = dots.get(op)
    if dot is not None:
        return dot.operands(op)
    return propagation_of(op).operands(op, key)
