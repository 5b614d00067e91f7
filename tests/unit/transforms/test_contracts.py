"""What passes say of themselves holds: the ops and attributes that they leave, what they look for, what they go by, and
their order in the lists of every backend."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, UnitAttr, i32
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import ParseError, VerifyException

from tritonx.backends.api import Backend, PassStage, Target
from tritonx.backends.registry import available, known_targets, launch_options
from tritonx.dialects import tile
from tritonx.ir.builder import Builder
from tritonx.ir.context import dialect_loaders, new_context
from tritonx.ir.contract import Contract, contract_of
from tritonx.ir.failure import PassError
from tritonx.ir.text import parse_module, print_module
from tritonx.runtime.errors import TritonError
from tritonx.tools.irdoc import DIALECT_PAGES
from tritonx.tools.opt_explain import switches
from tritonx.tools.opt_input import chunks
from tritonx.tools.opt_pipeline import find_target, parse_passes
from tritonx.tools.pass_info import options, summary
from tritonx.transforms.registry import entry_of, find_pass, pass_names

FILECHECK = Path(__file__).parents[2] / "filecheck"
WIDTH = 90


def own_passes() -> set[str]:
    """But for those of packages that happen to be installed."""
    entries = {name: entry_of(name) for name in pass_names()}
    return {name for name, at in entries.items() if at is None or at.module.startswith("tritonx.")}


def declared(name: str) -> Contract:
    contract = contract_of(find_pass(name))
    assert contract is not None, f"{name} declares no contract"
    return contract


@cache
def known_ops() -> frozenset[str]:
    """All ops of the dialects, and the dialects' names."""
    names, loaders = {"arith", "math", "scf", "cf", "ub", "proton", "rocdl", *DIALECT_PAGES}, dialect_loaders()
    return frozenset(names | {op.name for name in names for op in loaders[name]().operations})


def test_passes_say_what_they_do() -> None:
    """A line, each option with its meaning, and names that there are."""
    names = own_passes()
    for name in sorted(names):
        kind, contract = find_pass(name), declared(name)
        text = summary(kind)
        assert text.endswith(".") and len(text) <= WIDTH, (
            f"{name}: the first sentence of its docstring is to end with a dot and have at most {WIDTH} characters, "
            f"not {len(text)}: {text!r}"
        )
        assert [option.name for option in options(kind) if not option.meaning] == [], name
        assert {*contract.needs, *contract.after} - names == set(), name
        assert {*contract.on, *contract.creates} - known_ops() == set(), name


def kinds(module: ModuleOp) -> set[str]:
    return {op.name for op in module.walk()}


def among(names: set[str], allowed: Sequence[str]) -> set[str]:
    """Those that are allowed, by themselves or with their dialect."""
    return {name for name in names if name in allowed or name.partition(".")[0] in allowed}


def attributes(module: ModuleOp) -> set[str]:
    """The attributes of ops, and of functions' arguments."""
    found = {name for op in module.walk() for name in op.attributes}
    for function in module.ops:
        if isinstance(function, tile.FuncOp) and function.arg_attrs is not None:
            found |= {name for each in function.arg_attrs for name in getattr(each, "data", {})}
    return found


def level(module: ModuleOp) -> str:
    return "ttg" if "ttg.num-warps" in module.attributes else "tt"


def faults(step: Step) -> Iterator[str]:
    """What a pass has done that its contract does not say."""
    contract, before, after = contract_of(type(step.ran)), step.before, step.after
    assert contract is not None
    if level(before) not in contract.takes or level(after) != (contract.leaves or level(before)):
        yield f"it says {contract}, and made {level(after)} of {level(before)}"
    if contract.on and not among(kinds(before), contract.on) and step.changed:
        yield f"it acts on {contract.on}, and changed a module without"
    created = kinds(after) - kinds(before)
    if unsaid := created - among(created, contract.creates):
        yield f"it created {sorted(unsaid)}, which it does not say"
    if unsaid := attributes(after) - attributes(before) - {*contract.writes}:
        yield f"it wrote {sorted(unsaid)}, which it does not say"


