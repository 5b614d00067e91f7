"""The text of a loop's body is put in the order of its stages, while what runs when stays.

Ops of one iteration may run in an order that is not the text's. What is made for several of them at the place of the
first must stand behind what it needs of all, as text too, which is read as one iteration after another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from xdsl.ir import Operation

from tritonx.analysis.scheduled_loops import LoopSchedule, Place, set_place
from tritonx.ir.edit import move_before, terminator_of


def put_in_stages(schedule: LoopSchedule) -> LoopSchedule:
    """The schedule of the body after its ops were moved: those of earlier stages stand first, those of one stage as
    they run. Each cluster has ops of one stage then, so that the order of an interval is the one before."""
    places = _of_one_stage(schedule)
    end = terminator_of(schedule.loop.body.block)
    for op in sorted(schedule.order, key=places.__getitem__):
        move_before(op, end)
        set_place(op, places[op])
    return replace(schedule, places=places)


def _of_one_stage(schedule: LoopSchedule) -> Mapping[Operation, Place]:
    """The places with clusters numbered anew: another one where the stage is another."""
    places: dict[Operation, Place] = {}
    before: Place | None = None
    number = -1
    for op in schedule.order:
        place = schedule.places[op]
        number += place != before
        before = place
        places[op] = Place(place.stage, number)
    return places
