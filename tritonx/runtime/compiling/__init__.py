"""From a source to a compiled kernel: what is compiled, under which key, by whom, and the result."""
