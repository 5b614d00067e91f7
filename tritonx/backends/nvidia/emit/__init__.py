"""How each op is written as LLVM text for PTX; the table of all is `table`."""
