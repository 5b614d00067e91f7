"""The passes that NVIDIA alone has; where each stands says `tritonx.backends.nvidia.inserts`."""
