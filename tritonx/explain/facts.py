"""What is known of a compiled kernel, as values: the JSON of `tritonx explain`, and all that a page is drawn from.

Lines of texts count from 0, lines of source files from 1; a `place` is an index into `Facts.places`, -1 where the
source is not known. Times are seconds, sizes bytes, cycles those of a multiprocessor by the compiler's own model
(`analysis/unit_costs`), which it schedules loops with.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

SCHEMA = 1
"""The version of the JSON form; raised where a field goes or changes its meaning."""


@dataclass(frozen=True)
class SourceText:
    """A part of a source file: `lines`, the first of which has the number `first`."""

    file: str
    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class LayoutSpan:
    """Columns `start` to `end` of a line of a level are a type whose tile has the layout number `layout`."""

    line: int
    start: int
    end: int
    layout: int


@dataclass(frozen=True)
class LevelText:
    """The kernel at one level: `name` is the stage that makes it, `kind` `ir` or `text`; `places[i]` is the place of
    line i."""

    name: str
    kind: str
    lines: tuple[str, ...]
    places: tuple[int, ...]
    layouts: tuple[LayoutSpan, ...] = ()


@dataclass(frozen=True)
class PassFacts:
    """One pass as it ran: `text` has its options, `diff` the hunks of a unified diff with the SSA names of unchanged
    values kept, nothing where `changed` is false. The contract is the pass's own; a pass of a plug-in may have none
    (`levels` is empty then)."""

    number: int
    stage: str
    name: str
    text: str
    summary: str
    seconds: float
    changed: bool
    added: int
    removed: int
    diff: tuple[str, ...]
    levels: str
    contract: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class LayoutFacts:
    """A layout of one shape: `bases` says for each input dim (`register`, `lane`, `warp`, `block`, or `offset` of
    memory) which packed index each bit of it adds by xor; `bits` are the bits of the index for each dim of the tile,
    the first dim's lowest."""

    encoding: str
    shape: tuple[int, ...]
    memory: bool
    bases: dict[str, tuple[int, ...]]
    bits: tuple[int, ...]


@dataclass(frozen=True)
class AccessFacts:
    """A memory access of the last level of IR: `line` there. `space` is `global`, `shared` or `both` (copies); a thread
    issues `instructions` of `width` elements of `bits` bits.

    `sectors`: of 32 bytes, that one instruction of a warp touches in global memory, `sectors_least` what its bytes
    fill; `wavefronts`: cycles that shared memory takes for one instruction of a warp, `wavefronts_least` what its bytes
    need without bank conflicts. None where they are not known. `note` says what is special."""

    line: int
    place: int
    op: str
    space: str
    kind: str
    bits: int
    width: int
    instructions: int
    tile_bytes: int
    sectors: int | None = None
    sectors_least: int | None = None
    wavefronts: int | None = None
    wavefronts_least: int | None = None
    note: str = ""


@dataclass(frozen=True)
class BufferFacts:
    """A piece of shared memory: bytes [offset, offset + size), alive in the lines `first` to `last` of the last level
    of IR, made or needed by `op` in the line `line`; `scratch`: only while the op is executed."""

    op: str
    line: int
    place: int
    offset: int
    size: int
    first: int
    last: int
    scratch: bool


@dataclass(frozen=True)
class RegisterPoint:
    """Registers of a thread that tiles take at a line of the last level of IR, by the compiler's estimate."""

    line: int
    place: int
    words: int


@dataclass(frozen=True)
class BarFacts:
    """See `transforms.pipelining.loop_chart.Bar`."""

    unit: str
    name: str
    place: int
    stage: int
    start: int
    cycles: int


@dataclass(frozen=True)
class PlanFacts:
    """A loop's plan, or why it has none (`text`); `interval` is 0 then."""

    place: int
    text: str
    interval: int = 0
    stages: int = 0
    bound: str = ""
    bounds: dict[str, int] | None = None
    slots: tuple[tuple[int, int], ...] = ()
    bars: tuple[BarFacts, ...] = ()
    proven: bool = False


