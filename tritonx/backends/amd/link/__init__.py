"""Linking one AMDGPU object into a loadable code object, in the process."""

from tritonx.backends.amd.link.linker import LinkError, link

__all__ = ["LinkError", "link"]
