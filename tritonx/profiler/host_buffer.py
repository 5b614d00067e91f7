"""What a launch has recorded, as the bytes that Triton's tools read.

32-bit little-endian words: version 1, offset and size of the head, offset and size of the blocks, the device's type (1
and 2 for the two that Triton has, 0 for others), blocks, warps, the bytes of a block, warps that record, their numbers.
A block is its mark, its number, its processor, the bytes of its records; three times in nanoseconds of 64 bits (it
began, it ended, 0); for each warp the words that it has recorded; and for each warp that records, its records. A record
is two words: the highest bit says that a region ends, eight bits its number, the others are the clock's 43 lowest."""

from __future__ import annotations

import importlib
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from tritonx.profiler.profilers import BY_BACKEND
from tritonx.profiler.regions import BEGIN_NANOSECONDS, END_NANOSECONDS, PROCESSOR

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tritonx.runtime.launch.measured_launch import Recorded, Records, RecordsOfLaunch

VERSION = 1
MARK = 0xDEADBEEF
"""Of a block that has run."""
_WORD = 4
_HEAD = 10
"""Words, without the numbers of the warps."""
_BLOCK_HEAD = 10
"""Words, without the counts of the warps."""
_REGIONS = 1 << 8


def encoded(records: Records | None, warps: int, recording: Sequence[int], backend: str) -> NDArray[np.uint8]:
    """All bytes, for a kernel of so many warps, of which these record; a head alone for a launch without records."""
    import numpy as np

    blocks = np.zeros(0, np.uint32) if records is None else _blocks(records, warps, recording)
    count = 0 if records is None or not records.units else int(records.blocks.max()) + 1
    size = _WORD * (_HEAD + len(recording))
    kind = [*BY_BACKEND].index(backend) + 1 if backend in BY_BACKEND else 0
    of_block = blocks.nbytes // count if count else 0
    head = [VERSION, 4, size, size, blocks.nbytes, kind, count, warps, of_block, len(recording), *recording]
    return np.concatenate([np.array(head, np.uint32).view(np.uint8), blocks.view(np.uint8)])


def _blocks(records: Records, warps: int, recording: Sequence[int]) -> NDArray[np.uint32]:
    """The words of all blocks; zeros of those that recorded nothing."""
    import numpy as np

    count = int(records.blocks.max()) + 1 if records.units else 0
    kept = records.slots.shape[1] if records.units else 0
    head = _BLOCK_HEAD + warps
    words = np.zeros((count, head + 2 * kept * len(recording)), np.uint32)
    for unit, (block, warp) in enumerate(zip(records.blocks.tolist(), records.warps.tolist(), strict=True)):
        header, row = records.headers[unit], words[block]
        known = row[0] == MARK
        times = struct.unpack("<2Q", row[4:8].tobytes())
        began, ended = int(header[BEGIN_NANOSECONDS]), int(header[END_NANOSECONDS])
        times = (min(began, times[0]), max(ended, times[1])) if known else (began, ended)
        row[:4] = MARK, block, max(int(header[PROCESSOR]), 0), 2 * _WORD * kept * len(recording)
        row[4:8] = np.frombuffer(struct.pack("<2Q", *times), np.uint32)
        events = _events(records.slots[unit])
        row[_BLOCK_HEAD + warp] = 2 * int(records.slots[unit, :, 0].max(initial=0))
        at = head + 2 * kept * recording.index(warp)
        row[at : at + len(events)] = events
    return words.ravel()


def _events(slots: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The records of a warp, in their order."""
    import numpy as np

    slots = slots[slots[:, 0] != 0]
    _, region, is_end, clock = slots[np.argsort(slots[:, 0], kind="stable")].T
    tags = (is_end << 31) | (region % _REGIONS << 23) | (clock >> 32 & 0x7FF)
    return np.stack([tags, clock & 0xFFFFFFFF], axis=1).astype(np.uint32).ravel()


def of_launch(recorded: Recorded, records: Records) -> object:
    """The buffer of a launch: PyTorch's tensor of bytes or, where there is none, NumPy's array."""
    if hasattr(recorded, "recording"):  # of a device, not of the interpreter; its class imports NumPy
        launch = cast("RecordsOfLaunch", recorded)
        numbers, backend = launch.recording.warps, launch.kernel.target.backend
        warps = max(int(launch.kernel.metadata.num_warps), 1 + max(numbers, default=0))
        return _tensor(encoded(records, warps, numbers, backend))
    return _tensor(encoded(records, 1, (0,), ""))


def without_records() -> object:
    """The buffer of a launch of a kernel that has no regions."""
    return _tensor(encoded(None, 0, (), ""))


def _tensor(found: NDArray[np.uint8]) -> object:
    try:
        return importlib.import_module("torch").from_numpy(found)
    except ImportError:
        return found
