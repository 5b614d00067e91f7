"""Machine code executed on the host: straight programs of integers and predicates, to see what an assembler made."""
