# Everything is installed into .venv by plain pip, once: a second call installs nothing.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed

.DEFAULT_GOAL := help
.PHONY: help install train test coverage bench lint format wheel clean

help:  ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(STAMP)  ## set up .venv with the versions that were tested (constraints.txt)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "smoothpl needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 install")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --constraint constraints.txt --editable '.[dev]'
	@touch $@

train: install  ## train Smooth FixMatch on the embedded digits, 40 labels
	$(BIN)/python -m smoothpl.train method=smooth

test: install  ## run the whole test suite
	$(BIN)/pytest --numprocesses 2 --dist worksteal

coverage: install  ## the same, with the lines that no test has seen: twice as long
	$(BIN)/pytest --numprocesses 2 --dist worksteal --cov --cov-fail-under 97

bench: install  ## speed and memory, one table (needs SMOOTHPL_DATA)
	$(BIN)/python -m benchmarks

lint: install  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install  ## let ruff put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheel: install  ## build the wheel into dist/
	$(BIN)/python -m build --no-isolation --wheel

clean:  ## remove what make made, but never outputs/
	rm -rf .venv dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
