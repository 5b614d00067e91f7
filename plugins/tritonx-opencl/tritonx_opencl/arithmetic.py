"""Nothing any more: `tritonx.backends.gpu` has it."""
