"""LLVM text to SPIR-V, by LLVM's own target for it."""
