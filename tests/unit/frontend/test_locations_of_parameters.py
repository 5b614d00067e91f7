"""Parameters and the module say where the kernel is declared."""

from __future__ import annotations

import re
from pathlib import Path

import tritonx
import tritonx.language as tl
from tritonx._filecheck import run_parser


@tritonx.jit(noinline=True)
def called(a):
    tl.device_print("a", a)


@tritonx.jit
def kernel(x, pair, n: tl.constexpr):
    called(pair[0] + n)
    tl.store(x, pair[1])


def test_every_location_is_known() -> None:
    text = str(run_parser(kernel, (tritonx.MockTensor(tl.float32), (7, 2.5), 3)))
    assert "loc(unknown)" not in text
    lines = Path(__file__).read_text().splitlines()
    places = dict(re.findall(r'(#loc\d*) = loc\("[^"]*test_locations_of_parameters.py":(\d+):\d+\)', text))
    named = dict(re.findall(r'(#loc\d*) = loc\("(\w+)"\(#loc\d*\)\)', text))
    within = dict(re.findall(r'(#loc\d*) = loc\("\w+"\((#loc\d*)\)\)', text))
    for function, parameters in (("kernel", ["x", "pair_0", "pair_1"]), ("called", ["a"])):
        signature = re.search(rf"tt\.func \w+ @[\w.]*{function}\w*\((.*)\) attributes", text)
        assert signature
        found = re.findall(r"loc\((#loc\d*)\)", signature[1])
        assert [re.sub(r"pair_\d", "pair", named[each]) for each in found] == [p.partition("_")[0] for p in parameters]
        assert {lines[int(places[within[each]]) - 1].split("(")[0] for each in found} <= {
            f"def {function}",
            "@tritonx.jit",
        }
