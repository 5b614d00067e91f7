"""Every public name of the Triton wheel has a state here, and docs/triton says which."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = pytest.mark.peer
if find_spec("triton") is None:
    pytest.skip("the Triton wheel is not installed", allow_module_level=True)

sys.path.insert(0, str(Path(__file__).parent))

from api_inventory import DECLARED, THEIRS, Found, accepts, row, rows  # noqa: E402  # beside this file
from api_pages import DOCS, pages  # noqa: E402
from api_states import STATED  # noqa: E402
from api_surface import Described, Parameter, modules  # noqa: E402


def test_every_name_has_a_state() -> None:
    """A name that is not there, or not the same, and of which nothing says why: mend it, or say it in `api_states`."""
    assert [(found.name, found.reason) for found in rows() if not found.state] == []


def test_what_is_stated_is_so() -> None:
    """An entry that no name needs any longer goes."""
    used = {found.pattern for found in rows() if found.state in ("differs", "missing")}
    assert sorted(STATED.keys() - used) == []


def test_every_module_is_there() -> None:
    """The walk reaches every module: one that could not be imported would be no row at all."""
    listed = {found.name for found in rows()}
    refused = [found.name for found in rows() if found.state == "refused"]
    assert len(listed) > 1500
    below = (DECLARED, *(f"{name}." for name in refused))
    assert [name for name in modules(THEIRS) if name not in listed and not name.startswith(below)] == []


def test_the_pages_are_current() -> None:
    written = {path.name: path.read_text() for path in DOCS.glob("*.md")}
    assert written == pages(), "docs/triton is stale: run python tests/peer/api_pages.py"


X = Parameter("x", "POSITIONAL_OR_KEYWORD", None)


@pytest.mark.parametrize(
    "ours",
    [
        (),
        (Parameter("y", "POSITIONAL_OR_KEYWORD", None),),
        (Parameter("x", "KEYWORD_ONLY", None),),
        (X, Parameter("y", "POSITIONAL_OR_KEYWORD", None)),
    ],
)
def test_a_signature_that_takes_less_is_found(ours: tuple[Parameter, ...]) -> None:
    assert accepts(ours, (X,))


@pytest.mark.parametrize(
    "ours", [(X,), (Parameter("x", X.kind, "1"),), (X, Parameter("y", "KEYWORD_ONLY", "2"))], ids=repr
)
def test_a_signature_that_takes_more_is_none(ours: tuple[Parameter, ...]) -> None:
    assert not accepts(ours, (X,))


def test_another_default_is_found() -> None:
    assert accepts((Parameter("x", X.kind, "1"),), (Parameter("x", X.kind, "2"),))


def test_an_unknown_name_has_no_state() -> None:
    assert row(Found(Described("triton.unheard_of", "function"), False)).state == ""
    assert row(Found(Described("triton.jit", "function"), True, "takes other arguments")).state == ""
