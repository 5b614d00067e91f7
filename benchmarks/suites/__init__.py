"""Libraries' own tests under two Tritons: what `libraries.py` is made of."""
