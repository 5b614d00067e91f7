"""Configuration of `lit tests/filecheck`; pytest runs the same files, faster, through tests/test_filecheck.py."""

import os
import runpy
import sys
import tempfile

import lit.formats

config.name = "tritonx"  # noqa: F821 -- lit executes this file with `config` defined
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir", ".ttir", ".ttgir", ".test"]  # noqa: F821
config.excludes = ["lit.cfg.py", "Inputs"]  # noqa: F821
config.test_source_root = os.path.dirname(__file__)  # noqa: F821
config.test_exec_root = os.path.join(tempfile.gettempdir(), f"tritonx-lit-{os.getuid()}")  # noqa: F821
config.environment["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]  # noqa: F821
config.available_features |= runpy.run_path(os.path.join(os.path.dirname(__file__), "features.py"))["FEATURES"]  # noqa: F821
