"""What `tritonx seal` is made of: `domains` of arguments, the `members` of a kernel, `package` that lists kernels."""
