"""Random layouts of Gluon as plain data, [class, {parameter: argument}], which tritonx and the Triton wheel both make.

An argument that is a layout is such a pair itself."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import ModuleType

Case = list


def power(rng: random.Random, most: int) -> int:
    return 1 << rng.randint(0, most)


def counts(rng: random.Random, rank: int, bits: int) -> list[int]:
    """Powers of two whose product is ``1 << bits``."""
    found = [1] * rank
    for _ in range(bits):
        found[rng.randrange(rank)] *= 2
    return found


def permutation(rng: random.Random, rank: int) -> list[int]:
    return rng.sample(range(rank), rank)


def cga(rng: random.Random, rank: int, most: int = 2, copies: bool = True) -> list[list[int]]:
    """Bases that count along some dims, in any order of dims; a zero one is of blocks that hold copies."""
    found, next_step = [], [1] * rank
    for _ in range(rng.choice([0, 0, *range(1, most + 1)])):
        dim = rng.randrange(rank + copies)
        found.append([next_step[at] if at == dim else 0 for at in range(rank)])
        if dim < rank:
            next_step[dim] *= 2
    return found


def blocked(rng: random.Random) -> Case:
    rank = rng.randint(1, 3)
    fields = {"size_per_thread": counts(rng, rank, rng.randint(0, 4)), "threads_per_warp": counts(rng, rank, 5)}
    fields |= {"warps_per_cta": counts(rng, rank, rng.randint(0, 3)), "order": permutation(rng, rank)}
    return ["BlockedLayout", {**fields, "cga_layout": cga(rng, rank)}]


def mma(rng: random.Random) -> Case:
    major = rng.choice([2, 3])
    instruction = [16, 8] if major == 2 else [16, 8 * power(rng, 5), 16]
    warps = counts(rng, 2, rng.randint(0, 3)) if major == 2 else [4 * power(rng, 1), power(rng, 1)]
    return [
        "NVMMADistributedLayout",
        {"version": [major, 0], "warps_per_cta": warps, "instr_shape": instruction, "cga_layout": cga(rng, 2)},
    ]


def mfma(rng: random.Random) -> Case:
    version = rng.choice([3, 4])
    m, k = rng.choice([(32, 8), (16, 16)])
    fields = {"version": version, "instr_shape": [m, m, k], "transposed": rng.random() < 0.5}
    fields |= {"warps_per_cta": counts(rng, 2, 2), "tiles_per_warp": rng.choice([None, [1, 1], [2, 2], [1, 4]])}
    return ["AMDMFMALayout", {**fields, "element_bitwidth": rng.choice([None, 32]), "cga_layout": cga(rng, 2)}]


def wmma(rng: random.Random) -> Case:
    version, rank = rng.choice([1, 2, 3]), rng.choice([2, 2, 3])
    tiles, warps = counts(rng, rank, rng.randint(0, 2)), counts(rng, rank, rng.randint(0, 3))
    if version == 1 or rank == 3:
        tiles = [1] * rank
    dims = [*reversed(range(rank))]
    one = [1] * rank
    register, warp = (
        [
            [unit[dim] << bit if at == dim else 0 for at in range(rank)]
            for dim in dims
            for bit in range(counted[dim].bit_length() - 1)
        ]
        for counted, unit in ((tiles, one), (warps, tiles))
    )
    if rng.random() < 0.6:  # not as warps are counted
        steps = [*register, *warp]
        rng.shuffle(steps)
        register, warp = steps[: len(register)], steps[len(register) :]
        at = rng.randint(0, len(warp))
        warp[at:at] = [[0] * rank] * rng.randint(0, 1)
    instruction = [16, 16, rng.choice([32, 64]) if version == 3 else 16]
    fields = {"version": version, "transposed": rng.random() < 0.5, "warp_bases": warp, "reg_bases": register}
    return ["AMDWMMALayout", {**fields, "instr_shape": instruction, "cga_layout": cga(rng, rank), "rank": rank}]


def linear(rng: random.Random) -> Case:
    rank = rng.randint(1, 3)
    shape = counts(rng, rank, rng.randint(3, 12))
    units = [[1 << bit if at == dim else 0 for at in range(rank)] for dim in range(rank) for bit in range(12)]
    units = [unit for unit in units if all(step < size for step, size in zip(unit, shape, strict=True))]
    units += [[0] * rank] * (max(0, 7 - len(units)) + rng.randint(0, 2))
    rng.shuffle(units)
    lane, warp, block, register = units[:5], units[5:7], [], units[7:]
    if register and rng.random() < 0.3:
        block.append(register.pop())
    bases = {"reg_bases": register, "lane_bases": lane, "warp_bases": warp, "block_bases": block}
    return ["DistributedLinearLayout", {**bases, "shape": shape}]


def sliced(rng: random.Random) -> Case:
    parent = rng.choice([blocked, mma, mfma])(rng)
    rank = len(parent[1]["warps_per_cta"])
    return ["SliceLayout", {"dim": rng.randrange(rank), "parent": parent}] if rank > 1 else parent


def operand(rng: random.Random) -> Case:
    index, parent, width = rng.randrange(2), blocked(rng), 0
    while len(parent[1]["order"]) < 2:
        parent = blocked(rng)
    if rng.random() < 0.7:
        parent, width = rng.choice([mma, mfma, wmma, wmma])(rng), rng.choice([1, 2, 4])
        if parent[0] == "AMDWMMALayout":
            width = {1: 16, 2: 8, 3: rng.choice([2, 8, 16])}[parent[1]["version"]]
    if parent[1].get("version") == [3, 0]:  # which reads the right operand from shared memory
        index = 0
    return ["DotOperandLayout", {"operand_index": index, "parent": parent, "k_width": width}]


def nvmma_shared(rng: random.Random) -> Case:
    rank, width, bits = rng.randint(1, 4), rng.choice([0, 32, 64, 128]), rng.choice([8, 16, 32, 64])
    padded = (width, bits) == (128, 8) and rng.random() < 0.5
    fields = {"swizzle_byte_width": width, "element_bitwidth": bits, "rank": rank}
    fields |= {"transposed": rng.random() < 0.5, "fp4_padded": padded}
    return ["NVMMASharedLayout", {**fields, "cga_layout": cga(rng, rank)}]


def swizzled(rng: random.Random) -> Case:
    rank = rng.randint(1, 4)
    fields = {"vec": power(rng, 4), "per_phase": power(rng, 3), "max_phase": power(rng, 3)}
    return ["SwizzledSharedLayout", {**fields, "order": permutation(rng, rank), "cga_layout": cga(rng, rank)}]


def padded(rng: random.Random) -> Case:
    rank = rng.randint(1, 3)
    blocks, share = cga(rng, rank, copies=False), counts(rng, rank, rng.randint(2, 10))
    splits = [max([2 * basis[dim] for basis in blocks], default=1) or 1 for dim in range(rank)]
    shape = [size * split for size, split in zip(share, splits, strict=True)]
    dims = permutation(rng, rank)
    bases = [[1 << b if at == d else 0 for at in range(rank)] for d in dims for b in range(share[d].bit_length() - 1)]
    if rng.random() < 0.5:
        rng.shuffle(bases)
    pairs = [[1 << bits, power(rng, 4)] for bits in rng.sample(range(4, 10), rng.randint(1, 2))]
    fields = {"interval_padding_pairs": pairs, "offset_bases": bases, "cga_layout": blocks, "shape": shape}
    return ["PaddedSharedLayout", fields]


def shared_linear(rng: random.Random) -> Case:
    rank = rng.randint(1, 3)
    shape = counts(rng, rank, rng.randint(1, 9))
    steps = [(dim, bit) for dim in range(rank) for bit in range(shape[dim].bit_length() - 1)]
    bases = [[1 << bit if at == dim else 0 for at in range(rank)] for dim, bit in steps]
    rng.shuffle(bases)
    blocks = [bases.pop()] if len(bases) > 1 and rng.random() < 0.4 else []
    for _ in range(rng.randint(0, 3)):  # a step more keeps every element reached
        at, other = rng.randrange(len(bases)), rng.choice([*bases, *blocks])
        if bases[at] is not other:
            bases[at] = [a ^ b for a, b in zip(bases[at], other, strict=True)]
    return ["SharedLinearLayout", {"offset_bases": bases, "block_bases": blocks, "alignment": 8 * power(rng, 4)}]


def tensor_memory(rng: random.Random) -> Case:
    parts = rng.choice([[], [], [[1, 0]], [[0, 1]], [[1, 0], [0, 1]], [[1, 0], [2, 0]]])
    fields = {"block": [rng.choice([64, 128]), 32 * power(rng, 3)], "col_stride": power(rng, 1), "cga_layout": parts}
    return ["TensorMemoryLayout", fields]


def scales(rng: random.Random) -> Case:
    return ["TensorMemoryScalesLayout", {"cga_layout": rng.choice([[], [[1, 0]], [[0, 1]]])}]


DISTRIBUTED: tuple[Callable[[random.Random], Case], ...] = (blocked, mma, mfma, wmma, linear, sliced, operand)
SHARED: tuple[Callable[[random.Random], Case], ...] = (nvmma_shared, swizzled, padded, shared_linear)
TENSOR: tuple[Callable[[random.Random], Case], ...] = (tensor_memory, scales)


def made(case: Case, module: ModuleType) -> object:
    """The layout that a module's class of that name makes."""
    name, fields = case
    arguments = {key: made(value, module) if key == "parent" else value for key, value in fields.items()}
    return getattr(module, name)(**arguments)
