# make demo, make test: both work on a fresh clone with Python 3.11 or later, venv and make.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

OLDEST := build/oldest
XDIST  := --numprocesses auto --dist worksteal

.PHONY: help demo test test-fast test-processors test-oldest bench man clean

help:           ## this list
	@sed -n 's/^\([a-z-]*\): .*## */  make \1	/p' $(MAKEFILE_LIST)

demo: $(VENV)/.installed            ## install into .venv and differentiate samples/expr.txt
	$(BIN)/gradcli grad samples/expr.txt --wrt x --format table

test: $(VENV)/.installed-test       ## ruff, mypy, pytest (PYTEST_ARGS="-k name" for a part)
	$(BIN)/ruff check .
	$(BIN)/mypy & types=$$!; \
	$(BIN)/pytest $(XDIST) $(PYTEST_ARGS); tests=$$?; \
	wait $$types && exit $$tests

test-fast: $(VENV)/.installed-test  ## ruff, and 3 cases of each quick test: no mypy, no processes
	$(BIN)/ruff check .
	$(BIN)/pytest $(XDIST) --fast $(PYTEST_ARGS)

test-processors: $(VENV)/.installed-test    ## what prints numbers, as older processors do
	$(BIN)/python tests/tools/processors.py $(XDIST) $(PYTEST_ARGS)

# All tests: make test-oldest OLDEST_TESTS=tests PYTEST_ARGS="--cases 9999"
test-oldest: $(OLDEST)/.installed   ## what calls dependencies, with the oldest that are allowed
	$(OLDEST)/bin/pytest $(XDIST) --cases 20 $(PYTEST_ARGS) \
	  $(or $(OLDEST_TESTS),$$($(OLDEST)/bin/python tests/tools/selections.py))

bench: $(VENV)/.installed-test      ## beside other engines (BENCH_ARGS="--peers PYTHON"), and alone
	$(BIN)/python benchmarks/run.py $(BENCH_ARGS)
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/places.py

man: $(VENV)/.installed             ## manual pages into build/man1
	$(BIN)/python -m gradcli.cli.man build/man1

clean:          ## remove the environment and everything that was built
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: installed again only when the project's own description changes. The install is
# editable, so a change of the code or of a grammar needs none. For the tests nothing is compiled
# that no test imports, which is most of what they need and half of the time.
$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml hatch_build.py gradcli/_version.py | $(BIN)/python
	$(PIP) install --editable .
	@touch $@

$(OLDEST)/.installed: pyproject.toml hatch_build.py gradcli/_version.py tests/tools/oldest.py
	$(PYTHON) -m venv --clear $(OLDEST)
	$(PYTHON) tests/tools/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip --disable-pip-version-check --quiet install --no-compile \
	  --constraint $(OLDEST)/constraints.txt --editable '.[test,plot]' || \
	  { echo 'no oldest dependencies: is the package index in reach, has it these?'; \
	    cat $(OLDEST)/constraints.txt; exit 1; }
	@touch $@

$(VENV)/.installed-test: pyproject.toml hatch_build.py gradcli/_version.py | $(BIN)/python
	$(PIP) install --no-compile --editable '.[test]'
	@touch $@ $(VENV)/.installed
