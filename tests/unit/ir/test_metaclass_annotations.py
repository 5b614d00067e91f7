"""xDSL and the dialects can be imported whatever has been asked of `ABCMeta` before, and in between.

Each program runs in a process of its own, since what is tested is the first import."""

import subprocess
import sys
from abc import ABC, ABCMeta

import pytest
from xdsl.irdl import IRDLOperation

from tritonx.ir.define import define
from tritonx.ir.metaclass_annotations import forget_empty

ASKED_BEFORE = "import abc; abc.ABCMeta.__annotations__; import tritonx"
ASKED_BEHIND = "import abc, tritonx; abc.ABCMeta.__annotations__"
ASKED_ALWAYS = """
import abc, sys, tritonx
class Asking:
    def find_spec(self, fullname, path=None, target=None):
        abc.ABCMeta.__annotations__
sys.meta_path.insert(0, Asking())
"""
ASKED_BETWEEN = "import abc, tritonx, xdsl.ir; abc.ABCMeta.__annotations__"


@pytest.mark.parametrize("asked", [ASKED_BEFORE, ASKED_BEHIND, ASKED_ALWAYS, ASKED_BETWEEN])
def test_every_dialect_and_pass_is_imported(asked: str) -> None:
    program = f"""{asked}
import importlib, pkgutil
from tritonx.ir.context import DIALECTS
for module, _ in DIALECTS.values():
    importlib.import_module(module)
for package in ("dialects", "analysis", "transforms", "conversion"):
    found = importlib.import_module("tritonx." + package)
    for module in pkgutil.walk_packages(found.__path__, found.__name__ + "."):
        importlib.import_module(module.name)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="a class's annotations are its own there")
def test_the_library_alone_cannot_be(tmp_path) -> None:
    """What makes the tests above able to fail."""
    program = "import abc; abc.ABCMeta.__annotations__; import xdsl.dialects.builtin"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert 'Invalid ClassVar name "assembly_format"' in done.stderr


def test_the_annotations_of_a_class_are_its_own_again() -> None:
    class Annotated(ABC):
        field: int

    class Bare(Annotated): ...

    _ = ABCMeta.__annotations__
    forget_empty()
    assert Bare.__annotations__ == {}
    assert Annotated.__annotations__ == {"field": int}
    assert ABCMeta.__annotations__ == {}
    forget_empty()


def test_annotations_that_are_some_stay() -> None:
    class Meta(ABCMeta):
        field: int

    forget_empty(Meta)
    assert "field" in Meta.__annotations__


def test_an_op_is_defined_after_the_metaclass_was_asked() -> None:
    _ = ABCMeta.__annotations__

    @define
    class Late(IRDLOperation):
        name = "test.late"

    assert Late.name == "test.late"
    forget_empty()
