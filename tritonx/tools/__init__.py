"""Commands, and Triton's ``triton.tools``."""

from typing import TYPE_CHECKING

from tritonx.runtime.refusals import refusing
from tritonx.runtime.submodules import loading

_REFUSED = {"LinearLayout": "``tritonx.layouts.linear.LinearLayout`` has another interface"}

if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = refusing(__name__, _REFUSED, loading(__name__, ("disasm", "tensor_descriptor")))
