"""Tensor maps: made by the host of a descriptor, by a launch, or by the kernel; `tensor_map` says what one is."""
