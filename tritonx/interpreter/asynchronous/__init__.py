"""What a `ttg` program means, executed: shared memory, warps, copies and products under way, barriers.

    reports = execute(module, grid, args)

runs a kernel as `interpret` does and says what is wrong with it: a read of what is not visible yet, an overwrite of
what may still be read, a wait that nothing ends, an arrival too many, shared memory never written, a missing
fence. Values are tiles, computed by the meanings of the tile dialect; shared memory is bytes, at the offsets that the
allocation chose, laid out as the types say. `clocks` says what is ordered, `shared` what is in a byte, `barriers` what
an mbarrier is, `group` and `program` what the warps do, `machine` who goes next, `meanings` what each op does.

A module whose memory is placed (`allocate-shared-memory`, `insert-barriers`) says itself where its warps wait for each
other, and every warp is looked at by itself; in any other, accesses of the warps of a group are made in the order of
the program, as Triton's own `.ttgir` means it, and only what is asynchronous can be wrong.
"""

from __future__ import annotations

from tritonx.interpreter.asynchronous.group import Warps
from tritonx.interpreter.asynchronous.machine import Landing, Order
from tritonx.interpreter.asynchronous.reports import Kind, Report
from tritonx.interpreter.asynchronous.run import Setting, Wrong, check, execute
from tritonx.interpreter.asynchronous.timeline import Timeline

__all__ = ["Kind", "Landing", "Order", "Report", "Setting", "Timeline", "Warps", "Wrong", "check", "execute"]
