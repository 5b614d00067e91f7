"""Names of Triton's that there are none of say so, in the way that whoever asks can do without them."""

from __future__ import annotations

import importlib

import pytest

from tritonx.compat.finder import REFUSED, CompatFinder
from tritonx.runtime.errors import NotOffered, NotOfferedImport, NotOfferedModule, TritonError


def test_an_attribute() -> None:
    module = importlib.import_module("tritonx.tools.disasm")
    assert not hasattr(module, "parseCtrl")
    assert getattr(module, "parseCtrl", 1) == 1
    with pytest.raises(NotOffered, match=r"does not offer tritonx\.tools\.disasm\.parseCtrl: .*get_sass"):
        _ = module.parseCtrl


def test_an_import() -> None:
    with pytest.raises(NotOfferedImport, match=r"does not offer tritonx\.tools\.disasm\.parseCtrl: .*get_sass"):
        from tritonx.tools.disasm import parseCtrl  # noqa: F401  # pyright: ignore  # it is not there


def test_an_import_from_a_package() -> None:
    """The import system asks a package before the statement does."""
    with pytest.raises(NotOfferedImport, match=r"does not offer tritonx\._C\.libtriton\.llvm: .*llvmlite"):
        from tritonx._C.libtriton import llvm  # noqa: F401  # pyright: ignore  # it is not there


def test_a_name_that_triton_has_not_either() -> None:
    module = importlib.import_module("tritonx.tools.disasm")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'") as caught:
        _ = module.nothing
    assert not isinstance(caught.value, TritonError)


@pytest.mark.parametrize("name", REFUSED)
def test_a_module(name: str) -> None:
    with pytest.raises(NotOfferedModule, match="does not offer") as caught:
        CompatFinder().find_spec(f"triton.{name}")
    assert isinstance(caught.value, ModuleNotFoundError) and caught.value.name == f"triton.{name}"
    with pytest.raises(NotOfferedModule, match="does not offer"):
        CompatFinder().find_spec(f"triton.{name}.inside")


def test_a_module_whose_name_only_begins_so_is_there() -> None:
    assert CompatFinder().find_spec("triton.compiler") is not None
    assert CompatFinder().find_spec("triton.experimentally") is None
