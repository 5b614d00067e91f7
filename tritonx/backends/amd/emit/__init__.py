"""How each op is written as LLVM text for AMDGCN."""
