"""What `mkdocs build` does besides docs/: pages made of other files of the repository, and every link checked.

README.md, CONTRIBUTING.md and the others are read where they lie. A tutorial is an example: its docstring, its code,
and the comments between its functions as prose. A reference page is a public module's names. A relative
link names a file of the repository: one that has a page leads there, another becomes its path; one that does not exist,
or a heading that its page does not have, ends the build.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from pathlib import Path
from posixpath import relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]

sys.path.insert(0, str(ROOT))

ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "plugins/tritonx-opencl/README.md": "opencl.md",
}
"""File of the repository → its page."""

TUTORIALS = {
    "vector_add": "Vector addition",
    "softmax": "Fused softmax",
    "matmul": "Matrix product",
    "persistent_matmul": "Persistent product",
    "grouped_matmul": "Grouped products",
    "block_scaled_matmul": "Block-scaled product",
    "flash_attention": "Attention",
    "layer_norm": "Layer normalisation",
    "dropout": "Seeded dropout",
    "cumsum": "Prefix sums",
    "histogram": "Histogram",
}
"""Example → its title."""

REFERENCE = {
    "tritonx": "Kernels, launches, tuning",
    "tritonx.language": "The language",
    "tritonx.testing": "Measuring",
    "tritonx.interpreter": "The interpreter",
    "tritonx.jax": "JAX",
    "tritonx.compat": "In Triton's place",
    "tritonx.backends.api": "Backends: the contract",
    "tritonx.backends.gpu": "Backends: GPUs",
    "tritonx.backends.tile": "Backends: from tiles",
}
"""Public module → its title."""

LINK = re.compile(r"(?<!!)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^()\s]+)\)")
CODE = re.compile(r"^    .*$|^```[\s\S]*?^```$|`[^`\n]+`", re.MULTILINE)


def tutorial(name: str) -> str:
    """The example as a page."""
    path = ROOT / "examples" / f"{name}.py"
    text = path.read_text()
    module = ast.parse(text)
    lines = text.splitlines()
    start = module.body[0].end_lineno or 0
    page = [f"# {TUTORIALS[name]}", ast.get_docstring(module) or "", f"This is `examples/{name}.py`; run it by", "",
            f"    python examples/{name}.py", ""]  # fmt: skip
    code: list[str] = []

    def close() -> None:
        if any(line.strip() for line in code):
            page.extend(["```python", *"\n".join(code).strip("\n").split("\n"), "```", ""])
        code.clear()

    for line in lines[start:]:
        if line.startswith("# "):
            close()
            page.append(line[2:])
        elif line == "#":
            page.append("")
        else:
            if not code and page[-1]:
                page.append("")
            code.append(line)
    close()
    return "\n".join(page) + "\n"


def reference(name: str, described: dict[str, str]) -> str:
    """What the module says of itself, and of each function and class that it offers what that says. ``described``:
    object → the module on whose page it is already."""
    module = importlib.import_module(name)
    page = [f"# {REFERENCE[name]}: `{name}`", "", inspect.cleandoc(module.__doc__ or ""), ""]
    for offered in sorted(module.__all__ if hasattr(module, "__all__") else dir(module)):
        value = getattr(module, offered)
        home = getattr(value, "__module__", "")
        known = inspect.isclass(value) or inspect.isroutine(value) or hasattr(value, "fn")
        if not known or not str(home).startswith("tritonx.") or offered.startswith("_"):
            continue
        own = getattr(value, "__qualname__", None) or getattr(value, "__name__", offered)
        where = described.setdefault(f"{home}.{own}", name)
        if where != name:
            page += [f"`{offered}` is [`{where}.{offered}`]({where}.md#{home}.{own}).", ""]
            continue
        page += [
            f"::: {home}.{own}",
            "    options:",
            f"      heading: {name}.{offered}",
            f"      toc_label: {offered}",
            "",
        ]
    return "\n".join(page)


def made() -> dict[str, str]:
    """Page → its Markdown, of the pages that are not files of docs/."""
    described: dict[str, str] = {}
    return {
        **{page: (ROOT / path).read_text() for path, page in ELSEWHERE.items()},
        **{f"tutorials/{name}.md": tutorial(name) for name in TUTORIALS},
        **{f"reference/{name}.md": reference(name, described) for name in REFERENCE},
    }


def explained() -> str:
    """The page of `tritonx explain` for the attention example (docs/explain.md)."""
    from tritonx.explain.report import explain_again
    from tritonx.tools.explain import launched

    asked = launched(str(ROOT / "examples" / "flash_attention.py"), "")
    return explain_again(asked.source, asked.options, "cuda:90", launch=asked.launch).html()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The pages that are made, in the navigation."""
    missing = {p.stem for p in (ROOT / "examples").glob("*.py")} - {*TUTORIALS, "harness", "run_all"}
    if missing:
        raise PluginError(f"examples without a title in docs/site_pages.py: {', '.join(sorted(missing))}")
    places: dict[str, list[Any]] = {
        "Tutorials": [{title: f"tutorials/{name}.md"} for name, title in TUTORIALS.items()],
        "Reference": [{title: f"reference/{name}.md"} for name, title in REFERENCE.items()],
    }
    for entry in config.nav or []:
        for title in places.keys() & (entry.keys() if isinstance(entry, dict) else ()):
            entry[title] = places[title]
        if isinstance(entry, dict) and "Learn" in entry:
            names = sorted(p.name for p in (ROOT / "docs" / "triton").glob("*.md") if p.name != "README.md")
            entry["Learn"][-1] = {"Triton, name by name": ["triton/README.md", *(f"triton/{n}" for n in names)]}
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for page, text in made().items():
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "explain-attention.html", content=explained()))
    return files


def source_of(page: str) -> str:
    """The file of the repository that a page is made of."""
    return next((path for path, made_of in ELSEWHERE.items() if made_of == page), f"docs/{page}")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to files of the repository as links to pages, outside of code."""
    here = page.file.src_uri
    folder = (ROOT / source_of(here)).parent
    spans = [match.span() for match in CODE.finditer(markdown)]

    def linked(match: re.Match[str]) -> str:
        text, target = match.groups()
        inside = any(start <= match.start() and match.end() <= end for start, end in spans)
        if inside or here.startswith("reference/") or re.match(r"[a-z]+:", target) or target.startswith("#"):
            return match.group(0)
        path, _, heading = target.partition("#")
        found = (folder / path).resolve()
        if not found.exists():
            raise PluginError(f"{source_of(here)}: there is no {path}")
        own = found.relative_to(ROOT).as_posix()
        name = ELSEWHERE.get(own, own.removeprefix("docs/"))
        if files.get_file_from_path(name) is None:
            return text
        return f"[{text}]({relpath(name, Path(here).parent.as_posix())}{'#' + heading if heading else ''})"

    return LINK.sub(linked, markdown)
