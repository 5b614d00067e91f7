# `make demo` and `make test` are all a newcomer needs; both make the virtual environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: venv demo test lint clean opencl

venv: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# What the GPU emitters write, executed: the plug-in with its OpenCL implementation for CPUs (300 MB).
opencl: venv
	$(BIN)/python -m pip install --quiet --editable plugins/tritonx-opencl

demo: venv
	$(BIN)/python examples/run_all.py

lint: venv
	$(BIN)/ruff check .
	$(BIN)/pyright

test: lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

clean:
	rm -rf $(VENV) build dist *.egg-info
