"""The cases, one module an op family; each has its kernels, NumPy's answers, and ``cases(cover)``."""
