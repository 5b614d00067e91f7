"""What executing an op touches, through which proxy, and when it is over: each op declares it, as `EFFECTS`.

A pass that deletes an op, merges two, moves one, puts a barrier between two, or lays a buffer where another was, must
know what the ops touch. Guessed from names or from types of operands it is wrong for the next op: `ttng.wait_barrier`
is given memory and accesses none, and `ttg.async_copy_global_to_local` has not written anything when the next one
starts. So each op states its effects, one `Effect` for each thing that it does:

- `kind`: what is done. Accesses are `READ` and `WRITE`; memory is made by `ALLOCATE` and ended by `FREE`. The others
  order accesses: `COMMIT` makes a group of the asynchronous operations so far; `ARRIVE` tells a barrier: where it is at
  once, one thread does so for all that run the op, which must have come as far; `EXPECT` has a barrier's phase wait for
  more; `WAIT` waits; `BARRIER` is where all threads that run the op meet; `FENCE` orders what is before it and
  after it. `OUTPUT` is seen outside (text, a stop, a volatile access); a `HINT` is addressed to the compiler, or to the
  hardware's scheduler. An op with a `TRAP` touches nothing, but is undefined for some operands: it must not be executed
  where the program would not have executed it.
- `resource`: what it is done to. `GLOBAL` memory, the memory that a memory descriptor names (`MEMDESC`, shared or
  tensor memory as its type says), an mbarrier in such memory (`MBARRIER`), the op's own `SCRATCH`, the `THREADS` that
  run the op, the `CLUSTER`, or `NOTHING`. An mbarrier is synchronised with; only what makes and ends it writes it.
- `of`: the operand that says where, or the result that is the memory which is allocated. Empty: anywhere.
- `proxy`: `GENERIC` for what threads do, `ASYNC` for what copy engines and matrix units do (PTX ISA, "Proxies").
  Accesses by different proxies are ordered only with a proxy fence between them.
- `completion`: when it is over. `AT_ONCE`, or later: when who has the `TOKEN` goes on; after a wait for a group of
  copies (`COPY_GROUP`), of stores of blocks (`STORE_GROUP`) or of products (`PRODUCT_GROUP`), or for the counter of the
  tensor data mover (`TENSOR_COUNTER`); when the mbarrier `by` completes its phase. A wait says here what it waits for;
  its property `left` says how many of them may still be under way.

Of all of them scratch concerns the allocator alone: it must find the size of it
(`tritonx.analysis.buffers`), and barriers come between the scratch of two ops that share bytes.

What an op does may depend on it: `ByOp` has a function of the op, `OfRegions` what the ops in its regions do.
`view_of` names the operands of which the results are views: the same memory under another type or name.

`effects_of` is None for an op of a dialect that declares nothing. Who asks must take that for anything, or refuse it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TypeVar, cast

from xdsl.ir import Operation, OpResult, SSAValue

from tritonx.dialects.layout_constraints import values_of
from tritonx.ir.properties import integer_property

Op = TypeVar("Op", bound=Operation)


class Kind(Enum):
    """What is done; see the head of the file.

    >>> [one.name for one in Kind][:4]
    ['READ', 'WRITE', 'ALLOCATE', 'FREE']
    """

    READ = auto()
    WRITE = auto()
    ALLOCATE = auto()
    FREE = auto()
    COMMIT = auto()
    ARRIVE = auto()
    EXPECT = auto()
    WAIT = auto()
    BARRIER = auto()
    FENCE = auto()
    OUTPUT = auto()
    HINT = auto()
    TRAP = auto()


class Resource(Enum):
    """What it is done to.

    >>> [one.name for one in Resource]
    ['NOTHING', 'GLOBAL', 'MEMDESC', 'MBARRIER', 'SCRATCH', 'THREADS', 'CLUSTER']
    """

    NOTHING = auto()
    GLOBAL = auto()
    MEMDESC = auto()
    MBARRIER = auto()
    SCRATCH = auto()
    THREADS = auto()
    CLUSTER = auto()


class Proxy(Enum):
    """Who does it."""

    GENERIC = auto()
    ASYNC = auto()


class Completion(Enum):
    """When it is over.

    >>> [one.name for one in Completion]
    ['AT_ONCE', 'TOKEN', 'COPY_GROUP', 'STORE_GROUP', 'PRODUCT_GROUP', 'TENSOR_COUNTER', 'MBARRIER']
    """

    AT_ONCE = auto()
    TOKEN = auto()
    COPY_GROUP = auto()
    STORE_GROUP = auto()
    PRODUCT_GROUP = auto()
    TENSOR_COUNTER = auto()
    MBARRIER = auto()


COUNTED = frozenset(
    {Completion.COPY_GROUP, Completion.STORE_GROUP, Completion.PRODUCT_GROUP, Completion.TENSOR_COUNTER}
)
"""Waits count these, so that one more or one fewer changes what a wait waits for."""


@dataclass(frozen=True)
class Effect:
    """One thing that an op does; see the head of the file.

    >>> from tritonx.backends.tile import Kind, Resource
    >>> Effect(Kind.READ, Resource.GLOBAL, of="ptr").of
    'ptr'
    """

    kind: Kind
    resource: Resource = Resource.NOTHING
    of: str = ""
    proxy: Proxy = Proxy.GENERIC
    completion: Completion = Completion.AT_ONCE
    by: str = ""
    left: str = ""

    def values(self, op: Operation) -> Sequence[SSAValue]:
        """The operands, or results, that say where; none where it may be anywhere, or nowhere."""
        return values_of(op, self.of) if self.of else ()


EffectList = tuple[Effect, ...]


@dataclass(frozen=True)
class Effects:
    """What `EFFECTS` of an op class holds: the same for all its ops.

    >>> from tritonx.backends.tile import reads
    >>> Effects((reads("ptr"),)).view_of
    ''
    """

    effects: EffectList = ()
    view_of: str = ""

    def own(self, op: Operation) -> EffectList:
        """What an op does itself."""
        return self.effects

    def of(self, op: Operation) -> EffectList | None:
        """What an op does, its regions included; None where an op in them does not say."""
        return self.effects


@dataclass(frozen=True)
class ByOp(Effects):
    """What `rule` says of the op."""

    rule: Callable[[Operation], EffectList] = lambda op: ()

    def own(self, op: Operation) -> EffectList:
        return self.rule(op)

    def of(self, op: Operation) -> EffectList | None:
        return self.rule(op)


@dataclass(frozen=True)
class OfRegions(Effects):
    """What is done by `effects` and, wherever, in the op's regions."""

    def of(self, op: Operation) -> EffectList | None:
        found = dict.fromkeys(self.effects)
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    effects = effects_of(inner)
                    if effects is None:
                        return None
                    found.update(dict.fromkeys(map(anywhere, effects)))
        return tuple(found)


