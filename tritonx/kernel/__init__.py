"""What ``@jit`` declares: a Python function with its source, its parameters and what its meaning depends on.

Below the language, the front end and the runtime, which all speak of kernels: nothing here compiles, launches or knows
a device. What can be launched is ``tritonx.runtime.compiling.jit_function``.
"""
