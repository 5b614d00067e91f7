# `make demo` and `make test` are all a newcomer needs; both make the virtual environment first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: venv demo test lint clean

venv: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: venv
	$(BIN)/python examples/run_all.py

lint: venv
	$(BIN)/ruff check .
	$(BIN)/pyright

test: lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

clean:
	rm -rf $(VENV) build dist *.egg-info
