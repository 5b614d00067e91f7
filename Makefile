# `make demo` and `make test` are all a newcomer needs; both make the virtual environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
# Seconds of one core for the tests that `make test` selects (tests/share.py); 400 leave it below 8 minutes on two cores.
SHARE ?= 400
# pip says only what went wrong, and installs so that type checkers find tritonx (a path, not an import hook).
PIP = PYTHONWARNINGS=ignore PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore $(BIN)/python -m pip install -qq
EDITABLE = --config-settings editable_mode=compat --editable
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

# Only what is installed in $(VENV) is used.
unexport PYTHONPATH PYTHONHOME

.PHONY: venv demo test test-all lint accept clean opencl site site-packages

venv: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml packages/tritonx-testing/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip
	$(PIP) $(EDITABLE) '.[dev]'
	$(PIP) $(EDITABLE) packages/tritonx-testing
	touch $@

# What the GPU emitters write, executed: the plug-in with its OpenCL implementation for CPUs (300 MB).
opencl: venv
	$(PIP) $(EDITABLE) plugins/tritonx-opencl

site-packages: venv
	$(PIP) $(EDITABLE) '.[docs]'

# The documentation as a site, in build/site: links and headings are checked, tutorials and reference made anew.
site: site-packages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

demo: venv
	$(BIN)/python examples/run_all.py

lint: venv
	$(BIN)/ruff check .
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright

test: lint
	$(PYTEST) --share $(SHARE)

test-all: lint
	$(PYTEST)

# Expected text that has changed, in tables and FileCheck tests: written anew, to be read as a diff.
ACCEPTED ?= tests/test_filecheck.py tests/unit/analysis/test_axis_table.py tests/unit/backends/amd/test_instructions.py \
	tests/unit/backends/nvidia/test_instructions.py tests/unit/conversion/tile_to_gpu/test_choices.py \
	tests/unit/frontend/test_errors.py tests/unit/runtime/test_launch_errors.py
accept: venv
	TRITONX_ACCEPT=1 $(PYTEST) $(ACCEPTED)
	git diff --stat -- tests

clean:
	rm -rf $(VENV) build dist *.egg-info packages/*/*.egg-info
