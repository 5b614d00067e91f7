"""The source of a function that is compiled rather than called: text, syntax tree, digest.

A kernel's text is taken when it is decorated, because the file may change under a running program. The functions of
tritonx's own standard library are read when first compiled, which keeps ``import tritonx.language`` cheap.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
import textwrap
import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Protocol, SupportsIndex
from weakref import WeakSet

from tritonx.kernel.dependencies import Cells, Dependencies, Dependent, Global, find_dependencies, rebound
from tritonx.kernel.pickling import Named
from tritonx.kernel.syntax import parse
from tritonx.kernel.taken_functions import function_in

_early: ContextVar[bool] = ContextVar("tritonx_early", default=False)
"""Whether dependencies are looked for before a launch asks for them."""

_DEF = re.compile(r"^def\s+\w+\s*[\[(]", re.MULTILINE)
_OWN_PACKAGE = __name__.split(".", 1)[0] + "."


NO_MODULE = "__exec__"
"""What stands for the module of a function that was made by ``exec`` without a ``__name__``."""


def _no_source(fn: Callable[..., Any]) -> str:
    code: Any = getattr(fn, "__code__", None)
    position = f"{code.co_filename}:{code.co_firstlineno}" if code is not None else "nowhere"
    return (
        f"@jit functions should be defined in a Python file: {fn.__name__} has no source\n"
        f"  --> {position} in {fn.__qualname__}\n"
        "hint: Python keeps no text of what exec and python -c run: import the function from a file, or put its text "
        "into linecache.cache under the file name that compile() gets"
    )


_OF_ONE_PROCESS = ("_hash_lock", "_dependencies", "_files", "_tree", "__globals__", "used_by")


class User(Protocol):
    """Who keeps code of a function."""

    def source_changed(self) -> None:
        """The function's text is another now."""


