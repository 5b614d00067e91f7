"""What a user of the runtime can catch. Imports nothing, so that every layer may raise these.

The names and the constructor arguments of the first group are Triton's; libraries catch them by name.
"""

from __future__ import annotations


class TritonError(Exception):
    """The base of every error that tritonx raises on purpose.

    >>> issubclass(tritonx.CompilationError, tritonx.TritonError)
    True
    """


class InterpreterError(TritonError):
    """A kernel did something wrong while the interpreter ran it (out of bounds, uninitialised memory, ...).

    >>> from tritonx.interpreter import interpreted
    >>> try:
    ...     interpreted(double)[(1,)](np.zeros(4), BLOCK=8)
    ... except tritonx.InterpreterError as error:
    ...     print("element 4 of x" in str(error))
    True
    """

    def __init__(self, error_message: str | None = None) -> None:
        super().__init__(error_message or "")
        self.error_message = error_message

    def __str__(self) -> str:
        return self.error_message or ""


class OutOfResources(TritonError):
    """The kernel needs more of ``name`` (shared memory, registers, threads: in that resource's unit) than there is.

    The autotuner treats a configuration that raises this as infinitely slow.

    >>> print(tritonx.OutOfResources(300_000, 232_448, "shared memory", hint="Take smaller blocks."))
    out of resource: shared memory, Required: 300000, Hardware limit: 232448. Take smaller blocks.
    """

    def __init__(self, required: int, limit: int, name: str, hint: str | None = None) -> None:
        super().__init__(required, limit, name)
        self.required = required
        self.limit = limit
        self.name = name
        self.hint = hint or "Reducing block sizes or `num_stages` may help."

    def __str__(self) -> str:
        return f"out of resource: {self.name}, Required: {self.required}, Hardware limit: {self.limit}. {self.hint}"

    def __reduce__(self) -> tuple[type[OutOfResources], tuple[object, ...]]:
        return type(self), (self.required, self.limit, self.name, self.hint)


class Foreseen(OutOfResources):
    """As told before the kernel was compiled to the end: it would not run, or keep what it computes in memory.

    >>> issubclass(Foreseen, tritonx.OutOfResources)
    True
    """


class PTXASError(TritonError):
    """The vendor's assembler refused what the compiler wrote. Triton's name for it, whatever the vendor.

    >>> print(PTXASError("line 3: unknown instruction"))
    PTXAS error: line 3: unknown instruction
    """

    def __init__(self, error_message: str | None = None) -> None:
        super().__init__(error_message or "")
        self.error_message = error_message or ""

    def __str__(self) -> str:
        return f"PTXAS error: {self.error_message}"


class AutotunerError(TritonError, RuntimeError):
    """``early_config_prune`` left no configuration to measure.

    >>> print(AutotunerError("no configuration is left"))
    Autotuner error: no configuration is left
    """

    def __init__(self, error_message: str | None = None) -> None:
        super().__init__(error_message or "")
        self.error_message = error_message or ""

    def __str__(self) -> str:
        return f"Autotuner error: {self.error_message}"


class OtherKernel(TritonError, RuntimeError):
    """What is preloaded was recorded for another kernel; names both.

    >>> issubclass(OtherKernel, RuntimeError)
    True
    """


class NoDevice(TritonError):
    """A backend was asked for its driver on a machine without its device or its vendor library; says which and why.

    >>> issubclass(NoDevice, tritonx.TritonError)
    True
    """


class NoTimer(TritonError):
    """A way to time launches cannot be used here; says why.

    >>> issubclass(NoTimer, tritonx.TritonError)
    True
    """


class TimesLost(UserWarning):
    """Some launches of a profiled program are not timed, or not counted where they belong; says why.

    >>> issubclass(TimesLost, UserWarning)
    True
    """


class StartedBeforeFork(NoDevice):
    """The machine has the device, but a process from which this one was forked had started its driver, which a fork
    does not survive: kernels compile here, and cannot be launched.

    >>> from tritonx.runtime.errors import NoDevice
    >>> issubclass(StartedBeforeFork, NoDevice)
    True
    """


class NoBackend(TritonError):
    """No backend of this name, or none for these arguments; says which there are.

    >>> source = tritonx.compiler.ASTSource(double, {"x": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 8})
    >>> tritonx.compile(source, "abacus")
    Traceback (most recent call last):
        ...
    tritonx.runtime.errors.NoBackend: no backend named 'abacus' can be used; there are ...
    """


class MissingLibrary(TritonError, FileNotFoundError):
    """The kernel calls a device library that is not on this machine; says which, and how to supply it.

    >>> issubclass(MissingLibrary, FileNotFoundError)
    True
    """


