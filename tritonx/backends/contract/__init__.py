"""The contract with a backend, a subject a file; `tritonx.backends.api` has all of it, and is what others import."""
