"""A module at ``tt`` under the methods of Triton's bindings, read-only.

PyTorch finds out with it which of a kernel's arguments the kernel writes: it walks the ops and follows each stored
pointer back to a parameter. Operands, results, blocks and regions are compared by ``id()``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tritonx.ir.spelling import TextLevel
from tritonx.ir.text import print_module


@dataclass(frozen=True)
class ValueView:
    """An op's operand or result, or a block's argument."""

    value: Any

    def id(self) -> int:
        return id(self.value)


@dataclass(frozen=True)
class RegionView:
    region: Any

    def id(self) -> int:
        return id(self.region)


@dataclass(frozen=True)
class BlockView:
    block: Any

    def id(self) -> int:
        return id(self.block)

    def get_num_arguments(self) -> int:
        return len(self.block.args)

    def get_argument(self, index: int) -> ValueView:
        return ValueView(self.block.args[index])

    def get_parent(self) -> RegionView | None:
        region = self.block.parent
        return None if region is None else RegionView(region)


@dataclass(frozen=True)
class OperationView:
    operation: Any

    def get_name(self) -> str:
        return self.operation.name

    def get_num_operands(self) -> int:
        return len(self.operation.operands)

    def get_operand(self, index: int) -> ValueView:
        return ValueView(self.operation.operands[index])

    def get_num_results(self) -> int:
        return len(self.operation.results)

    def get_result(self, index: int) -> ValueView:
        return ValueView(self.operation.results[index])

    def get_num_regions(self) -> int:
        return len(self.operation.regions)

    def get_region(self, index: int) -> RegionView:
        return RegionView(self.operation.regions[index])

    def get_block(self) -> BlockView | None:
        block = self.operation.parent
        return None if block is None else BlockView(block)

    def _attribute(self, name: str) -> Any:
        found = self.operation.properties.get(name)
        return self.operation.attributes.get(name) if found is None else found

    def get_str_attr(self, name: str) -> str | None:
        found = self._attribute(name)
        return None if found is None else found.data

    def get_bool_attr(self, name: str) -> bool | None:
        found = self._attribute(name)
        return None if found is None else bool(found.value.data)

    def get_int_attr(self, name: str) -> int | None:
        found = self._attribute(name)
        return None if found is None else int(found.value.data)

    def get_flat_symbol_ref_attr(self, name: str) -> str | None:
        found = self._attribute(name)
        return None if found is None else found.root_reference.data


@dataclass(frozen=True)
class ModuleView:
    """What ``ASTSource.make_ir`` returns."""

    module: Any

    def verify(self) -> bool:
        """The front end makes no other modules."""
        return True

    def walk(self, visit: Callable[[OperationView], object]) -> None:
        """Every op, those inside an op before it; the module last."""
        _walk(self.module, visit)

    def __str__(self) -> str:
        return print_module(self.module, debuginfo=True)

    def str_nodebug(self) -> str:
        """The text without locations."""
        return print_module(self.module)

    def str_at(self, level: str) -> str:
        """The text that this version of Triton reads, as "3.9"; `LevelError` where it cannot say something."""
        return print_module(self.module, level=TextLevel.named(level))


def _walk(operation: Any, visit: Callable[[OperationView], object]) -> None:
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.ops:
                _walk(inner, visit)
    visit(OperationView(operation))
