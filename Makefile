# Each target does its own set-up: a bare clone, Python 3.11 or newer, and a package index are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-
# Second opinions, without the versions that they pin: what is used of them needs only what is there.
ALONE_test := pycanon
ALONE_bench := anonypy

.PHONY: demo test lint bench bench-large clean

demo: $(STAMP)run
	$(BIN)/discreet demo

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(STAMP)test
	$(BIN)/ruff check src tests bench tools
	$(BIN)/ruff format --check src tests bench tools
	$(BIN)/mypy
	$(BIN)/python tools/check_imports.py

bench: $(STAMP)bench
	$(BIN)/python bench/publish.py
	$(BIN)/python bench/ask.py
	$(BIN)/python bench/partition.py
	$(BIN)/python bench/permutation.py
	$(BIN)/python bench/generalization.py
	$(BIN)/python bench/full_domain.py
	$(BIN)/python bench/cluster.py
	$(BIN)/python bench/join.py
	$(BIN)/python bench/growing.py
	$(BIN)/python bench/vault.py

bench-large: $(STAMP)bench
	$(BIN)/python bench/large.py

$(STAMP)%: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.$(if $(filter run,$*),,[$*])'
	$(if $(ALONE_$*),$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps $(ALONE_$*))
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
