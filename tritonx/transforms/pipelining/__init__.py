"""The pipeliner: an interval of a loop runs ops of several iterations, so that copies run beside products.

Three passes, each right by itself, with text between them that tests execute:

    schedule-loops   which op runs how many intervals after the first, and in which order: `loop.stage`, `loop.cluster`
    buffer-values    which tiles wait in slots of shared memory, who brings them, who waits for them where
    expand-pipeline  prologue and loop: in interval t an op of stage s runs for iteration t - s

*The schedule* is Triton's text, attributes on the ops of the body (`loop_schedule`), so that a loop that Triton, or a
test, has scheduled is taken as one of ours. `schedule-loops` finds it: the body's dependences (`loop_graph`), the loads
that run ahead (`loads_ahead`) and the target's costs (`analysis/unit_costs`) make a problem (`loop_problem`) without
any IR (`modulo_problem`), which branch and bound solves (`modulo_schedule`).

*The slots.* A value that waits over d intervals needs d + 1 slots, or one more where its reader is a product that reads
on after it was issued; one less where it is brought behind its readers of the round before. `buffered_tiles` says what
may wait in slots, `rearrange` changes schedules so that it takes fewer, and `buffer_values` decides by the room that
there is. What is decided is a `Plan` (`plan`): buffers with who
brings a tile and who reads it until when, counters, mbarriers with phases, waits, each at a place of the schedule. It
is a value without IR, and text: `buffer-values{plans=true}` leaves it on the loop, and a plan that stands on a loop is
taken as it is. `Plan.fault` proves that no slot is overwritten before it was read, and that whoever reads has waited.
`copies_to_slots` writes it down.

*The expansion* needs nothing behind the loop: the loop has as many rounds as before, and what runs ahead of the last
iteration does nothing (`run_ahead`).

Behind the pipeliner the slots are found in the text, by counting along (`analysis/slot_sequence`): so
`wait-for-products` and `insert-barriers` go by what the loop does, whoever has written it. No module here imports one
that imports it.
"""
