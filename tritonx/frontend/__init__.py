"""The front end: kernels as Python source in, `tt` out. The entry is `compile.make_module`; `errors` can be imported
alone."""
