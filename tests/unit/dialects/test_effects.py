"""Every op says what it touches, the declarations name what is there, and what an op does when it is executed it has
declared. `TRITONX_EFFECT_CASES=100` executes more of the conformance suite's cases."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from xdsl.ir import Operation

from tritonx.analysis.buffers import SCRATCH
from tritonx.backends.nvidia.emit.table import TABLE
from tritonx.dialects.control_flow import becomes, comes_from
from tritonx.dialects.effects import (
    PURE,
    Effects,
    Kind,
    Resource,
    declared_by,
    effects_of,
    resources_of,
    viewed,
    views_of,
)
from tritonx.dialects.gpu_layout import MemDescType
from tritonx.dialects.interfaces import scratch_memory_of
from tritonx.dialects.layout_constraints import LookedUp, layouts_of
from tritonx.interpreter.meanings import MEANINGS
from tritonx.interpreter.memory import Memory
from tritonx.ir.context import dialect_loaders, new_context
from tritonx.ir.effects import has_effects, is_removable, is_speculatable, may_read, may_write
from tritonx.ir.failure import PassError
from tritonx.ir.text import parse_module
from tritonx.ir.types import type_of
from tritonx.transforms.gpu.pending_accesses import accesses_of
from tritonx_testing.conformance.device import find
from tritonx_testing.conformance.suite import cases

FOREIGN = ("builtin", "func", "test")
"""Dialects of others."""
OPS = [op for name, load in dialect_loaders().items() if name not in FOREIGN for op in load().operations]
CASES = int(os.environ.get("TRITONX_EFFECT_CASES", "1"))
"""Of each family of the suite, and of each of the fixed ones."""

KEPT_ALIVE = {("ttng.wait_barrier", "deps")}
"""Memory that an op is given without touching it: what arrives in it is there when the wait is over."""


@pytest.fixture(scope="module")
def ops(written_ops: list[Operation]) -> list[Operation]:
    return [op for op in written_ops if declared_by(type(op)) is not None]


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_op_declares_what_it_touches(op):
    assert isinstance(getattr(op, "EFFECTS", None), Effects)


def test_the_texts_have_every_op_that_has_effects(ops):
    assert {type(op) for op in ops} >= {op for op in OPS if op.EFFECTS != PURE}


def test_what_is_named_is_there(ops):
    for op in ops:
        effects = effects_of(op)
        assert effects is not None
        names = set(op.get_irdl_definition().properties)
        for effect in declared_by(type(op)).own(op):  # pyright: ignore[reportOptionalMemberAccess]
            assert not effect.of or list(effect.values(op)) or effect.resource is Resource.GLOBAL, (op.name, effect)
            assert not effect.by or hasattr(op, effect.by), (op.name, effect)
            assert not effect.left or effect.left in names, (op.name, effect)
            if effect.kind is Kind.ALLOCATE:
                assert all(value in op.results for value in effect.values(op)), op.name
            elif effect.of:
                assert all(value in op.operands or value in op.results for value in effect.values(op)), op.name


def test_whoever_is_given_memory_says_what_for(ops):
    """An operand that names memory is accessed, looked at by another name, or carried on."""
    for op in ops:
        named = {value for effect in effects_of(op) or () for value in effect.values(op)}
        kept = {v for name in [n for o, n in KEPT_ALIVE if o == op.name] for v in getattr(op, name)}
        for number, operand in enumerate(op.operands):
            if isinstance(type_of(operand), MemDescType) and operand not in kept and op.name != "tt.call":
                assert operand in named or views_of(op, number) or becomes(op, number), f"operand {number} of {op.name}"


def test_memory_is_allocated_or_another_name_for_some(ops):
    for op in ops:
        made = {v for e in effects_of(op) or () if e.kind is Kind.ALLOCATE for v in e.values(op)}
        for result in op.results:
            if isinstance(type_of(result), MemDescType) and op.name not in ("tt.call", "ub.poison"):
                assert result in made or viewed(op, result) is not None or comes_from(result), op.name


def test_scratch_is_known_for_the_ops_that_declare_some(ops):
    declaring = {type(op) for op in ops if Resource.SCRATCH in resources_of(op)}
    tables = {op for op in declaring if isinstance(layouts_of(op), LookedUp)}
    assert tables and not tables & set(SCRATCH)
    saying = {type(op) for op in ops if scratch_memory_of(op) is not None}
    assert not saying & (set(SCRATCH) | tables)
    emitted = {op for op in declaring if op in TABLE}
    assert emitted == set(SCRATCH) | tables | saying, "one that is emitted has a size, and no other"


def test_who_declares_nothing_may_do_anything_and_is_given_no_memory():
    text = """
      #s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
      tt.func @f(%m: !ttg.memdesc<32xf32, #s, #ttg.shared_memory, mutable>) {
        "other.op"(%m) : (!ttg.memdesc<32xf32, #s, #ttg.shared_memory, mutable>) -> ()
        "other.op"() : () -> ()
        tt.return
      }
    """
    module = parse_module(text, "input.mlir", context=new_context(allow_unregistered=True))
    given, plain, _ = list(module.walk())[2:]
    assert effects_of(given) is None
    assert has_effects(given) and may_read(given) and may_write(given) and not is_removable(given)
    assert accesses_of(plain, lambda value: (0, 1)).reads == []
    with pytest.raises(PassError, match="is given memory, and does not declare what it does with it"):
        accesses_of(given, lambda value: (0, 1))


CALLED = """
  tt.func private @nothing(%p: !tt.ptr<f32>, %n: i32) -> i32 {
    %a = arith.addi %n, %n : i32
    tt.return %a : i32
  }
  tt.func private @reads(%p: !tt.ptr<f32>, %n: i32) -> i32 {
    %v = tt.load %p : !tt.ptr<f32>
    %a = tt.call @nothing(%p, %n) : (!tt.ptr<f32>, i32) -> i32
    tt.return %a : i32
  }
  tt.func private @writes(%p: !tt.ptr<f32>, %n: i32) -> i32 {
    %a = tt.call @reads(%p, %n) : (!tt.ptr<f32>, i32) -> i32
    %v = arith.constant 0.0 : f32
    tt.store %p, %v : !tt.ptr<f32>
    %b = tt.call @writes(%p, %n) : (!tt.ptr<f32>, i32) -> i32
    tt.return %a : i32
  }
  tt.func private @unknown(%p: !tt.ptr<f32>, %n: i32) -> i32
  tt.func public @f(%p: !tt.ptr<f32>, %n: i32) {
    %0 = tt.call @nothing(%p, %n) : (!tt.ptr<f32>, i32) -> i32
    %1 = tt.call @reads(%p, %n) : (!tt.ptr<f32>, i32) -> i32
    %2 = tt.call @writes(%p, %n) : (!tt.ptr<f32>, i32) -> i32
    %3 = tt.call @unknown(%p, %n) : (!tt.ptr<f32>, i32) -> i32
    tt.return
  }
"""


def test_a_call_does_what_the_function_does():
    module = parse_module(CALLED)
    calls = [op for op in list(module.ops)[-1].walk() if op.name == "tt.call"]
    assert [(may_read(op), may_write(op)) for op in calls] == [
        (False, False),
        (True, False),
        (True, True),
        (True, True),
    ]
    assert [is_removable(op) for op in calls] == [True, True, False, False]
    assert not any(is_speculatable(op) for op in calls)  # what is called may not end


# --- executed


class Recorder:
    """Which ops, and the ops around them, load, store and print while the interpreter runs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.running: list[Operation] = []
        self.done: dict[Kind, dict[Operation, None]] = defaultdict(dict)
        for op, meaning in list(MEANINGS.items()):
            monkeypatch.setitem(MEANINGS, op, self._watched(meaning))
        for name, kind in (("load", Kind.READ), ("store", Kind.WRITE)):
            monkeypatch.setattr(Memory, name, self._recording(kind, getattr(Memory, name)))

    def _watched(self, meaning: Any) -> Any:
        def bind(op: Operation, binder: Any) -> Any:
            function = meaning(op, binder)

            def run(*operands: Any) -> Any:
                self.running.append(op)
                try:
                    return function(*operands)
                finally:
                    self.running.pop()

            return run

        return bind

    def _recording(self, kind: Kind, function: Any) -> Any:
        def access(*arguments: Any, **named: Any) -> Any:
            self.done[kind].update(dict.fromkeys(self.running))
            return function(*arguments, **named)

        return access


def executed(seed: int) -> Iterator[Any]:
    rng = random.Random(seed)
    families: dict[str, list[Any]] = defaultdict(list)
    for case in cases():
        families[case.family].append(case)
    for known in families.values():
        yield from rng.sample(known, min(CASES, len(known)))


def test_what_an_op_does_it_has_declared(monkeypatch):
    seed = int(os.environ["TRITONX_SEED"])
    recorder = Recorder(monkeypatch)
    device = find("interpreter")
    for case in executed(seed):
        device.run(case, case.trial(seed))
    assert recorder.done[Kind.READ] and recorder.done[Kind.WRITE]
    for kind, found in recorder.done.items():
        for op in found:
            declared = {e.kind for e in effects_of(op) or () if e.resource is Resource.GLOBAL}
            assert kind in declared, f"seed {seed}: {op.name} does {kind}, and declares {declared}"
            assert may_read(op) if kind is Kind.READ else may_write(op), op.name
    families = {type(op).__name__ for found in recorder.done.values() for op in found}
    assert {"LoadOp", "StoreOp", "AtomicRMWOp", "AtomicCASOp", "ForOp"} <= families or CASES < 20