class MixedDevices(TritonError, ValueError):
    """The array arguments of one launch live in different places; names two of them. Triton raises a ValueError for an
    argument on the host.

    >>> issubclass(MixedDevices, ValueError)
    True
    """


class ReadOnlyArgument(TritonError, ValueError):
    """A kernel stores through an argument whose array may not be written to; names both.

    >>> x = np.zeros(8)
    >>> x.flags.writeable = False
    >>> double[(1,)](x, BLOCK=8)
    Traceback (most recent call last):
        ...
    tritonx.runtime.errors.ReadOnlyArgument: double stores through its argument x, which may not be written to ...
    """

    def __init__(self, kernel: str, argument: str) -> None:
        super().__init__(kernel, argument)
        self.kernel = kernel
        self.argument = argument

    def __str__(self) -> str:
        return (
            f"{self.kernel} stores through its argument {self.argument}, which may not be written to (a NumPy array "
            f"whose flags.writeable is False, an array of JAX, or a read-only one of another library): pass a copy; "
            f"for JAX, whose arrays are immutable, tritonx.jax.call launches a kernel and returns new ones"
        )


class UnsupportedArgument(TritonError, TypeError):
    """An argument of a kind, or an array of a dtype, that a kernel cannot take.

    >>> double[(1,)](np.zeros(8, "U4"), BLOCK=8)
    Traceback (most recent call last):
        ...
    tritonx.runtime.devices.dtype_names.UnsupportedDtype: at 1:11:
    def double(x, BLOCK: tl.constexpr):
               ^
    argument 'x' of double(): '<U4' arrays cannot be kernel arguments; the language has bfloat16, ...
    """


class UnreachableArgument(UnsupportedArgument, ValueError):
    """An array that lives where the backend which was chosen for every launch cannot reach it (on the host, mostly).

    >>> issubclass(UnreachableArgument, ValueError)
    True
    """


class NullPointer(TritonError, ValueError):
    """A kernel accesses memory through an argument that has none: 0, or an array whose storage is freed or empty.

    >>> error = NullPointer("double", "x")
    >>> "double accesses memory through its argument x, which is a null pointer" in str(error)
    True
    """

    def __init__(self, kernel: str, argument: str, where: str = "", place: str = "") -> None:
        self.kernel, self.argument, self.where, self.place = kernel, argument, where, place
        super().__init__(
            f"{place}{kernel} accesses memory through its argument {argument}, which is a null pointer{where}: 0, or "
            "an array without memory (an empty one, or one whose storage was freed). Pass an array that has memory; "
            "where the kernel is to access nothing, its masks must say so."
        )

    def __reduce__(self) -> tuple[type[NullPointer], tuple[str, ...]]:
        return NullPointer, (self.kernel, self.argument, self.where, self.place)


class IrregularArgument(UnsupportedArgument, ValueError):
    """A number that a kernel's code was made to find otherwise, such as a stride below 0. A kernel that has its source
    has code for it made (``otherwise`` of its metadata), so that this is seen of text only, which has none.

    >>> issubclass(IrregularArgument, ValueError)
    True
    """


class ArgumentMisfit(TritonError, TypeError):
    """A launch gives a kernel too few or too many arguments; the message shows its ``def``.

    >>> double[(1,)]()
    Traceback (most recent call last):
        ...
    tritonx.runtime.errors.ArgumentMisfit: at 1:11:
    def double(x, BLOCK: tl.constexpr):
               ^
    double() missing 2 required positional arguments: 'x' and 'BLOCK'
    ...
    """


class UnknownKeyword(TritonError, KeyError):
    """A keyword of a launch that is neither a parameter of the kernel nor an option of the backend.

    >>> double[(1,)](np.zeros(8), BLOCK=8, nothing=1)
    Traceback (most recent call last):
        ...
    tritonx.runtime.errors.UnknownKeyword: at 1:0:
    def double(x, BLOCK: tl.constexpr):
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    Keyword argument nothing was specified but unrecognised
    ...
    """

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError shows its key as Python would write it


class DeprecatedKeyword(UnknownKeyword, AssertionError):
    """A keyword that launches once took. Triton asserts that there is none.

    >>> double[(1,)](np.zeros(8), BLOCK=8, stream=0)
    Traceback (most recent call last):
        ...
    tritonx.runtime.errors.DeprecatedKeyword: at 1:0:
    def double(x, BLOCK: tl.constexpr):
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    stream option is deprecated; current stream will be used
    ...
    """


