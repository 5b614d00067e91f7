"""The page of `tritonx explain` as a reader sees it: in a headless Chromium where there is one."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import zlib
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tritonx
import tritonx.language as tl
from tritonx.explain import Report, explain
from tritonx.explain.launch import Launch
from tritonx.explain.page import page as drawn

EXAMPLE = Path(__file__).parents[3] / "examples" / "flash_attention.py"

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def attention(target: str) -> Report:
    """Of a launch over 16 sequences of 1024."""
    sys.path.insert(0, str(EXAMPLE.parent))
    try:
        from flash_attention import attention_kernel  # pyright: ignore[reportMissingImports]
    finally:
        sys.path.remove(str(EXAMPLE.parent))
    pointers = dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "o_ptr"), "*fp32")
    constants = {"CAUSAL": True, "D": 64, "BLOCK_M": 64, "BLOCK_N": 64}
    signature = {**pointers, "n_ctx": "i32", "scale": "fp32", **dict.fromkeys(constants, "constexpr")}
    aligned = {(n,): [["tt.divisibility", 16]] for n in range(4)}
    source = tritonx.compiler.ASTSource(attention_kernel, signature, constants, aligned)
    return explain(source, target, launch=Launch((16, 16, 1), {"n_ctx": 1024}, 4 * 16 * 1024 * 64 * 4))


@pytest.fixture(scope="module")
def report() -> Report:
    return attention("cuda:90")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser: tritonx[browser]")
    program = os.environ.get("TRITONX_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"there is no {' or '.join(BROWSERS)} on the path: Debian has it as chromium")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def file(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    report.write(path)
    return path


@pytest.fixture
def page(browser: Any, file: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    width, scheme = getattr(request, "param", (1400, "light"))
    opened = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said: list[str] = []
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda asked: None if asked.url.startswith("file:") else said.append(asked.url))
    opened.goto(file.as_uri())
    opened.wait_for_selector("html[data-ready]")
    yield opened
    opened.close()
    assert not said


def test_one_file_holds_the_facts_and_loads_nothing(report: Report) -> None:
    text = report.html()
    data = re.search(r'<script type="application/octet-stream" id="facts">(.*?)</script>', text, re.DOTALL)
    assert data is not None and zlib.decompress(b64decode(data[1])).decode() == report.json()
    outside = text.replace(data[0], "")
    assert {*re.findall(r"https?://[^\"'\s]+", outside)} == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<link|<img|\bsrc=|@import|url\(", outside)


def test_a_kernels_text_cannot_end_the_script(report: Report) -> None:
    assert "</script><b>" not in drawn(json.dumps({**json.loads(report.json()), "kernel": "</script><b>"}))


def test_the_page_of_a_kernel_of_many_lines_is_small_and_opens_in_two_seconds(
    report: Report, browser: Any, tmp_path: Path
) -> None:
    """Attention with blocks of 128, heads of 128 and products by the threads has 55,000 lines of LLVM IR, 39,000 of
    PTX and 43,000 of SASS, 8.7 MB of JSON. Here the code of blocks of 64 stands six times in each level, each time
    with other numbers."""
    facts = json.loads(report.json())
    for level in facts["levels"][3:]:
        lines = level["lines"]
        level["lines"] = [
            re.sub(r"\d+", lambda n, k=k: str(int(n[0]) * 7 + k), each) for k in range(6) for each in lines
        ]
        level["places"] *= 6
    text = json.dumps(facts)
    path = tmp_path / "large.html"
    path.write_text(drawn(text), encoding="utf-8")
    assert len(text) > 5_000_000 and path.stat().st_size < len(text) / 3
    opened = browser.new_page()
    opened.goto(path.as_uri())
    opened.wait_for_selector("html[data-ready]")
    assert float(opened.evaluate("document.documentElement.dataset.ready")) < 2000
    opened.get_by_role("button", name="ptx").click()
    shown = opened.locator('.pane[data-pane="ptx"] h3 span').inner_text()
    assert shown.replace(" ", "") == f"{6 * len(report.facts.levels[4].lines)}lines"
    opened.close()


def test_it_opens_in_a_second(page: Any) -> None:
    assert float(page.evaluate("document.documentElement.dataset.ready")) < 1000
    assert page.title() == "attention_kernel · cuda:90"
    assert page.locator("h1").inner_text() == "attention_kernel"


def row(page: Any, pane: str, text: str) -> Any:
    return page.locator(f'.pane[data-pane="{pane}"] .row', has_text=text).first


def test_lines_are_linked_in_all_directions(page: Any) -> None:
    row(page, "source", "s = tl.dot(q, k").click()
    picked = page.locator('.pane[data-pane="ttgir"] .row.pick')
    assert any("ttg.local_dot" in text for text in picked.all_inner_texts())
    last = page.locator(".pane").last
    assert last.locator(".row.pick").count() > 0  # the machine's code, scrolled to what was picked
    picked.first.click()
    assert "s = tl.dot(q, k" in page.locator('.pane[data-pane="source"] .row.pick').inner_text()
    assert "line 35" in page.locator("#inspect").inner_text()


def test_a_click_outlives_a_scroll(page: Any) -> None:
    """Rows that stay in view are not made anew: a press and a release on one row are a click, whatever scrolls."""
    pressed = row(page, "source", "s = tl.dot(q, k")
    pressed.hover()
    page.mouse.down()
    page.locator('.pane[data-pane="source"] .code').dispatch_event("scroll")
    page.mouse.up()
    assert "s = tl.dot(q, k" in page.locator('.pane[data-pane="source"] .row.pick').inner_text(timeout=2000)


def test_levels_are_shown_side_by_side(page: Any, report: Report) -> None:
    assert page.locator(".bar button").all_inner_texts() == [level.name for level in report.facts.levels]
    page.get_by_role("button", name="llir").click()
    assert page.locator('.pane[data-pane="llir"]').is_visible()
    row(page, "source", "acc = acc * alpha").click()
    assert page.locator('.pane[data-pane="llir"] .row.pick').count() > 0


def test_a_type_shows_its_layout(page: Any) -> None:
    page.locator('.pane[data-pane="ttgir"] .row .t').first.click()
    figure = page.locator("#inspect figure")
    assert "#ttg." in figure.inner_text() and figure.locator("canvas").is_visible()
    figure.locator("canvas").hover(position={"x": 2, "y": 2})
    assert re.search(r"T\d+:\d+|\d+", figure.locator(".said").inner_text())


def test_passes_show_their_diffs_and_those_without_effect_are_grey(page: Any, report: Report) -> None:
    page.keyboard.press("2")
    passes = report.facts.passes
    assert page.locator(".pass").count() == len(passes)
    assert page.locator(".pass.noop").count() == sum(not each.changed for each in passes)
    page.locator(".pass", has_text="assign-layouts").click()
    shown = page.locator(".detail").inner_text()
    assert "tt → ttg" in shown and "+#blocked" in shown
    before = page.locator('.pass[aria-selected="true"]').get_attribute("data-pass")
    page.keyboard.press("j")
    assert page.locator('.pass[aria-selected="true"]').get_attribute("data-pass") == str(int(before) + 1)
    page.get_by_label("hide passes without effect").check()
    assert page.locator(".pass").count() == sum(each.changed for each in passes)


def test_memory_shows_accesses_and_charts(page: Any, report: Report) -> None:
    page.keyboard.press("3")
    assert page.locator("#memory table.accesses tbody tr").count() == len(report.facts.accesses)
    charts = page.locator("#memory svg")
    assert charts.count() == 2 and charts.first.locator("rect").count() == len(report.facts.buffers)
    page.locator("#memory tbody tr").first.click()  # leads to the line
    assert page.locator("#code.on").count() == 1 and "tl.load" in page.locator(".row.pick").first.inner_text()


def test_time_shows_the_bound_and_the_plan(page: Any, report: Report) -> None:
    page.keyboard.press("5")
    shown = page.locator("#time").inner_text()
    facts = report.facts
    assert facts.bound is not None and facts.occupancy is not None and facts.launch is not None
    assert f"Bound: {facts.bound.bound}" in shown and f"limited by {facts.occupancy.limiter}" in shown
    assert f"Launch over 16 × 16 × 1: {facts.launch.bound}" in shown and facts.launch.text[1:] in shown
    assert all(name in shown for name in facts.launch.parts)
    assert page.locator("#time svg.plan rect").count() > len(facts.plans[0].bars)


def test_search_goes_through_what_it_finds(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("exp2")
    assert re.fullmatch(r"1 of \d+ lines", page.locator("#count").inner_text())
    page.keyboard.press("Enter")
    assert page.locator("#count").inner_text().startswith("2 of")
    assert page.locator(".row.hit.now").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("#count").inner_text() == "" and page.locator(".row.hit").count() == 0


@pytest.mark.parametrize("page", [(1400, "light"), (1400, "dark"), (800, "light")], indirect=True)
def test_it_fits_and_follows_the_colour_scheme(page: Any) -> None:
    width, dark = page.viewport_size["width"], page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert page.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
    for number in range(1, 6):
        page.keyboard.press(str(number))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.keyboard.press("d")
    assert page.evaluate("document.documentElement.dataset.theme") == ("light" if dark else "dark")


@tritonx.jit
def scaled(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def opened(browser: Any, folder: Path, target: str) -> Any:
    """The page of a kernel without a loop, of a short launch."""
    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = tritonx.compiler.ASTSource(
        scaled, signature, {"BLOCK": 1024}, {(n,): [["tt.divisibility", 16]] for n in range(3)}
    )
    explain(source, target, launch=Launch((10, 1, 1), {"n": 10000}, 80000)).write(folder / "page.html")
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto((folder / "page.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    return page


def test_a_row_of_elements_is_drawn_in_several(browser: Any, tmp_path: Path) -> None:
    """A line of 1,024 cells cannot be read; pointing at one in the second row names its number."""
    page = opened(browser, tmp_path, "cuda:90")
    page.keyboard.press("4")
    figure = page.locator("#layouts figure").first
    size = figure.locator("canvas").bounding_box()
    assert "1024" in figure.inner_text() and "64 in a row" in figure.inner_text()
    assert figure.locator("canvas").evaluate("each => each.width / each.height") == 4
    figure.locator("canvas").hover(position={"x": 2, "y": 1.5 * size["height"] / 16})
    assert figure.locator(".said").inner_text().startswith("[64] T16:0")
    page.close()


def test_what_holds_the_program_and_the_launch_is_told_apart(browser: Any, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, "cuda:90")
    cards = page.locator("#cards").inner_text()
    assert "the launch, held by launch" in cards and "holds the program" in cards and "busiest loop" not in cards
    page.keyboard.press("5")
    first = page.locator("#time .meter").first.inner_text()
    assert "5.30 µs" in first and not re.search(r"\b0 µs", first), "the other parts are short, and not nothing"
    page.close()


def test_a_cpu_has_no_sectors(browser: Any, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, "cpu")
    page.keyboard.press("3")
    text = page.locator("#memory").inner_text()
    assert "width" in text and not re.search("(?i)sectors|warp|banks|per thread|conflicts", text)
    assert re.search(r"\b1\s+loop nest\b", page.locator("#cards").inner_text())
    page.keyboard.press("5")
    assert "No time is predicted: the figures of no chip of cpu are known." in page.locator("#time").inner_text()
    page.close()