class JITCallable(Named, Dependent):
    """A Python function together with its source; the base of what a kernel may call.

    ``fn`` is the function, ``raw_src`` its lines as they stand in the file with decorators, ``starting_line_number``
    the line of the first of them, ``src`` the dedented text from ``def`` on, whose line 1 is line 1 of error messages.

    >>> isinstance(double, JITCallable), double.src.splitlines()[0]
    (True, 'def double(x, BLOCK: tl.constexpr):')
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn: Any = fn
        self.signature = inspect.signature(fn)
        self.module: str = fn.__module__ or NO_MODULE
        self._file_name: str = fn.__code__.co_filename
        self.noinline: bool = False
        self._fn_name: str = f"{self.module}.{fn.__qualname__}"
        self._hash_lock = threading.RLock()
        self._dependencies: Dependencies | None = None
        self._are_early = False
        self._hash: str | None = None
        self._files: frozenset[str] | None = None
        self._tree: ast.Module | None = None
        self._source: tuple[list[str], int, str] | None = None
        self.used_by: WeakSet[User] = WeakSet()
        """Who compiled kernels that got this function as an argument."""
        if not self.module.startswith(_OWN_PACKAGE):
            self._read_source()
        self.__doc__ = fn.__doc__
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__module__ = self.module
        self.__globals__: dict[str, Any] = fn.__globals__

    def _read_source(self) -> tuple[list[str], int, str]:
        if self._source is None:
            try:
                lines, first = inspect.getsourcelines(self.fn)
            except (OSError, TypeError) as error:
                raise ValueError(_no_source(self.fn)) from error
            text = textwrap.dedent("".join(lines))
            found = _DEF.search(text)
            if found is None:
                raise ValueError(f"@jit expects a function defined with `def`, got {self.fn!r}")
            self._source = (lines, first, text[found.start() :])
        return self._source

    @property
    def raw_src(self) -> list[str]:
        return self._read_source()[0]

    @raw_src.setter
    def raw_src(self, lines: list[str]) -> None:
        """What a generated kernel shows as the lines of the file that it comes from; ``src`` stays."""
        _, first, text = self._read_source()
        self._source = (lines, first, text)

    @property
    def starting_line_number(self) -> int:
        return self._read_source()[1]

    @starting_line_number.setter
    def starting_line_number(self, first: int) -> None:
        """The file that a generated kernel names; its digest follows."""
        lines, _, text = self._read_source()
        self._source = (lines, first, text)
        self._hash = None

    @property
    def src(self) -> str:
        return self._read_source()[2]

    @property
    def def_line_number(self) -> int:
        """The line of the file with ``def``: line 1 of ``src``."""
        lines, first, _ = self._read_source()
        return first + next(i for i, line in enumerate(lines) if _DEF.match(line.strip()))

    @property
    def indentation(self) -> int:
        """Columns that were removed from each line of the file to give ``src``."""
        lines = self._read_source()[0]
        line = next(line for line in lines if _DEF.match(line.strip()))
        return len(line) - len(line.lstrip())

    @property
    def file_name(self) -> str:
        return self._file_name if self.fn is None else self.fn.__code__.co_filename

    def bring_back(self) -> None:
        """Find the function again where a library took it away. Raises ValueError where its file is another now."""
        if self.fn is None:
            known, text = self._source, self.src
            found = function_in(self.file_name, self.module, self.__qualname__)
            self.fn, self._source = found, None
            is_same, self._source = self.src == text, known
            if not is_same:
                self.fn = None
                raise ValueError(f"{self.file_name} has another {self.__qualname__} than the one that was compiled")
            self.__globals__ = found.__globals__

    @property
    def files(self) -> frozenset[str]:
        if self._files is None:  # another process gets them with the function
            self._files = self.dependencies.files | {self.file_name}
        return self._files

    def parse(self) -> ast.Module:
        """The syntax tree of ``src``: a module that holds exactly the function."""
        if self._tree is None:
            tree = parse(self.src)
            if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
                raise ValueError(f"the source of {self._fn_name} is not one function definition")
            self._tree = tree
        return self._tree

    def _unsafe_update_src(self, src: str) -> None:
        """Replace the source; only code generators that know what they do."""
        lines, first, _ = self._read_source()
        self._source = (lines, first, src)
        self._hash = self._dependencies = self._files = self._tree = None
        for user in tuple(self.used_by):
            user.source_changed()

    def enclosing_names(self) -> dict[str, Any]:
        """The closure variables of the function: name → value."""
        return Cells(self.fn)

    def get_capture_scope(self) -> dict[str, Any]:
        """Every name that the function can see from outside itself."""
        return {**self.__globals__, **self.enclosing_names()}

    def _look_again(self) -> None:
        """Forget what was found where a name stands for another function now."""
        found = self._dependencies
        if found is not None and (not found.still_hold() if self._are_early else rebound(found.functions)):
            self._hash = self._dependencies = self._files = None

    def find_early(self) -> None:
        """Find the digest before the first launch, to which it stays if the program gives none of its names another
        meaning in between. Raises what finding it raises."""
        token = _early.set(True)
        try:
            _ = self.cache_key
        finally:
            _early.reset(token)

    def settle(self) -> None:
        """The function is launched: from now on what was found holds."""
        self._look_again()
        self._are_early = False

    @property
    def dependencies(self) -> Dependencies:
        self._look_again()
        if self._dependencies is None:
            with self._hash_lock:
                if self._dependencies is None:
                    found = find_dependencies(self)
                    self._files = found.files | {self.file_name}
                    self._are_early = _early.get()
                    self._dependencies = found
        return self._dependencies

    @property
    def used_global_vals(self) -> dict[tuple[str, int], tuple[Any, dict[str, Any]]]:
        """(name, id of the dictionary it was found in) → (its value at the first compile, that dictionary)."""
        return {(g.name, id(g.scope)): (g.value, g.scope) for g in self.dependencies.globals}

    @used_global_vals.setter
    def used_global_vals(self, value: None) -> None:
        """Only None: torch clears what cannot be pickled before it pickles a kernel."""
        self._dependencies = None

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[object, ...] | str:
        """By name; as a digest without a function where a library took that away before it pickles a kernel."""
        return object.__reduce_ex__(self, protocol) if self.fn is None else super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        """Without what a process cannot hand to another; the digest is computed before."""
        state = dict(self.__dict__)
        if self.fn is not None:
            state |= {"_hash": self.cache_key, "_files": self.files}
        return {**state, **dict.fromkeys({*_OF_ONE_PROCESS, "fn", "_stand_in"} - {"_files"})}

    def _lasting(self) -> dict[str, object]:
        self._read_source()
        return {**super()._lasting(), **dict.fromkeys((*_OF_ONE_PROCESS, "_hash"))}

    def _made_again(self, state: Mapping[str, object]) -> None:
        self.__setstate__(state)
        self.__globals__ = self.fn.__globals__

    def __setstate__(self, state: Mapping[str, object]) -> None:
        self.__dict__.update(state)
        self._hash_lock = threading.RLock()
        self.used_by = WeakSet()

    @property
    def used_globals(self) -> tuple[Global, ...]:
        return self.dependencies.globals

    @property
    def cache_key(self) -> str:
        """Digest of the source, of everything it calls, of the globals it reads, and of its location."""
        self._look_again()
        if self._hash is None:
            found = self.dependencies
            text = "\n".join((self.src, str(self.starting_line_number), str(self.noinline), found.digest))
            self._hash = hashlib.sha256(text.encode()).hexdigest()
        return self._hash

    @property
    def hash(self) -> str | None:
        return self._hash

    @hash.setter
    def hash(self, value: str | None) -> None:
        self._hash = value
        if value is None:
            self._dependencies = self._files = None

    def __hash__(self) -> int:
        return id(self)