def anywhere(effect: Effect) -> Effect:
    """The effect, of another op: that op's operands have no name here."""
    return replace(effect, of="", by="", left="")


def declared_by(cls: type[Operation]) -> Effects | None:
    """What a class declares; None for one that declares nothing."""
    return getattr(cls, "EFFECTS", None)


def effects_of(op: Operation) -> EffectList | None:
    r"""What an op does, its regions included; None where it, or an op inside, declares nothing.

    >>> from tritonx.backends.tile import parse_module
    >>> module = parse_module("module {\n  %0 = arith.constant 1 : i32\n}")
    >>> effects_of(module.body.block.first_op)
    ()
    """
    declared = declared_by(type(op))
    return None if declared is None else declared.of(op)


def is_barrier(op: Operation) -> bool:
    """Whether all threads that run the op meet there."""
    return any(effect.kind is Kind.BARRIER for effect in effects_of(op) or ())


_RESOURCES: dict[type[Operation], frozenset[Resource]] = {}
"""A fact of the classes whose ops all do the same."""


def resources_of(op: Operation) -> frozenset[Resource]:
    """What the op itself touches, not what the ops in its regions do; nothing for one that declares nothing."""
    cls = type(op)
    known = _RESOURCES.get(cls)
    if known is None:
        declared = declared_by(cls)
        known = frozenset(effect.resource for effect in (declared.own(op) if declared is not None else ()))
        if not isinstance(declared, ByOp):
            _RESOURCES[cls] = known
    return known


def viewed(op: Operation, result: SSAValue) -> SSAValue | None:
    """The operand of which a result is a view; None for one that is none."""
    declared = declared_by(type(op))
    if declared is None or not declared.view_of:
        return None
    operands = values_of(op, declared.view_of)
    return operands[op.results.index(cast(OpResult, result))]


