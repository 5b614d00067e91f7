"""PTX to a cubin: the assembler, what it assembles wrong, what it needs to be told; and back to SASS."""
