"""The passes that AMD alone has; where each stands says `tritonx.backends.amd.inserts`."""
