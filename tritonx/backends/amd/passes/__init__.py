"""The passes that AMD alone has; `tritonx.backends.amd.inserts` has their places in the pipeline."""
