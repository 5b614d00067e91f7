"""Layouts of Gluon kernels that the kernel leaves to the compiler."""
