"""Commands, and Triton's ``triton.tools``."""

from typing import TYPE_CHECKING, Any

from tritonx.runtime.submodules import loading

if TYPE_CHECKING:
    from tritonx.tools.linear_layout import LinearLayout as LinearLayout

_submodule = loading(__name__, ("disasm", "tensor_descriptor"))


def _loaded(name: str) -> Any:
    if name == "LinearLayout":
        from tritonx.tools.linear_layout import LinearLayout

        return LinearLayout
    return _submodule(name)


if not TYPE_CHECKING:  # a type checker is to find unknown names
    __getattr__ = _loaded