def views_of(op: Operation, operand: int) -> Sequence[SSAValue]:
    """The results that are views of the operand of this number."""
    declared = declared_by(type(op))
    if declared is None or not declared.view_of:
        return ()
    value = op.operands[operand]
    return [r for r, v in zip(op.results, values_of(op, declared.view_of), strict=False) if v is value]


# --- what declarations are made of


def effects(*parts: Effect | EffectList) -> Effects:
    """A declaration of these.

    >>> from tritonx.backends.tile import reads
    >>> len(effects(reads("ptr")).effects)
    1
    """
    return Effects(joined(parts))


def of_regions(*parts: Effect | EffectList) -> OfRegions:
    """A declaration of these and of what the regions do."""
    return OfRegions(joined(parts))


def by_op(rule: Callable[[Op], EffectList]) -> ByOp:
    """A declaration that depends on the op, of the class that makes it."""
    return ByOp(rule=cast("Callable[[Operation], EffectList]", rule))


def joined(parts: Iterable[Effect | EffectList]) -> EffectList:
    """One after the other."""
    return tuple(one for part in parts for one in ((part,) if isinstance(part, Effect) else part))


def reads(of: str, resource: Resource = Resource.GLOBAL) -> Effect:
    """Reads global memory through the pointers `of`, or another resource.

    >>> reads("ptr").kind.name, reads("ptr").of
    ('READ', 'ptr')
    """
    return Effect(Kind.READ, resource, of)


def writes(of: str, resource: Resource = Resource.GLOBAL) -> Effect:
    """As `reads`."""
    return Effect(Kind.WRITE, resource, of)


def reads_memory(of: str) -> Effect:
    """Reads what the memory descriptor `of` names."""
    return Effect(Kind.READ, Resource.MEMDESC, of)


def writes_memory(of: str) -> Effect:
    """Writes what the memory descriptor `of` names."""
    return Effect(Kind.WRITE, Resource.MEMDESC, of)


def arrives(of: str, completion: Completion = Completion.AT_ONCE) -> Effect:
    """Tells the mbarrier `of`, at once or when what `completion` names is over."""
    return Effect(Kind.ARRIVE, Resource.MBARRIER, of, completion=completion)


def waits(completion: Completion, left: str) -> Effect:
    """Waits until at most as many as the property `left` says are under way.

    >>> from tritonx.backends.tile import Completion
    >>> waits(Completion.COPY_GROUP, "num").kind.name
    'WAIT'
    """
    return Effect(Kind.WAIT, completion=completion, left=left)


def asynchronous(effect: Effect, completion: Completion, by: str = "", proxy: Proxy = Proxy.ASYNC) -> Effect:
    """The same access, done by another than the thread, and over later.

    >>> from tritonx.backends.tile import Completion, reads
    >>> asynchronous(reads("ptr"), Completion.COPY_GROUP).completion.name
    'COPY_GROUP'
    """
    return Effect(effect.kind, effect.resource, effect.of, proxy, completion, by)


OUTPUT_EFFECT = Effect(Kind.OUTPUT)
SCRATCH_EFFECTS = (Effect(Kind.WRITE, Resource.SCRATCH), Effect(Kind.READ, Resource.SCRATCH))
ANYTHING = (Effect(Kind.READ, Resource.GLOBAL), Effect(Kind.WRITE, Resource.GLOBAL), OUTPUT_EFFECT)
"""What opaque code may do; it has no way to shared memory."""

PURE = Effects()
VIEW = Effects(view_of="src")
REGIONS = OfRegions()
OUTPUT = effects(OUTPUT_EFFECT)
HINT = effects(Effect(Kind.HINT))
MAY_TRAP = effects(Effect(Kind.TRAP))
SCRATCH = effects(SCRATCH_EFFECTS)
BARRIER = effects(Effect(Kind.BARRIER, Resource.THREADS))


def unless_pure(op: Operation) -> EffectList:
    """Of an op whose `pure` property says whether it has any effects."""
    return () if integer_property(op, "pure") else ANYTHING


def allocation(op: Operation) -> EffectList:
    """Of an op that makes memory, and fills it with `src` if there is one."""
    made = Effect(Kind.ALLOCATE, Resource.MEMDESC, "result")
    return (made, writes_memory("result")) if values_of(op, "src") else (made,)


def copied(effect: Effect) -> Effect:
    """An access of a copy that belongs to a group; threads issue it, in their own proxy."""
    return asynchronous(effect, Completion.COPY_GROUP, proxy=Proxy.GENERIC)