@dataclass(frozen=True)
class Step:
    """What a pass made in a FileCheck test."""

    file: str
    ran: ModulePass
    before: ModuleOp
    after: ModuleOp

    @cached_property
    def changed(self) -> bool:
        return print_module(self.before) != print_module(self.after)


RUN = re.compile(r"^\s*//\s*RUN:(.*)$", re.MULTILINE)


def pipelines(text: str) -> Iterator[tuple[bool, tuple[ModulePass, ...]]]:
    """What the RUN lines of a FileCheck test run, and whether on parts of it: the passes that they name; where none
    does, those of the first target."""
    lines = [shlex.split(line.split("|")[0]) for line in RUN.findall(text) if "tritonx-opt" in line]
    named = [(words, [given for flag, given in pairwise(words) if flag == "-p"]) for words in lines]
    for words, given in named:
        if given:
            yield "--split-input-file" in words, tuple(one for text in given for one in parse_passes(text))
    if not any(given for _, given in named) and "ttg.num-warps" not in text:
        for words in lines[:1]:
            flags = list(pairwise(words))
            for target in [given for flag, given in flags if flag == "--target"]:
                stages = find_target(target, [given for flag, given in flags if flag == "--option"]).stages
                passes = tuple(one for stage in stages if isinstance(stage, PassStage) for one in stage.passes)
                yield "--split-input-file" in words, passes


def ran(module: ModuleOp, passes: Sequence[ModulePass], file: str) -> Iterator[Step]:
    """Each pass with what it made, as far as none refuses the module."""
    for one in passes:
        before = module.clone()
        try:
            one.apply(new_context(), module)
        except (PassError, TritonError):
            return
        yield Step(file, one, before, module.clone())


@cache
def steps() -> tuple[Step, ...]:
    """Every pass of the FileCheck tests."""
    found: list[Step] = []
    for path in sorted(FILECHECK.rglob("*.mlir")):
        text = path.read_text()
        for split, passes in pipelines(text):
            for part in chunks(text, split):
                try:
                    module = parse_module(part, path.name)
                except (ParseError, VerifyException):  # an input that is to be refused
                    continue
                found += ran(module, passes, path.name)
    return tuple(found)


def test_passes_do_what_they_say() -> None:
    found = {(step.file, step.ran.name, fault) for step in steps() for fault in faults(step)}
    assert found == set()


def test_every_pass_is_seen_to_do_something() -> None:
    acting = {step.ran.name for step in steps() if step.changed}
    assert own_passes() - acting == set(), "passes that change no FileCheck file"
    assert acting - own_passes() == set()


def order_faults(ran: Sequence[tuple[str, Contract]]) -> Iterator[str]:
    """What stands wrongly in a list of passes, from `tt` on."""
    names, now = [name for name, _ in ran], "tt"
    for at, (name, contract) in enumerate(ran):
        if now not in contract.takes:
            yield f"{name} takes {contract.takes}, and gets {now}"
        now = contract.leaves or now
        yield from (f"{name} needs {other}" for other in contract.needs if other not in names[:at])
        yield from (f"{name} stands in front of {other}" for other in contract.after if other in names[at + 1 :])


def lists(backend: Backend, target: Target) -> Iterator[list[ModulePass]]:
    """The passes that a target runs as it is, and with each option the other way round."""
    for given in ({}, *({name: value} for name, value in switches(backend, target))):
        try:
            stages = backend.stages(target, launch_options(backend, target, given))
        except TritonError:
            continue  # the target does not take the option
        yield [each for stage in stages if isinstance(stage, PassStage) for each in stage.passes]


@cache
def every_list() -> tuple[list[ModulePass], ...]:
    """Of every backend and target."""
    return tuple(ran for each in available().values() for target in known_targets(each) for ran in lists(each, target))


def changed_without(one: ModulePass, modules: Sequence[ModuleOp]) -> ModuleOp | None:
    """The first of these modules that the pass changes, though it has none of the ops that the pass looks for."""
    contract = contract_of(type(one))
    assert contract is not None
    for module in modules:
        if level(module) in contract.takes and not among(kinds(module), contract.on):
            before = print_module(module)
            one.apply(new_context(), module)
            if print_module(module) != before:
                return module
    return None


