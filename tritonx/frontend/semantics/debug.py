"""device_print, device_assert, static_print and static_assert."""

from __future__ import annotations

import string
from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, DenseArrayBase, IntegerAttr, StringAttr, UnitAttr
from xdsl.dialects.builtin import i32 as i32_attr
from xdsl.ir import Attribute

from tritonx.dialects.proton import RecordOp
from tritonx.dialects.tile import AssertOp, PrintOp
from tritonx.frontend.errors import CompileTimeAssertionFailure
from tritonx.frontend.semantics.base import enum_attribute
from tritonx.frontend.semantics.comparison import ComparisonSemantics
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor


class DebugSemantics(ComparisonSemantics):
    _events = 0

    def device_print(self, prefix: object, args: Sequence[object], hexadecimal: object) -> None:
        """Print each element of ``args`` at run time behind ``prefix``, a compile-time string of ASCII."""
        prefix = unwrap(prefix)
        if not isinstance(prefix, str):
            raise AssertionError(f"{prefix} is not string")
        if any(c not in string.printable for c in prefix):
            raise AssertionError("Only printable ASCII characters are allowed in the prefix")
        values: list[tensor] = [self.to_tensor(a) for a in args]
        # The text that runs in front of a value: " prefix: ".
        if not prefix.endswith(" ") and values:
            prefix += " "
        if not prefix.endswith(": ") and values:
            prefix = prefix[:-1] + ": "
        if len(prefix) > 2 and not prefix.startswith(" "):
            prefix = " " + prefix
        properties: dict[str, Attribute] = {
            "prefix": StringAttr(prefix),
            "hex": BoolAttr.from_bool(bool(unwrap(hexadecimal))),
            "isSigned": DenseArrayBase.from_list(i32_attr, [int(v.dtype.is_int_signed()) for v in values]),
        }
        if any(v.type.padded for v in values):
            shapes = [ArrayAttr([IntegerAttr(n, i32_attr) for n in v.type.shape]) for v in values]
            properties["extents"] = ArrayAttr(shapes)
        self.create(PrintOp, [self.whole(v) for v in values], (), properties)

    def record_region(self, name: str, *, starts: bool, event: int | None = None) -> None:
        """A region of this name, or the event of this number, starts or ends here, in a compile that records."""
        if self.options.instrumentation_mode:
            properties: dict[str, Attribute] = {"name": StringAttr(name)}
            if event is not None:
                properties["event"] = enum_attribute(event)
            if starts:
                properties["isStart"] = UnitAttr()
            self.create(RecordOp, [], (), properties)

    def new_event(self) -> int:
        """A number that no event of the compile has yet."""
        self._events += 1
        return self._events

    def static_assert(self, cond: object, message: object) -> None:
        """Raise ``CompileTimeAssertionFailure`` for a false condition; a code generator does so itself, to name the
        place.
        """
        if not cond:
            raise CompileTimeAssertionFailure(None, None, str(message))

    def expect_zero(self, x: object, mask: object) -> object:
        """``x``, which a compile with ``debug`` asserts to be zero where ``mask`` holds."""
        if self.options.debug:
            expected = self.or_(self.equal(x, 0), self.not_(self.to_tensor(mask)))
            self.device_assert(expected, "expect_zero expected x == 0 where mask is true", None)
        return x

    def device_assert(self, cond: object, message: object, mask: object) -> None:
        """Stop the kernel where ``cond`` is false (and ``mask`` true). Does nothing unless the compile has
        ``debug``.
        """
        if not self.options.debug:
            return
        cond, message, mask = self.to_tensor(cond), unwrap(message), unwrap(mask)
        if not isinstance(message, str):
            raise TypeError(f"the message of a device_assert must be a compile-time string, got {message}")
        if not cond.dtype.is_bool():
            cond = self.not_equal(cond, 0)
        if mask is not None:
            cond = self.or_(cond, self.not_(mask))
        inside = self.inside(cond.type.shape)
        if inside is not None:
            cond = self.or_(self.whole(cond), self.not_(inside))
        self.create(AssertOp, [cond], (), {"message": StringAttr(message)})