class NotCallable(TritonError, TypeError, AssertionError):
    """What should be a function is none. Triton asserts it.

    >>> double.add_pre_run_hook(3)
    Traceback (most recent call last):
        ...
    tritonx.runtime.errors.NotCallable: a hook is called before every launch, which 3 cannot be
    """


class ImpossibleOption(TritonError, ValueError, AssertionError):
    """An option of a launch whose value the backend cannot do. Triton asserts some of it.

    >>> double[(1,)](np.zeros(8), BLOCK=8, num_warps=3)
    Traceback (most recent call last):
        ...
    tritonx.runtime.errors.ImpossibleOption: at 1:0:
    def double(x, BLOCK: tl.constexpr):
    ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    num_warps must be a power of 2, got 3
    ...
    """


class TooManyThreads(OutOfResources, ImpossibleOption):
    """A block of ``num_warps`` warps has more threads than one can have.

    >>> print(TooManyThreads(4096, 1024))
    out of resource: threads, Required: 4096, Hardware limit: 1024. Use a smaller num_warps.
    """

    def __init__(self, required: int, limit: int) -> None:
        OutOfResources.__init__(self, required, limit, "threads", "Use a smaller num_warps.")

    def __reduce__(self) -> tuple[type[OutOfResources], tuple[object, ...]]:
        return type(self), (self.required, self.limit)


class BackendContractError(TritonError):
    """A backend broke ``backends/api.py``: the message says what it returned and what was expected.

    >>> issubclass(BackendContractError, tritonx.TritonError)
    True
    """


class CorruptCacheEntry(TritonError):
    """A file of the compile cache is truncated or not ours. The cache removes the entry and compiles again.

    >>> issubclass(CorruptCacheEntry, tritonx.TritonError)
    True
    """


class NotSealed(TritonError):
    """A launch would have to compile, and ``TRITONX_SEALED`` compiles nothing; names the argument that has no member,
    or what else is the cause.

    >>> issubclass(NotSealed, tritonx.TritonError)
    True
    """


class BadCacheName(TritonError, ValueError):
    """A key or file name that would not be a file of the cache's own folder.

    >>> tritonx.runtime.cache.FileCacheManager("../elsewhere")
    Traceback (most recent call last):
    tritonx.runtime.errors.BadCacheName: the key '../elsewhere' is not the name of a file
    """

    def __init__(self, what: str, name: object) -> None:
        super().__init__(f"{what} {name!r} is not the name of a file")


class BadSetting(TritonError, ValueError, RuntimeError):
    """An environment variable holds what its setting cannot be; names the variable and says what is expected.

    >>> import os
    >>> with tritonx.knobs.autotuning.scope():
    ...     os.environ["TRITON_TUNING_WORKERS"] = "many"
    ...     tritonx.knobs.autotuning.workers
    Traceback (most recent call last):
        ...
    tritonx.runtime.errors.BadSetting: environment variable TRITON_TUNING_WORKERS: expected a number ..., got 'many'
    """


class NoAllocator(TritonError, RuntimeError):
    """The kernel needs scratch memory and ``tritonx.set_allocator`` was not called.

    >>> issubclass(NoAllocator, RuntimeError)
    True
    """


class DeviceAssertError(TritonError, AssertionError, RuntimeError):
    """``tl.device_assert`` failed in a running kernel; says the message, the kernel's line and the program. Where a GPU
    runs the kernel it is PyTorch that tells, by a RuntimeError of a "device-side assert": programs look for both.

    >>> @tritonx.jit
    ... def careful(x):
    ...     tl.device_assert(tl.load(x) > 0, "not positive")
    >>> careful[(1,)](np.zeros(1), debug=True)
    Traceback (most recent call last):
        ...
    tritonx.runtime.errors.DeviceAssertError: ... not positive (device-side assert in program (0, 0, 0), element 0)
    """


class NotOffered(TritonError, AttributeError):
    """A name of Triton's that tritonx does not have; says why.

    >>> tritonx.testing.cuda_memcheck
    Traceback (most recent call last):
        ...
    tritonx.runtime.errors.NotOffered: tritonx does not offer tritonx.testing.cuda_memcheck: run the vendor's ...
    """


class NotOfferedImport(TritonError, ImportError):
    """The same, where ``from module import name`` asks for it.

    >>> issubclass(NotOfferedImport, ImportError)
    True
    """


class NotOfferedModule(TritonError, ModuleNotFoundError):
    """A module of Triton's that tritonx does not have; says why.

    >>> issubclass(NotOfferedModule, ModuleNotFoundError)
    True
    """
