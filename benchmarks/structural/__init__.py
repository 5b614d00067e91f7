"""What compiled kernels are made of, beside Triton's (`benchmarks/structure.py`)."""
