"""What classes of ops, attributes and types declare of their spellings, as modules: for tests that read and print."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tritonx.ir.context import dialect_loaders
from tritonx.ir.spelling import Spellings, TextLevel, spellings_of
from tritonx.tools.irdoc import DIALECT_PAGES

VALUES = {
    "f": "f32",
    "i": "i32",
    "true": "i1",
    "p": "!tt.ptr<f32>",
    "ptrs": "tensor<128x!tt.ptr<f32>>",
    "floats": "tensor<128xf32>",
    "mask": "tensor<128xi1>",
    "words": "!tt.ptr<i32>",
    "wide": "i64",
    "desc": "!tt.tensordesc<tensor<128xf32>>",
    "laid": "tensor<128x!tt.ptr<f32>, #blocked>",
    "offsets": "tensor<128xi32, #blocked>",
    "data": "tensor<128xf32, #blocked>",
    "memory": "!ttg.memdesc<128xf32, #shared, #smem, mutable>",
    "mbarrier": "!ttg.memdesc<1xi64, #shared, #smem, mutable>",
    "response": "!ttg.memdesc<2xi64, #shared, #smem, mutable>",
    "shared_desc": "!tt.tensordesc<tensor<8x32xf32, #nvmma>>",
    "block": "!ttg.memdesc<8x32xf32, #nvmma, #smem, mutable>",
    "answer": "i128",
}
"""The values that examples name."""

MODULE = """#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [LANES], warpsPerCTA = [1], order = [0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nvmma = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = N : i32, "ttg.num-warps" = NUM : i32, TARGET, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @f(ARGUMENTS) {
    BODY
    tt.return
  }
}
"""


OF_CLUSTERS = ("ttng.cluster", "ttng.fence_mbarrier")
OF_BLACKWELL = ("ttng.tmem", "ttng.clc", "ttng.tensor_memory")


@dataclass(frozen=True)
class Spelled:
    """A class with what it declares."""

    name: str
    declared: Spellings

    @property
    def is_attribute(self) -> bool:
        """Whether it is a type or an attribute."""
        return any(text is not None and text[0] in "!#" for text in self.declared.texts.values())

    @property
    def target(self) -> tuple[str, int]:
        """A target that has it, and the lanes of its warps."""
        if self.name.startswith(("amdg.", "rocdl.")):
            return "hip:gfx942", 64
        if self.name == "ttg.amd_wmma":
            return "hip:gfx1200", 32
        return ("cuda:100" if self.name.startswith(OF_BLACKWELL) else "cuda:90"), 32

    def text(self, level: TextLevel) -> str | None:
        """The example of a level, with the encodings written out that have names in `MODULE`."""
        return self.declared.text(level) or None

    def module(self, level: TextLevel) -> str:
        """A module in which the example of a level stands."""
        text = self.text(level)
        assert text is not None
        body, arguments = text, {name: VALUES[name] for name in re.findall(r"%(\w+)", text) if name in VALUES}
        if text.startswith("!"):
            body, arguments = "", {"x": text}
        elif text.startswith("#ttg."):
            body, arguments = "", {"x": f"tensor<32x32xf32, {text}>"}
        elif text.startswith("#"):
            body, arguments = "", {"x": f"!ttg.memdesc<128x128xf32, {text}, #ttng.tensor_memory, mutable>"}
        target, lanes = self.target
        blocks = 2 if self.name.startswith(OF_CLUSTERS) else 1
        listed = ", ".join(f"%{name}: {type_}" for name, type_ in arguments.items())
        made = (
            MODULE.replace("TARGET", f'ttg.target = "{target}"')
            .replace("= 32 : i32}", f"= {lanes} : i32}}")
            .replace("LANES", str(lanes))
            .replace("= N :", f"= {blocks} :")
            .replace("NUM", "4" if self.name == "ttg.amd_wmma" else "1")
        )
        return made.replace("ARGUMENTS", listed).replace("BODY", body.replace("\n", "\n    "))


def spelled() -> list[Spelled]:
    """All that have an example."""
    loaders = dialect_loaders()
    found: list[Spelled] = []
    for page in (*DIALECT_PAGES, "gpu", "rocdl"):
        dialect = loaders[page]()
        for kind in (*dialect.operations, *dialect.attributes):
            declared = spellings_of(kind)
            if declared is not None and declared.shown:
                found.append(Spelled(kind.name, declared))
    return sorted(found, key=lambda one: one.name)
