"""From a call of a kernel to the driver: what arguments are, their specialisation, the key, hooks."""
