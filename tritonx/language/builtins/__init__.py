"""Builtins of the kernel language, one file an op family; ``builtin`` is the decorator that makes a function one.

A builtin passes its arguments to the ``Semantics`` that the compiler or the interpreter hands it, and imports no IR.
Each family lists in ``__all__`` what ``tl`` and ``tl.core`` export.
"""
