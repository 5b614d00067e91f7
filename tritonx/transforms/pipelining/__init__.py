"""Software pipelining of loops: an interval of a loop runs ops of several iterations, so that copies overlap products.

Three passes, each correct on its own; tests execute the IR between them:

    schedule-loops   assigns each op a stage and a cluster: `loop.stage`, `loop.cluster`; moves nothing
    buffer-values    gives tiles slots in shared memory, with copies, waits and mbarriers
    expand-pipeline  writes prologue and loop: interval t runs an op of stage s for iteration t - s

*The schedule* is Triton's attributes on the ops of the body (`loop_schedule`), so a loop that Triton or a test has
scheduled is handled like one scheduled here. `schedule-loops` computes it: the dependence graph (`loop_graph`), the
loads that run ahead (`loads_ahead`) and the target's costs (`analysis/unit_costs`) give a problem (`loop_problem`)
without IR (`modulo_problem`), which branch and bound solves (`modulo_schedule`).

*Slots.* A value that is live over d intervals needs d + 1 slots; one more if its reader is an asynchronous product,
which reads after it was issued; one less if it is copied behind the readers of the previous iteration.
`buffered_tiles` finds the tiles that may be in slots, `rearrange` changes schedules to need fewer, and `buffer_values`
decides by the shared memory that is left. The result is a `Plan` (`plan`): buffers with the writer and the readers of a
tile, counters, mbarriers with phases, and waits, each at a position of the schedule. A plan is a value without IR and
has a text: `buffer-values{plans=true}` leaves it on the loop, and a plan found on a loop is followed. `Plan.fault`
checks that no slot is overwritten before its last read, and that a wait precedes each read. `copies_to_slots`
materialises the plan.

*Expansion* needs no epilogue: the loop keeps its trip count, and what would run for iterations past the last is masked
(`run_ahead`).

Later passes recover the slots from the IR by evaluating the counters (`analysis/slot_sequence`), so `wait-for-products`
and `insert-barriers` depend on what the loop does and not on what wrote it. Imports among these modules are acyclic.
"""
