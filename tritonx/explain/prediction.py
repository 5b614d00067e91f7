"""How long a launch takes on a chip, by the model that `bounds` has, the grid, and the iterations of its loops.

The blocks of a multiprocessor share its units, and each waits for its own loads; the grid runs in waves of as many
blocks as the chip holds, the last of which may be small. Global memory delivers what the arrays hold, once. A launch
costs its host what was measured, however little there is to do.
"""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.conversion.tile_to_gpu.target import GpuTarget
from tritonx.explain.bounds import LATENCY, MEMORY
from tritonx.explain.facts import Facts
from tritonx.explain.trips import Chain, Trips

LAUNCH = "the launch"
CACHES = "the caches"
"""What brings a multiprocessor its bytes, most of them again; `memory` is what brings each of them once."""

LAUNCH_SECONDS = 5.3e-6
"""Of a call with five arguments on the host of an H200 (docs/measurements.md, "Launching")."""


@dataclass(frozen=True)
class Prediction:
    """Of one launch on one target: `bound` is the resource that holds it, `seconds` from one launch to the next where
    many follow each other, `device_seconds` of the kernel alone. `parts`: seconds of the whole launch by resource; the
    largest is the bound. `waves`: how often the chip fills with blocks, the last time in part."""

    target: str
    chip: str
    launch: str
    programs: int
    bound: str
    seconds: float
    device_seconds: float
    waves: float
    parts: dict[str, float]

    def __str__(self) -> str:
        launch = f" [{self.launch}]" if self.launch else ""
        return f"{self.target} ({self.chip}): held by {self.bound}, about {self.duration}{launch}"

    @property
    def duration(self) -> str:
        """The seconds in words."""
        time = 1e6 * self.seconds
        return f"{time:.3g} µs" if time < 1000 else f"{time:.0f} µs"


def predicted(
    facts: Facts, target: GpuTarget, programs: int, trips: Trips, held: int, launch: str = ""
) -> Prediction | None:
    """For a grid of so many programs. `trips`: how often a program executes the body of a loop (1 of a loop that is not
    there), with or without the calls to where it is; `held`: bytes of the arrays of the launch.
    None where no chip is known of the target, and of an empty grid."""
    chip, copied = target.chip, target.costs.copied
    if chip is None or not programs:
        return None
    work, alone = _of_block(facts, trips)
    blocks = max(1, facts.occupancy.blocks) if facts.occupancy is not None else 1
    full, rest = divmod(programs, chip.processors * blocks)
    last = -(-rest // chip.processors)
    shared = full * blocks + last
    cycles: dict[str, float] = {
        CACHES if name == MEMORY else name: shared * each for name, each in work.items() if each
    }
    cycles[LATENCY] = (full + (rest > 0)) * alone
    parts = {name: each / chip.hertz for name, each in cycles.items()}
    busiest = max(work.values(), default=0.0)
    device = (full * max(blocks * busiest, alone) + (max(last * busiest, alone) if rest else 0)) / chip.hertz
    if asked := programs * work.get(MEMORY, 0.0) * copied:
        parts[MEMORY] = min(float(held), asked) / chip.bandwidth
        device = max(device, parts[MEMORY])
    parts[LAUNCH] = LAUNCH_SECONDS
    bound = LAUNCH if device <= parts[LAUNCH] else max((n for n in parts if n != LAUNCH), key=lambda n: parts[n])
    waves = programs / (chip.processors * blocks)
    return Prediction(
        facts.target, chip.name, launch, programs, bound, max(device, parts[LAUNCH]), device, waves, parts
    )


def _of_block(facts: Facts, trips: Trips) -> tuple[dict[str, float], float]:
    """Cycles of one block by resource, and until it is done when it runs alone. Of the loops that a loop of the source
    became the largest has all of its iterations."""
    largest: dict[Chain, int] = {}
    chains = [_known(each.chain, trips) for each in facts.work]
    for number, (each, chain) in enumerate(zip(facts.work, chains, strict=True)):
        if each.region == "loop" and (
            chain not in largest or sum(each.cycles.values()) > sum(facts.work[largest[chain]].cycles.values())
        ):
            largest[chain] = number
    total: dict[str, float] = {}
    alone = 0.0
    for number, each in enumerate(facts.work):
        count = 1.0
        if each.region == "loop":
            count = trips.get(chains[number], 1.0) if largest[chains[number]] == number else 0.0
        alone += count * each.alone
        for name, cycles in each.cycles.items():
            total[name] = total.get(name, 0.0) + count * cycles
    return total, alone


def _known(chain: Chain, trips: Trips) -> Chain:
    """What `trips` has a loop by: with all of its calls, or itself alone; of a loop of which only the calls are known,
    the one in them that is executed most."""
    if chain in trips:
        return chain
    alone = ((each,) for each in chain)
    inside = sorted((each for each in trips if chain and each[-len(chain) :] == chain), key=lambda each: -trips[each])
    return next((each for each in (*alone, *inside) if each in trips), chain)
