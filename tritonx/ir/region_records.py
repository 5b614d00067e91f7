"""The memory into which a kernel records when its regions begin and end (`proton.record`).

Each warp that records has words of 64 bits of its own, warp after warp of a block, block after block of the grid:

    a header of `HEADER` words      when the warp began and ended, by both clocks, and where it ran
    `slots` records of two words    `number << 32 | 2 * region + is_end`, and the clock

``number`` counts the warp's records from 1. Record n is in slot (n - 1) mod ``slots``, so that the last ones are kept
and the largest number says how many there were. Memory is zero before the launch: a slot whose number is 0 was never
written. So a program may end anywhere, or be stopped, and what it has recorded can be read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from tritonx.dialects.proton import RecordOp
from tritonx.ir.failure import PassError
from tritonx.ir.walk import ops_in

HEADER = 8
BEGIN_NANOSECONDS, BEGIN, PROCESSOR, END_NANOSECONDS, END = range(5)
"""Words of the header. The processor's number is 1 more than the device says; 0: a device does not say."""

WORDS = 2
"""Of a record."""

USUAL_SLOTS = 256
"""Records that a warp keeps where the mode does not say: 128 regions."""


LARGEST_BUFFER = 1 << 30
"""Bytes of a block."""


class BadRecording(ValueError):
    """An ``instrumentation_mode`` that cannot be compiled."""


@dataclass(frozen=True)
class Recording:
    """What is recorded: by which ``warps`` of a block, how many records each keeps (a power of two), and whether the
    clock counts nanoseconds or the processor's cycles.

    >>> recording_of("default:sampling_strategy=selective:sampling_options=0,3", 4).warps
    (0, 3)
    """

    warps: tuple[int, ...]
    slots: int
    nanoseconds: bool

    @property
    def warp_bytes(self) -> int:
        return 8 * (HEADER + WORDS * self.slots)

    @property
    def block_bytes(self) -> int:
        return len(self.warps) * self.warp_bytes


def recording_of(mode: str, warps: int) -> Recording:
    """What the text of a mode, as `tritonx.profiler.mode` writes it, says of a block of so many warps. Raises
    `BadRecording`."""
    _, *parts = mode.split(":")
    options = {key: value for key, _, value in (part.partition("=") for part in parts)}
    chosen = tuple(range(warps))
    if options.get("sampling_strategy", "none") == "selective":
        chosen = _sampled(options.get("sampling_options", ""), warps)
    size = _size(options.get("buffer_size", "0") or "0")
    slots = USUAL_SLOTS
    if size:
        each = (size // max(len(chosen), 1) - 8 * HEADER) // (8 * WORDS)
        if each < 1:
            least = len(chosen) * 8 * (HEADER + WORDS)
            raise BadRecording(f"buffer_size={size} holds no record of each of {len(chosen)} warps: {least} bytes do")
        slots = 1 << (each.bit_length() - 1)
    return Recording(chosen, slots, options.get("metric_type", "cycle") == "time")


def _size(text: str) -> int:
    if not (text.isdecimal() and len(text) < 20 and int(text) <= LARGEST_BUFFER):
        raise BadRecording(f"buffer_size={text[:40]} is no number of bytes up to {LARGEST_BUFFER}")
    return int(text)


def _sampled(text: str, warps: int) -> tuple[int, ...]:
    """The numbers of warps that are there, in their order. A kernel may have fewer than another that is sampled."""
    try:
        numbers = {int(part) for part in text.split(",") if part.strip()}
    except ValueError:
        raise BadRecording(f"sampling_options={text!r} are no numbers of warps") from None
    if not numbers or min(numbers) < 0:
        raise BadRecording(f"sampling_options={text!r} name no warp")
    return tuple(sorted(number for number in numbers if number < warps))


@dataclass(frozen=True)
class Measured:
    """A region: its name and, of an asynchronous event, a number that no other event of the module has."""

    name: str
    event: int | None = None

    @staticmethod
    def of(op: RecordOp) -> Measured:
        """That an end belongs to."""
        return Measured(op.region.data, None if op.event is None else op.event.value.data)


@dataclass(frozen=True)
class Regions:
    """The regions of a module that are measured, by their numbers, and how."""

    found: tuple[Measured, ...]
    recording: Recording

    @staticmethod
    def of(module: ModuleOp, mode: str, warps: int) -> Regions | None:
        """None where nothing is measured. Raises PassError for a mode that cannot be."""
        found = tuple(dict.fromkeys(map(Measured.of, records_in(module)))) if mode else ()
        if not found:
            return None
        try:
            return Regions(found, recording_of(mode, warps))
        except BadRecording as error:
            raise PassError(next(iter(records_in(module))), str(error)) from None

    def key(self, op: RecordOp) -> int:
        """The low word of a record of the op."""
        return 2 * self.found.index(Measured.of(op)) + (not op.is_start)

    def metadata(self) -> dict[str, object]:
        """What a launch must know."""
        recording = self.recording
        return {
            "regions": tuple(each.name for each in self.found),
            "region_events": tuple(number for number, each in enumerate(self.found) if each.event is not None),
            "region_warps": recording.warps,
            "region_slots": recording.slots,
            "region_clock": "nanoseconds" if recording.nanoseconds else "cycles",
        }


def records_in(module: ModuleOp) -> Iterable[RecordOp]:
    """In the order of the text."""
    return (op for op in ops_in(module) if isinstance(op, RecordOp))