@dataclass(frozen=True)
class NestFacts:
    """A loop nest of a host's code: see `conversion.tile_to_loops.remarks.LoopNest`."""

    place: int
    shape: tuple[int, ...]
    lane: int
    width: int
    work: tuple[str, ...]
    reduced: int | None


@dataclass(frozen=True)
class RemarkFacts:
    """What a pass or an emitter said of an op, as `TRITONX_EXPLAIN` prints it."""

    topic: str
    place: int
    text: str


@dataclass(frozen=True)
class OccupancyFacts:
    """Blocks and threads that a multiprocessor holds; `limits`: blocks that each resource allows; `limiter`: the least
    of them. `registers` of a thread: None where the code generator does not say."""

    blocks: int
    threads: int
    most_threads: int
    limiter: str
    limits: dict[str, int]
    registers: int | None
    shared: int


@dataclass(frozen=True)
class BoundFacts:
    """What holds the kernel, by the model: `region` is its busiest loop, or the program where it has none, and `cycles`
    what each resource takes for one iteration of all blocks that a multiprocessor holds; `bound` is the longest."""

    bound: str
    region: str
    place: int
    cycles: dict[str, int]
    text: str


@dataclass(frozen=True)
class WorkFacts:
    """One loop's own ops, or the program's: `cycles` of each resource that one block takes to execute them once, and
    `alone`, the cycles until they are done when nothing else runs. `chain`: file, line and column
    of the loop and of the calls through which it was inlined."""

    region: str
    place: int
    cycles: dict[str, int]
    alone: int
    chain: tuple[str, ...] = ()


@dataclass(frozen=True)
class LaunchFacts:
    """The launch that is explained, on the chip that its target stands for: `bound` is the resource that holds it,
    `seconds` from one launch to the next where many follow each other, `device_seconds` of the kernel alone; `waves`
    is how often the chip fills with blocks, `parts` seconds by resource. Where they cannot be told `bound` is empty
    and `text` says why; `place` is that of a loop whose bounds are not known, or -1."""

    grid: tuple[int, int, int]
    text: str
    chip: str = ""
    programs: int = 0
    bound: str = ""
    seconds: float = 0.0
    device_seconds: float = 0.0
    waves: float = 0.0
    parts: dict[str, float] = field(default_factory=dict[str, float])
    place: int = -1


@dataclass(frozen=True)
class StageFacts:
    """A stage of the backend: seconds, and bytes of what it made; `skipped`: why it made nothing."""

    name: str
    seconds: float
    size: int
    skipped: str = ""


@dataclass(frozen=True)
class Facts:
    """All of a kernel for one target.

    >>> from tritonx.explain import explain
    >>> source = tritonx.compiler.ASTSource(double, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 8})
    >>> facts = explain(source, "cuda:90").facts
    >>> sum(each.changed for each in facts.passes) < len(facts.passes)
    True
    """

    kernel: str
    target: str
    options: dict[str, str]
    threads: int
    sources: tuple[SourceText, ...]
    places: tuple[tuple[int, int], ...]
    """Pairs of an index into `sources` and a line of that file."""
    levels: tuple[LevelText, ...]
    stages: tuple[StageFacts, ...]
    passes: tuple[PassFacts, ...]
    layouts: tuple[LayoutFacts, ...]
    accesses: tuple[AccessFacts, ...]
    buffers: tuple[BufferFacts, ...]
    registers: tuple[RegisterPoint, ...]
    plans: tuple[PlanFacts, ...]
    nests: tuple[NestFacts, ...]
    remarks: tuple[RemarkFacts, ...]
    occupancy: OccupancyFacts | None
    bound: BoundFacts | None
    work: tuple[WorkFacts, ...] = ()
    launch: LaunchFacts | None = None
    """None where a kernel is explained and no launch."""

    def json(self, indent: int | None = None) -> str:
        """One object: `schema` (1), and the fields."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=indent)
