"""Every op of the language on every dtype, compiled for every target: code, or a typed error with the kernel's line.

Nothing runs and no numbers are looked at (that is what conformance is for). What is looked for are the ends of a
compile that no user should see: the end of the process, LLVM's own errors, an exception that is not a refusal, a
refusal that does not say where.

    programs    the table: a small kernel for each op and dtype, generated
    outcome     compiling one of them, and what became of it
    __main__    the command, `python -m tritonx_testing.sweep [target...]`
"""
