"""LLVM in a process of its own.

LLVM reports what it cannot do by ``exit`` and ``abort``: a constraint that it does not know, an instruction that it
cannot select, malformed text (llvmlite's LLVM has assertions). What our emitters write has been seen to be safe and is
compiled in the user's process. What has not, is compiled in a helper process: kernels with inline assembly or with
functions of a library that the backend does not list, text that comes from a file, and everything under
``TRITONX_ISOLATE=1``. A helper's death is then an error with the kernel's line and LLVM's own words.

    channel     one message: a header and texts or bytes, on a socket
    worker      the helper's side: call the named function, answer
    helper      our side of one helper: start, ask within a time limit, end
    pool        the helpers of this process, kept warm; threads, forks and the end of the process
    translate   what a backend's stage calls: here or there, and what goes wrong as a typed error

What crosses is plain: text in, the names of a function and of its options, text and bytes out. The function is the
same one that would have been called here, so that the results are the same bits.
"""
