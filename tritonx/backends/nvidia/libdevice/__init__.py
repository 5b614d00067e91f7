"""NVIDIA's mathematical library, and what stands in for it."""
