"""What the registry makes of good and bad entry points."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import tritonx
import tritonx.language as tl
from tritonx.backends import registry
from tritonx.backends.api import API_VERSION, STABLE_VERSION
from tritonx.backends.registry import BackendWarning
from tritonx.runtime import driver
from tritonx.runtime.errors import NoBackend
from tritonx.tools.opt_explain import explain

GOOD = """
from tritonx.backends.api import Backend, Target
class Chip(Backend):
    name = {name!r}
    api_version, stable_version = 2, 1
    binary_stage = "bin"
    def parse_target(self, arch):
        if arch not in ("", "v1"):
            raise ValueError(f"unknown architecture {{arch!r}}; there are v1")
        return Target({name!r}, "v1")
    def known_targets(self):
        return (Target({name!r}, "v1"),)
    def stages(self, target, options):
        return ()
    def driver(self):
        raise NotImplementedError
BACKEND = Chip()
"""

Install = Callable[[str, str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """``install(distribution, entry point, module text)`` puts a package on the path, as pip would."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made: list[str] = []

    def install(distribution: str, entry: str, text: str) -> None:
        module = f"{distribution.replace('-', '_')}_module"
        made.append(module)
        (tmp_path / f"{module}.py").write_text(text)
        info = tmp_path / f"{distribution}-1.5.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.5\n")
        (info / "entry_points.txt").write_text(f"[tritonx.backends]\n{entry} = {module}:BACKEND\n")
        registry.refresh()

    yield install
    monkeypatch.undo()
    for module in made:
        sys.modules.pop(module, None)
    registry.refresh()


def test_a_plugin_is_found(install: Install) -> None:
    install("chip-tritonx", "chip", GOOD.format(name="chip"))
    info = next(i for i in tritonx.backends() if i.name == "chip")
    assert str(info) == "chip: chip:v1 (chip_tritonx_module:BACKEND from chip-tritonx 1.5)"
    assert str(info) in str(tritonx.backends())
    backend, target = registry.parse_target("chip:v1")
    assert backend is registry.get_backend("chip")
    assert str(target) == "chip:v1"
    with pytest.raises(ValueError, match="unknown architecture 'v9'; there are v1"):
        registry.parse_target("chip:v9")
    assert tritonx.backends.backends["chip"].compiler is backend


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import nonesuch_module", "importing it failed: ModuleNotFoundError: No module named 'nonesuch_module'"),
        ("def broken(:", "importing it failed: SyntaxError"),
        ("raise SystemExit(3)", "importing it failed: SystemExit: 3"),
        ("pass", "importing it failed: AttributeError: .* has no attribute 'BACKEND'"),
        ("BACKEND = 5", "the entry point names <int object at .*>, not a tritonx.backends.api.Backend"),
        (
            GOOD.format(name="bad") + "Chip.api_version = 99",
            f"it was written for version 99 of tritonx.backends.api; this is version {API_VERSION}",
        ),
        (
            GOOD.format(name="bad") + "Chip.stable_version = 99",
            f"it was written for version 99 of tritonx.backends.gpu and .tile; this is version {STABLE_VERSION}",
        ),
        (
            GOOD.format(name="bad") + "del Chip.api_version",
            f"it does not say for which version of tritonx.backends.api .*; now it is api_version = {API_VERSION}",
        ),
        (
            GOOD.format(name="bad") + "del Chip.stable_version",
            f"it does not say for .* tritonx.backends.gpu and .tile it .* now it is stable_version = {STABLE_VERSION}",
        ),
        (
            "class Old:\n    api_version = 1\nBACKEND = Old()",
            f"it was written for version 1 of tritonx.backends.api; this is version {API_VERSION}",
        ),
        (
            GOOD.format(name="bad") + "Chip.api_version = property(lambda self: 1 / 0)",
            "what it declares cannot be read: ZeroDivisionError",
        ),
        (
            GOOD.format(name="bad") + "Chip.array_interfaces = '__array_interface__'",
            "its array_interfaces is '__array_interface__', and no collection of str",
        ),
        (GOOD.format(name="bad") + "Chip.torch_device_types = None", "its torch_device_types is None, and no coll"),
        (GOOD.format(name="bad") + "Chip.dlpack_device_types = ('cpu',)", "its dlpack_device_types is .* no coll"),
        (GOOD.format(name="bad") + "Chip.options_type = dict", "its options_type is .*, and no class derived from"),
        (GOOD.format(name="bad") + "Chip.families = {'a': 3}", "its families is .*, and no mapping of str"),
        (GOOD.format(name="bad") + "del Chip.binary_stage", "its binary_stage is None, and no str"),
        (GOOD.format(name="bad") + "BACKEND = Chip", "the entry point names a class; it must name an instance"),
        (GOOD.format(name=""), "the backend has no name"),
        (GOOD.format(name="other"), "the entry point is called 'bad' and the backend 'other'; both must have one name"),
    ],
)
def test_a_bad_plugin_is_one_warning_and_the_others_go_on(install: Install, text: str, reason: str) -> None:
    install("good-one", "good", GOOD.format(name="good"))
    install("bad-one", "bad", text)
    with pytest.warns(BackendWarning, match=f"tritonx backend bad: not usable: {reason}"):
        listed = tritonx.backends()
    assert "good" in listed.names
    assert "bad" not in listed.names
    with pytest.raises(NoBackend, match=r"no backend named 'bad' can be used: .*there are .*good"):
        registry.get_backend("bad")
    assert "bad: not usable" in str(tritonx.backends())  # and no second warning


