"""Which values a loop carries, and what becomes of them.

A syntactic look at the body gives the names that it may assign (``syntax.assigned_names``); those that are values
before the loop become its block arguments. The body is then generated once, and what it turns out not to change is
dropped again before the op is created. A compile-time number that the body assigns has to become a tensor before the
loop, which is known only afterwards: then, rarely, the body is generated a second time. So it is where a use reads,
in a loop around or behind, what a loop before left of its variable: that is carried only where it is read.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xdsl.ir import BlockArgument, SSAValue

from tritonx.frontend import errors
from tritonx.frontend.codegen.detached_blocks import discard_since
from tritonx.frontend.codegen.names import MISSING, Deferred, Undefined
from tritonx.frontend.codegen.values import NUMBERS, describe, is_dynamic, same_constant, suggest_name
from tritonx.language.values.aggregate import _aggregate_type  # pyright: ignore[reportPrivateUsage]  # Triton's name
from tritonx.language.values.base import base_type
from tritonx.language.values.constexpr import unwrap
from tritonx.language.values.tensor import tensor
from tritonx.language.values.tuples import tuple_type

if TYPE_CHECKING:
    from tritonx.frontend.codegen.function import FunctionGenerator


@dataclass(slots=True)
class Carried:
    """The values that a loop carries: names, their types and initial handles; and names that it may assign but cannot
    carry."""

    names: list[str] = field(default_factory=list[str])
    types: list[Any] = field(default_factory=list[Any])
    values: list[Any] = field(default_factory=list[Any])
    static: dict[str, Any] = field(default_factory=dict[str, Any])
    declared: frozenset[str] = frozenset()
    """Those of ``static`` that were declared ``tl.constexpr``, which is a promise not to assign them again."""

    def add(self, name: str, value: Any) -> None:
        self.names.append(name)
        self.types.append(value.type)
        self.values.append(value)

    def handles(self) -> list[SSAValue]:
        return [handle for value in self.values for handle in value.handles()]

    def bind(self, scope: dict[str, Any], handles: Iterable[SSAValue]) -> None:
        """Give the names the values that ``handles`` make up."""
        remaining = iter(handles)
        for name, type_ in zip(self.names, self.types, strict=True):
            value = scope[name] = type_.rebuild(remaining)
            if isinstance(value, tensor):
                suggest_name(value.handle, name)


def _carried(gen: FunctionGenerator, node: ast.For | ast.While, assigned: frozenset[str], numbers: set[str]) -> Carried:
    """The values before the loop of the names that it assigns; compile-time ``numbers`` as tensors."""
    carried = Carried(declared=frozenset(gen.constexpr_owners))
    for name, value in gen.scope.items():
        if name not in assigned:
            continue
        # What a loop before left of its variable: inside it is the value of the iteration before, or nothing.
        reason = f"{name} is assigned in a loop and read before; assign it in front of the loop"
        if isinstance(value, Undefined):
            gen.scope[name] = Undefined(reason, value.carrying)
        elif isinstance(value, Deferred) or name in gen.unrolled_targets:
            if (node, name) in gen.read_later:
                carried.add(name, gen.semantic.to_tensor(value.make() if isinstance(value, Deferred) else value))
            else:
                can_be = isinstance(value, Deferred) or is_dynamic(value) or isinstance(unwrap(value), NUMBERS)
                gen.scope[name] = Undefined(reason, (node, name) if can_be else None)
        elif is_dynamic(value):
            carried.add(name, value)
        elif name in numbers:
            carried.add(name, gen.semantic.to_tensor(value))
        else:
            carried.static[name] = value
    return carried


class NeedsTensor(Exception):
    """Compile-time numbers that the body of a loop assigned."""

    def __init__(self, names: set[str]) -> None:
        super().__init__(names)
        self.names = names


def check_static(gen: FunctionGenerator, node: ast.AST, carried: Carried) -> None:
    """Names that were no tensors before the loop must not have been assigned in it, unless they can be made tensors."""
    numbers: set[str] = set()
    for name, before in carried.static.items():
        after = gen.scope.get(name, MISSING)
        if after is before or (not is_dynamic(after) and same_constant(before, after)):
            continue
        if isinstance(unwrap(before), NUMBERS) and is_dynamic(after) and name not in carried.declared:
            numbers.add(name)
        else:
            message = f"Loop carried variable {name} is not a triton value: it is {describe(before)} before the loop"
            if name in carried.declared or isinstance(unwrap(before), NUMBERS):
                message = f"cannot reassign constexpr {name} in the loop"
            raise gen.error(errors.LoopCarriedMismatch, node, message)
    if numbers:
        raise NeedsTensor(numbers)


def next_handles(gen: FunctionGenerator, node: ast.AST, carried: Carried) -> list[SSAValue]:
    """The handles that the body passes to its next iteration; a changed type is an error."""
    handles: list[SSAValue] = []
    for name, before in zip(carried.names, carried.values, strict=True):
        after = gen.scope[name]
        if isinstance(after, Undefined | Deferred):
            after = gen.lookup(name, node)
        if isinstance(before, tensor) and not is_dynamic(after) and isinstance(unwrap(after), NUMBERS):
            after = gen.semantic.to_tensor(after)
        if not is_dynamic(after) or type(after) is not type(before):
            message = f"Loop carried variable {name} changed type, was {describe(before)} but is now {describe(after)}"
            raise gen.error(errors.LoopCarriedMismatch, node, message)
        if after.type != before.type and not (
            isinstance(before.type, _aggregate_type) and _differs_only_by_waiting(before.type, after.type)
        ):
            message = (
                f"Loop-carried variable {name} has initial type {before.type} "
                f"but is re-assigned to {after.type} in loop! Please make sure that the type stays consistent."
            )
            raise gen.error(errors.LoopCarriedMismatch, node, message)
        handles += after.handles()
    return handles


def _differs_only_by_waiting(before: base_type, after: base_type) -> bool:
    """Whether two types are one, but for fields of structs that are a block before and a sum of products under way
    after: these share their handle. What is known at compile time, in a field or deeper, must be equal: no handle
    carries it, and the loop would keep its first value."""
    if before == after:
        return True
    if isinstance(before, _aggregate_type) and isinstance(after, _aggregate_type):
        old, new = dict(before.fields), dict(after.fields)
        same = before.base_cls is after.base_cls and list(old) == list(new)
        return same and all(map(_differs_only_by_waiting, old.values(), new.values()))
    if isinstance(before, tuple_type) and isinstance(after, tuple_type):
        same = before.fields == after.fields and len(before.types) == len(after.types)
        return same and all(map(_differs_only_by_waiting, before.types, after.types))
    return before.leaves() == [after] or [before] == after.leaves()


def build_carrying(
    gen: FunctionGenerator, node: ast.For | ast.While, assigned: frozenset[str], build: Callable[[Carried], None]
) -> None:
    """``build(carried)``, again with compile-time numbers as tensors where the body turns out to assign them, and with
    what it turns out to read behind a loop in it carried by that."""
    numbers: set[str] = set()
    before, loops, mark = dict(gen.scope), gen.loops, len(gen.module.builder.opened)
    while True:
        try:
            build(_carried(gen, node, assigned, numbers))
            return
        except NeedsTensor as found:
            numbers |= found.names
        except errors.UndefinedName as error:
            wanted = error.carrying
            if wanted is None or wanted in gen.read_later or all(wanted[0] is not part for part in ast.walk(node)):
                raise
            gen.read_later.add(wanted)
        discard_since(gen.module.builder, mark)
        gen.scope, gen.loops = dict(before), loops


def drop_unchanged(
    arguments: Sequence[Sequence[BlockArgument]], initial: Sequence[SSAValue], following: list[SSAValue]
) -> tuple[list[int], dict[SSAValue, SSAValue]]:
    """Remove the block arguments of values that the loop passes on unchanged: the positions of those that stay, and
    what each removed argument is replaced with (in ``following`` too).

    ``arguments`` are the arguments of each block of the loop, the last being the one in which ``following`` was
    computed.
    """
    kept: list[int] = []
    replaced: dict[SSAValue, SSAValue] = {}
    for index, before in enumerate(initial):
        if following[index] is not arguments[-1][index] and following[index] is not before:
            kept.append(index)
        else:
            replaced |= {args[index]: before for args in arguments}
    for argument, value in replaced.items():
        assert isinstance(argument, BlockArgument)
        argument.replace_all_uses_with(value)
        argument.block.erase_arg(argument)
    following[:] = [replaced.get(value, value) for value in following]
    return kept, replaced


def bind_results(
    gen: FunctionGenerator,
    carried: Carried,
    initial: Sequence[SSAValue],
    kept: Sequence[int],
    results: Sequence[SSAValue],
) -> None:
    """Behind the loop each carried name is a result, or what it was before where the loop left it alone."""
    handles = list(initial)
    for index, result in zip(kept, results, strict=True):
        handles[index] = result
    carried.bind(gen.scope, handles)
