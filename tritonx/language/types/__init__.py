"""Types of the kernel language: element types, pointers and blocks (``dtypes``), their names, signatures and shapes."""
