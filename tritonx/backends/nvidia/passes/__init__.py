"""The passes that NVIDIA alone has; `tritonx.backends.nvidia.inserts` has their places in the pipeline."""