def test_a_name_taken_twice(install: Install) -> None:
    install("aaa", "chip", GOOD.format(name="chip"))
    install("bbb", "chip", GOOD.format(name="chip"))
    with pytest.warns(BackendWarning, match="the name is taken by aaa_module:BACKEND from aaa, which comes first"):
        listed = tritonx.backends()
    assert [i.distribution for i in listed if i.name == "chip" and i.usable] == ["aaa"]
    assert [i.distribution for i in listed if i.name == "chip" and not i.usable] == ["bbb"]


def test_the_user_decides_which_of_two_is_taken(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("aaa", "chip", GOOD.format(name="chip"))
    install("bbb", "chip", GOOD.format(name="chip"))
    with pytest.warns(BackendWarning, match=r"TRITONX_BACKEND=bbb:chip takes this one"):
        assert type(registry.get_backend("chip")).__module__ == "aaa_module"
    monkeypatch.setenv("TRITONX_BACKEND", "bbb:chip")
    with pytest.warns(BackendWarning, match="from bbb, which comes first .TRITONX_BACKEND=aaa:chip takes this one"):
        assert type(registry.get_backend("chip")).__module__ == "bbb_module"
    driver.reset_active()
    assert driver.override().backend is registry.get_backend("chip")
    monkeypatch.delenv("TRITONX_BACKEND")
    driver.reset_active()
    assert type(registry.get_backend("chip")).__module__ == "aaa_module"


def test_one_that_cannot_tell_its_targets_hides_no_other(install: Install) -> None:
    broken = GOOD.replace('return (Target({name!r}, "v1"),)', "raise OSError('no such file')")
    install("bad-one", "bad", broken.format(name="bad"))
    install("good-one", "good", GOOD.format(name="good"))
    shown = str(tritonx.backends())
    assert "bad: its targets cannot be told: OSError: no such file (" in shown
    assert "good: good:v1 (" in shown and "cpu: " in shown
    with pytest.warns(BackendWarning, match="bad: its targets cannot be told"):
        assert registry.known_targets(registry.get_backend("bad")) == ()


@tritonx.jit
def doubled(x, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) * 2)


@pytest.mark.parametrize(
    "broken",
    [
        "Chip.serves = lambda self, location: 1 / 0",
        "Chip.has_device = lambda self: 1 / 0",
        "Chip.driver = lambda self: 1 / 0",
        "Chip.known_targets = lambda self: exit(3)",
        "Chip.stages = lambda self, target, options: None",
        "Chip.language_module = 'nonesuch'",
        "Chip.triton_name = 'cpu'",
    ],
)
def test_one_that_fails_when_it_is_asked_hides_no_other(install: Install, broken: str) -> None:
    install("aaa", "bad", f"{GOOD.format(name='bad')}\n{broken}\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BackendWarning)
        assert "bad" in tritonx.backends().names and "cpu: cpu" in str(tritonx.backends())
        driver.reset_active()
        assert driver.active.backend.name != "bad"
        x = np.ones(8, np.float32)
        doubled[(1,)](x, N=8)
        assert (x == 2).all()
        assert tritonx.backends.backends["cpu"].compiler is registry.get_backend("cpu")
        assert "cpu ttir" in "\n".join(explain("inline"))
    driver.reset_active()


def test_what_a_backend_cannot_tell_is_a_warning(install: Install) -> None:
    install("aaa", "bad", GOOD.format(name="bad") + "Chip.serves = lambda self, location: 1 / 0")
    with pytest.warns(BackendWarning, match="bad: whether it runs at .* cannot be told: ZeroDivisionError"):
        assert "cpu" in registry.serving(("torch", "cpu", 0))


def test_a_plugin_cannot_take_the_name_of_one_of_ours(install: Install) -> None:
    install("aaa", "cpu", GOOD.format(name="cpu"))
    with pytest.warns(BackendWarning, match="the name is taken by tritonx.backends.cpu"):
        tritonx.backends()
    assert type(registry.get_backend("cpu")).__module__.startswith("tritonx.")


def test_unknown_names(install: Install) -> None:
    with pytest.raises(NoBackend, match="no backend named 'nonesuch' can be used; there are"):
        registry.get_backend("nonesuch")


def test_pytorch_names_amd_gpus_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of the two backends a tensor on ``cuda:0`` belongs to is a matter of PyTorch's build."""
    tensor, array, host = ("torch", "cuda", 0), ("interface", "__cuda_array_interface__", 0), ("torch", "cpu", 0)
    amd, nvidia = registry.get_backend("hip"), registry.get_backend("cuda")
    torch, cupy = ModuleType("torch"), ModuleType("cupy")
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    versions = SimpleNamespace(cuda="13.0", hip=None), SimpleNamespace(cuda=None, hip="6.4.43482")
    for version, served, other in ((versions[0], nvidia, amd), (versions[1], amd, nvidia)):
        monkeypatch.setattr(torch, "version", version, raising=False)
        for location in (tensor, array):
            assert served.serves(location)
            assert not other.serves(location)
        assert not served.serves(host)
    monkeypatch.setattr(cupy, "cuda", SimpleNamespace(runtime=SimpleNamespace(is_hip=False)), raising=False)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert nvidia.serves(array)
    assert amd.serves(tensor)


@pytest.mark.parametrize(("text", "target"), [("gfx950", "hip:gfx950"), ("gfx1201", "hip:gfx1201"), ("90", "cuda:90")])
def test_an_architecture_without_its_backend_names_the_target(text: str, target: str) -> None:
    with pytest.raises(NoBackend, match=f"no backend named '{text}' can be used; .*; the target is {target}$"):
        registry.parse_target(text)
    assert str(registry.parse_target(target)[1]) == target
