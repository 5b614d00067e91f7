"""What `tritonx seal` is made of: `domains` of arguments, the `members` of a kernel, `draws` of its launches, and
`package`, which lists kernels."""
