"""The only place that touches xDSL internals: op declaration and creation, text, verification, building."""