def test_a_pass_leaves_a_module_without_its_ops_as_it_is() -> None:
    """As each backend runs it, so that a list need not ask whether there are such ops. What changes the level acts on
    any module."""
    passes = {str(one): one for ran in every_list() for one in ran}
    found = {name: declared(one.name) for name, one in passes.items()}
    acting = {name: one for name, one in passes.items() if found[name].on and found[name].leaves is None}
    assert len({one.name for one in acting.values()}) > 30
    modules = [step.before for step in steps()]
    random = Random(int(os.environ["TRITONX_SEED"]))
    for name, one in acting.items():
        drawn = [module.clone() for module in random.sample(modules, 12)]
        assert changed_without(one, drawn) is None, f"{name} acts on {found[name].on}, and changed a module without"


def test_every_backend_runs_passes_in_the_order_that_they_need() -> None:
    seen = {tuple(one.name for one in ran) for ran in every_list()}
    assert len(seen) > 8
    assert {fault for ran in seen for fault in order_faults([(name, declared(name)) for name in ran])} == set()


def test_a_wrong_order_is_found() -> None:
    first, second, other = (
        Contract(("tt",), leaves="ttg"),
        Contract(("ttg",), needs=("a",)),
        Contract(("ttg",), after=("b",)),
    )
    assert [*order_faults([("a", first), ("b", second), ("c", other)])] == []
    assert [*order_faults([("b", second), ("a", first)])] == ["b takes ('ttg',), and gets tt", "b needs a"]
    assert [*order_faults([("a", first), ("c", other), ("b", second)])] == ["c stands in front of b"]


@dataclass(frozen=True)
class Lying(ModulePass):
    """Writes more than it says."""

    name = "lying"
    contract = Contract(("ttg",), on=("tt.gather",))

    def apply(self, ctx: Any, op: ModuleOp) -> None:
        op.attributes["ttg.maxnreg"] = UnitAttr()
        first = next(inner for inner in op.walk() if isinstance(inner, tile.ReturnOp))
        Builder.before(first).constant(1, i32)


def test_a_pass_that_does_more_than_it_says_is_found() -> None:
    before = parse_module("module {\n  tt.func @f() {\n    tt.return\n  }\n}", "a")
    after = before.clone()
    Lying().apply(None, after)
    assert changed_without(Lying(), [before.clone()]) is None  # it is no `ttg`
    stated = before.clone()
    stated.attributes["ttg.num-warps"] = IntegerAttr(4, i32)
    assert changed_without(Lying(), [stated]) is stated
    assert [fault.split(",")[0] for fault in faults(Step("a", Lying(), before, after))] == [
        "it says ttg → ttg",
        "it acts on ('tt.gather'",
        "it created ['arith.constant']",
        "it wrote ['ttg.maxnreg']",
    ]


def without(module: ModuleOp, name: str) -> ModuleOp:
    """A copy in which nothing has the attribute."""
    copy = module.clone()
    for op in copy.walk():
        op.attributes.pop(name, None)
        if isinstance(op, tile.FuncOp) and op.arg_attrs is not None:
            kept = [DictionaryAttr({k: v for k, v in each.data.items() if k != name}) for each in op.arg_attrs]
            op.properties["arg_attrs"] = ArrayAttr(kept)
    return copy


def test_passes_go_by_what_they_say_that_they_read() -> None:
    """Without it they do something else, somewhere."""
    claimed = {(name, read) for name in own_passes() for read in declared(name).reads}
    seen = {(step.ran.name, read) for step in steps() for read in declared(step.ran.name).reads if matters(step, read)}
    assert seen == claimed


def matters(step: Step, read: str) -> bool:
    module = without(step.before, read)
    try:
        step.ran.apply(new_context(), module)
    except Exception:  # it does not do without
        return True
    return print_module(without(module, read)) != print_module(without(step.after, read))
