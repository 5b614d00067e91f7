"""Asks a Triton wheel for Gluon's layouts; run as a script in a process of its own, because it aborts on what it
dislikes.

stdin: a JSON list of [case, shape or null], cases as `gluon_layouts` has them; stdout: what it says of each, as JSON:
`repr`, `rank`, `text` of the attribute, and for a shape `linear`, `tensor_view`, `hardware_view`.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

from triton._C.libtriton import amd, gluon_ir, ir, nvidia
from triton.experimental.gluon import language as ttgl
from triton.experimental.gluon.language import amd as ttgl_amd
from triton.experimental.gluon.language._layouts import DistributedLayout, SharedLayout
from triton.experimental.gluon.language.nvidia import blackwell

sys.path.insert(0, str(Path(__file__).parents[1]))

from gluon_layouts import made

CLASSES = SimpleNamespace(**{**vars(blackwell), **vars(ttgl_amd), **vars(ttgl)})


def answer(builder, case, shape):
    layout = made(case, CLASSES)
    attribute = layout._to_ir(builder)
    said = {"repr": repr(layout), "text": text_of(builder, layout, attribute), "rank": getattr(layout, "rank", None)}
    if shape is not None:
        explicit = isinstance(layout, ttgl.DistributedLinearLayout | ttgl.SharedLinearLayout)
        said["linear"] = repr(layout if explicit else builder.to_linear_layout(attribute, shape))
        said["tensor_view"] = layout.format_tensor_view(shape)
        said["hardware_view"] = layout.format_hardware_view(shape)
    return said


def text_of(builder, layout, attribute):
    """A type that has the attribute, which alone cannot be printed."""
    if isinstance(layout, DistributedLayout):
        return str(builder.get_distributed_ty(builder.get_half_ty(), [64] * layout.rank, attribute))
    if isinstance(layout, SharedLayout):
        shape = getattr(layout, "shape", None) or [256] * getattr(layout, "rank", len(getattr(layout, "order", [0])))
        return str(builder.get_shared_mem_desc_ty(builder.get_half_ty(), shape, attribute, shape))
    return str(builder.get_tensor_mem_desc_ty(builder.get_int8_ty(), [1024, 1024], attribute, [1024, 1024]))


if __name__ == "__main__":
    context = ir.context()
    for each in (ir, nvidia, amd):
        each.load_dialects(context)
    made_by = gluon_ir.GluonOpBuilder(context)
    json.dump([answer(made_by, *question) for question in json.load(sys.stdin)], sys.stdout)
