"""Tensor descriptors among the arguments of a package: ``"tensordesc<fp32[16, 32]>"``, with hints behind it."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from tritonx.backends.api import Backend, Target
from tritonx.runtime.devices.dtype_names import ITEM_BYTES
from tritonx.runtime.errors import TritonError
from tritonx.runtime.jit import KernelParam
from tritonx.runtime.launch.arg_spec import ArgSpec
from tritonx.runtime.launch.binder import handlers_of
from tritonx.runtime.launch.descriptor_parameters import SOURCE
from tritonx.tools import command
from tritonx.tools.sealing.domains import Domain, StandIn
from tritonx.tools.tensor_descriptor import ALIGNMENT, TensorDescriptor

_WRITTEN = re.compile(r"tensordesc<(\w+)\s*\[\s*(\d+(?:\s*,\s*\d+)*)\s*\]>((?::\w+)*)")
_WHOLE, _ROUNDED = "16", "tf32"


@dataclass(frozen=True)
class Descriptors(Domain):
    """Descriptors of arrays of ``element``, of any shape, strides and padding, whose blocks have the shape ``block``.
    ``whole``: their rows end at multiples of 16 bytes; ``rounds``: what is read is rounded to tf32."""

    element: str
    block: tuple[int, ...]
    whole: bool = False
    rounds: bool = False

    @property
    def step(self) -> int:
        """Elements of 16 bytes: whether rows end with a whole piece of so many is what launches specialise on."""
        return max(1, ALIGNMENT // ITEM_BYTES[self.element])

    def described(self, shape: list[int], padding: str = "zero") -> TensorDescriptor:
        """A descriptor of an array that is not there, of this shape. Raises ImpossibleDescriptor."""
        strides = [1]
        for extent in reversed(shape[1:]):
            strides.insert(0, -(-extent * strides[0] // self.step) * self.step)
        base = StandIn(f"*{self.element}", 0)
        return TensorDescriptor(base, shape, strides, list(self.block), padding, self.rounds)

    def specs(self, param: KernelParam, target: Target, backend: Backend) -> list[ArgSpec]:
        handlers, others = handlers_of(param), [*self.block[:-1]]
        extents = [self.step] if self.whole else [self.step, self.step + 1]
        return list(dict.fromkeys(handlers(self.described([*others, last]))[0] for last in extents))

    def draw(self, rng: random.Random) -> object:
        shape = [rng.randrange(1, 4096) for _ in self.block]
        if self.whole:
            shape[-1] *= self.step
        return self.described(shape, "nan" if self.element.startswith(("fp", "bf")) and rng.random() < 0.2 else "zero")


def parse_descriptor(text: str, name: str) -> Domain | None:
    """The domain that a text stands for; None where it names no descriptor. Raises `Mistake`."""
    if not text.startswith(SOURCE):
        return None
    match = _WRITTEN.fullmatch(text)
    hints = match[3].split(":")[1:] if match else []
    if match is None or match[1] not in ITEM_BYTES or not set(hints) <= {_WHOLE, _ROUNDED}:
        raise command.Mistake(
            f"argument {name}: a descriptor is written tensordesc<TYPE[EXTENT, ...]>, behind it :16 where rows end at "
            f"multiples of 16 bytes, and :tf32 where what is read is rounded, got {text!r}"
        )
    block = tuple(int(part) for part in match[2].split(","))
    found = Descriptors(match[1], block, _WHOLE in hints, _ROUNDED in hints)
    try:
        found.described([*block[:-1], found.step])
    except (TritonError, ValueError, TypeError) as error:
        raise command.Mistake(f"argument {name}: {text}: {error}") from None
    return found
