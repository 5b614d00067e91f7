"""What the layout stages need to know of a device, in words that name no vendor."""

from __future__ import annotations

from dataclasses import dataclass

from tritonx.analysis.chip import Chip
from tritonx.analysis.residency import Residency
from tritonx.analysis.unit_costs import UNKNOWN_COSTS, UnitCosts
from tritonx.conversion.tile_to_gpu.matrix_unit import MatrixUnit, Product, Threads
from tritonx.conversion.tile_to_gpu.multiply_adds import MultiplyAdds

MULTIPLY_ADDS = MultiplyAdds()


@dataclass(frozen=True)
class GpuTarget:
    """A device and a launch shape.

    `name` is the text of the module's `ttg.target`. `units` multiply matrices, beside the threads themselves.
    `options` are the compile options, by name, that the backend made this of beside the launch shape: with them
    `tritonx-opt` makes it again.

    >>> GpuTarget("mychip:2", warp_size=64, num_warps=8).num_warps
    8
    """

    name: str
    warp_size: int = 32
    num_warps: int = 4
    num_ctas: int = 1
    units: tuple[MatrixUnit, ...] = ()
    vector_bits: int = 128
    """Widest access of a thread to global memory."""
    summed: tuple[tuple[str, int], ...] = ()
    """Types of floats of which one atomic, a sum mostly, takes several neighbours, with how many."""
    shared_memory: int = 48 * 1024
    """Bytes of shared memory that a block may have; every GPU gives it this many."""
    options: tuple[tuple[str, int | str | bool], ...] = ()
    num_stages: int = 1
    """Of loops that do not say themselves how many stages they want."""
    costs: UnitCosts = UNKNOWN_COSTS
    pipelined: bool = False
    """Whether the copies of loops with products run ahead of what needs them."""
    block_copies: str = ""
    """The dialect whose ops copy blocks of descriptors to shared memory (`BlockCopies`); none where there are none."""
    named_registers: int | None = None
    """Registers that code can give a thread of such a launch, where these are others than the `costs` say."""
    register_limits: bool = False
    """Whether a thread gets as many registers as are asked for."""
    matrix_loads: bool = False
    """Whether warps load tiles of matrices from shared memory, each lane its part."""
    matrix_stores: bool = False
    """Whether they store such tiles."""
    stores_results: bool = False
    """Whether a product's result goes to global memory in its unit's layout, where a thread has neighbours in it."""
    swapped_lanes: tuple[int, ...] = ()
    """Lanes, as masks, of which one instruction swaps two registers: one's second with the other's first."""
    residency: Residency | None = None
    """How many blocks a processor holds; None where that is not known."""
    chip: Chip | None = None
    """The chip that times are estimated for; None where none is known."""

    @property
    def threads(self) -> Threads:
        return Threads(self.num_warps, self.warp_size, self.num_ctas)

    @property
    def packs_along_k(self) -> bool:
        """Whether threads that load and store operands best have neighbours along K: a unit takes words of them."""
        return any(unit.packs_along_k for unit in self.units)

    @property
    def transposed_bytes(self) -> int:
        """Bytes of neighbours along another dim of which a unit's reads of shared memory make words along K; 0 where
        there are no such reads."""
        return max((unit.transposed_bytes for unit in self.units), default=0)

    @property
    def matrix_types(self) -> frozenset[str]:
        """The element types of operands for which there is a unit beside the threads."""
        return frozenset[str]().union(*(unit.types for unit in self.units))

    @property
    def scaling_unit(self) -> MatrixUnit:
        """The unit that multiplies with scales; the threads, which refuse, where there is none."""
        return next((unit for unit in self.units if unit.scaled_instructions), MULTIPLY_ADDS)

    @property
    def scaled_products(self) -> tuple[str, str]:
        """The formats and the instructions of that unit, as `DecomposeScaledDots` has them."""
        unit = self.scaling_unit
        shapes = ("x".join(map(str, shape)) for shape in unit.scaled_instructions)
        return " ".join(sorted(unit.scaled_formats)), " ".join(shapes)

    def unit_for(self, product: Product) -> MatrixUnit:
        """The cheapest of the units that take it, of equal ones the first."""
        taking = [unit for unit in (*self.units, MULTIPLY_ADDS) if unit.takes(product, self.threads)]
        return min(taking, key=lambda unit: unit.cycles(product))
