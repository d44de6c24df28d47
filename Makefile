# What is needed is installed into .venv by plain pip, once: a second call installs nothing. The README's commands need
# less than the tests, the linters and the documentation do.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed
RUN_STAMP := .venv/installed-run

.DEFAULT_GOAL := help
.PHONY: help install train check test coverage bench lint format docs wheel clean

help:  ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(STAMP)  ## set up .venv with the versions that were tested (constraints.txt)

$(STAMP): WHAT := .[dev]
$(RUN_STAMP): WHAT := .[backbone,export,parallel]
$(STAMP) $(RUN_STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "smoothpl needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 install")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --constraint constraints.txt --editable '$(WHAT)'
	@touch $@

# Whoever has all of it has what a run needs.
train: $(or $(wildcard $(STAMP)),$(RUN_STAMP))  ## train Smooth FixMatch on the embedded digits, 40 labels
	$(BIN)/python -m smoothpl.train method=smooth

check: lint  ## ruff, mypy, and the tests that start no processes: for the inner loop
	$(BIN)/pytest --numprocesses 2 --dist worksteal -m 'not processes and not slow'

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

docs: export NO_MKDOCS_2_WARNING = 1
docs: install  ## build the documentation into site/
	$(BIN)/mkdocs build --strict

# An empty environment, with the dependencies of .venv but not the editable smoothpl in it: needs no download.
wheel: install  ## build the wheel into dist/ and try it in an empty environment
	rm -rf dist build/wheel
	$(BIN)/python -m build --no-isolation --wheel
	$(BIN)/python -m venv build/wheel
	build/wheel/bin/pip install --no-deps --no-index dist/*.whl
	PYTHONPATH=$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])'); export PYTHONPATH; \
	cd build/wheel && bin/smoothpl --help && bin/smoothpl train max_steps=2 batch_size=4

clean:  ## remove what make made, but never outputs/
	rm -rf .venv dist build site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
