"""Values of the kernel language, each class in a file of its own with its type.

base                what every type and value can do, in terms of handles
constexpr           compile-time values; constexpr_function, Python that runs while a kernel is compiled
tensor              scalars and blocks; methods, the functions that they have as methods
tuples              tuples and slices
aggregate           structs
descriptors         tensor descriptors and block pointers
"""
