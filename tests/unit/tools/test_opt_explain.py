"""What tritonx-opt says of passes: ``--help``, a line for each by level, and ``--explain``, the contract."""

from __future__ import annotations

import io
import re
from importlib.metadata import EntryPoint

import pytest

from tritonx.tools import opt


def run(*argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return opt.run(list(argv), io.StringIO(), out, err), out.getvalue(), err.getvalue()


def test_help_has_a_line_for_every_pass_by_level(capsys: pytest.CaptureFixture[str]) -> None:
    from tritonx.tools.pass_info import summary
    from tritonx.transforms.registry import find_pass, pass_names

    with pytest.raises(SystemExit) as stop:
        run("--help")
    listed = capsys.readouterr().out.partition("\npasses")[2]
    headings = re.findall(r"^  (\S.*)$", listed, re.MULTILINE)
    assert stop.value.code == 0
    assert headings[:4] == ["tt → tt", "tt or ttg → the same", "tt → ttg", "ttg → ttg"]
    assert {"backend cuda: ttg → ttg", "backend hip: ttg → ttg"} < {*headings}
    for name in pass_names():
        assert len(re.findall(rf"^    {name} +{re.escape(summary(find_pass(name)))}$", listed, re.MULTILINE)) == 1
    assert listed.index("ttg → ttg\n") < listed.index(" insert-barriers ") < listed.index("backend cuda")
    assert listed.index("backend cuda") < listed.index(" copy-blocks ") < listed.index("backend hip")


def test_a_broken_pass_of_a_plug_in_does_not_hide_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from tritonx.tools import opt_listing
    from tritonx.transforms import registry

    entries = [EntryPoint("my-pass", "tritonx_nowhere.passes:MyPass", registry.ENTRY_POINTS)]
    real = registry.entry_points
    monkeypatch.setattr(
        registry, "entry_points", lambda group: entries if group == registry.ENTRY_POINTS else real(group=group)
    )
    registry._plugins.cache_clear()
    try:
        lines = list(opt_listing.passes())
    finally:
        registry._plugins.cache_clear()
    (line,) = [line for line in lines if " my-pass " in line]
    assert "(cannot be used: ModuleNotFoundError" in line and any(" fold " in line for line in lines)


def explained(name: str) -> str:
    code, out, err = run("--explain", name)
    assert (code, err) == (0, "")
    return out


def test_a_pass_is_explained() -> None:
    text = explained("insert-fences")
    assert text.startswith("insert-fences: ttg → ttg, of backend cuda\n\n  Inserts fences where")
    for title, line in (
        ("acts on", "ttng"),
        ("may create", "ttng.fence_async_shared"),
        ("goes by", "allocation.offset"),
        ("needs", "allocate-shared-memory"),
        ("runs behind", "fence-stores"),
        ("runs before", "insert-barriers"),
    ):
        assert f"\n  {title:14}{line}\n" in text
    assert re.search(r"\n  run by        cuda ttgir: \d+ of \d+ on 75\n", text)
    assert re.search(r"\n  file          tritonx/backends/nvidia/passes/insert_fences.py:\d+\n", text)
    assert text.endswith("\n  tests         tests/filecheck/backends/nvidia/passes/insert_fences.mlir\n")
    assert explained("copy-blocks").startswith("copy-blocks: ttg → ttg, of backend cuda\n")
    assert explained("assign-layouts").startswith("assign-layouts: tt → ttg\n")


def test_options_are_explained_with_type_default_and_meaning() -> None:
    text = explained("unroll-loads")
    lines = ("options       factor: int = 4", "  By how much to unroll at most; 1 for not at all.", "bytes: int = 256")
    assert re.search("\n +".join(map(re.escape, lines)), text)
    assert 'options       target: "backend:arch"\n' in explained("schedule-loops")
    assert "block-bytes: int | None = none\n" in explained("rewrite-descriptors")


def test_where_a_pass_runs_is_where_the_backends_have_it() -> None:
    assert "run by        cpu ttir: 6 and 11 of 16\n" in explained("fold")
    assert "hip ttir: 5 of 17, with check_bounds=True\n" in explained("check-bounds")


def test_what_a_target_runs_is_explained() -> None:
    text = explained("cpu:ttir")
    assert text.startswith("ttir: 16 passes\n   1  inline   ") and "llir" not in text
    assert explained("cpu").startswith(text) and "\nllir: emitted, by no pass\n" in explained("cpu")
    assert 'assign-layouts{target="cuda:90" num_warps=4' in explained("cuda:90:ttgir")


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("insert-bariers", "unknown pass 'insert-bariers'; did you mean 'insert-barriers'"),
        ("zzz", "unknown pass 'zzz'\n"),
        ("cpu:ptx", "cpu has no stage 'ptx'; its stages are ttir, llir, obj"),
        ("cuda:1", " has no stage '1'; its stages are ttir, ttgir"),
    ],
)
def test_what_is_none_is_not_explained(name: str, error: str) -> None:
    code, out, err = run("--explain", name)
    assert (code, out) == (2, "") and error in err
