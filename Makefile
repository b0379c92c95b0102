# Each target does its own set-up: a bare clone, Python 3.11 or newer, and a package index are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-
# Second opinions, without the versions that they pin: what is used of them needs only what is there.
ALONE_test := pycanon mlcroissant
ALONE_bench := anonypy
# What the lowest versions are tried on: every room that calls a library, without the laws and the papers.
LOWEST := tests/policy tests/table tests/hierarchies tests/partition tests/publication tests/release tests/answer tests/audit tests/cli tests/engines
# Where tests are that need Spark: one process runs them, since each would start workers of its own.
SPARK := tests/spark tests/answer tests/laws/test_engines.py tests/engines

# What Numba compiles, kept between runs.
export NUMBA_CACHE_DIR ?= $(CURDIR)/.cache/numba

.PHONY: demo fast test long coverage ready warm java lint bench bench-estimates bench-large bench-peers bench-postgres docs docs-sessions docs-sixty lowest wheel clean

demo: $(STAMP)run
	$(BIN)/discreet demo

# What a change breaks most often; under two minutes on two cores once kernels are compiled.
fast: ready
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations 10 --hypothesis-profile fast -m "not slow and not law and not papers and not kill and not spark"

# Everything. What Spark runs comes last and by itself: it has two workers of its own.
test:
	$(MAKE) --jobs 3 --output-sync lint warm java
	@failed=0; \
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations 25 -m "not spark" || failed=1; \
	$(BIN)/python -m pytest $(SPARK) -m spark -rs --durations 10 || failed=1; \
	exit $$failed

# Everything that draws examples, with at least 500 of them: for a night.
long: $(STAMP)test warm
	$(BIN)/python -m pytest -n 2 --dist worksteal --hypothesis-profile long -m "not papers and not kill and not spark"

# Branches of all that is not compiled (kernels have their oracles), without processes that are killed.
coverage: $(STAMP)test warm
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not kill and not spark" --cov --cov-report=term-missing:skip-covered

# Linters on one core, compiling on the other.
ready: $(STAMP)test
	$(MAKE) --jobs 2 --output-sync lint warm

warm: $(STAMP)test
	PYTHONPATH=tests $(BIN)/python tests/warm.py

# Spark runs on Java, which no pip package brings. Where it cannot be installed, tests of Spark are skipped and say so.
java:
	@command -v java > /dev/null || test -n "$$JAVA_HOME" \
	|| { test "$$(id -u)" = 0 && command -v apt-get > /dev/null && apt-get install --yes --quiet openjdk-17-jre-headless; } \
	|| echo "There is no Java, and it cannot be installed from here: tests of Spark will be skipped."

lint: $(STAMP)test
	$(BIN)/ruff check src tests bench tools
	$(BIN)/ruff format --check src tests bench tools
	$(BIN)/mypy
	$(BIN)/python tools/check_imports.py

bench: $(STAMP)bench
	$(BIN)/python bench/publish.py
	$(BIN)/python bench/verify.py
	$(BIN)/python bench/first.py
	$(BIN)/python bench/checks.py
	$(BIN)/python bench/ask.py
	$(BIN)/python bench/partition.py
	$(BIN)/python bench/mixed.py 1000000
	$(BIN)/python bench/design.py
	$(BIN)/python bench/permutation.py
	$(BIN)/python bench/generalization.py
	$(BIN)/python bench/boxes.py
	$(BIN)/python bench/full_domain.py
	$(BIN)/python bench/cluster.py
	$(BIN)/python bench/join.py
	$(BIN)/python bench/growing.py
	$(BIN)/python bench/dealing.py
	$(BIN)/python bench/vault.py
	$(BIN)/python bench/sequence.py
	$(BIN)/python bench/composition.py
	$(BIN)/python bench/told.py

# How far estimates are off on real tables, and how often two standard errors reach the truth; needs DISCREET_DATA.
bench-estimates: $(STAMP)bench
	$(BIN)/python bench/estimates.py

# discreet beside anonypy and, if DISCREET_ARX names its jar or a checkout, ARX; pycanon counts again.
bench-peers: $(STAMP)test $(STAMP)bench
	$(BIN)/python bench/peers/compare.py

# A server of its own, a million rows, and 20 analysts for a minute.
bench-postgres: $(STAMP)test $(STAMP)bench
	$(BIN)/python bench/postgres.py

bench-large: $(STAMP)bench
	$(BIN)/python bench/large.py
	$(BIN)/python bench/learning.py

# Broken links and missing names fail. The site lies in site/.
docs: $(STAMP)docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

# Runs every printed session of README.md and docs/, and prints what it prints now. The test of them: tests/docs/.
docs-sessions: $(STAMP)test
	$(BIN)/python tools/docs_sessions.py

# Asks the sixty questions of every publication, and writes docs/sixty.md. The test of it: tests/docs/test_sixty.py.
docs-sixty: $(STAMP)test
	$(BIN)/python tools/questions.py

# The lowest versions that pyproject.toml says are enough, in an environment of their own.
lowest: .lowest/.installed
	.lowest/bin/python -m pytest $(LOWEST)

.lowest/.installed: pyproject.toml tools/lowest.py
	$(PYTHON) -m venv --clear .lowest
	.lowest/bin/python tools/lowest.py test > .lowest/constraints.txt
	.lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .lowest/constraints.txt --editable '.[test]'
	touch $@

# The built wheel, installed in an environment of its own, runs the demo.
wheel:
	$(PYTHON) tools/try_wheel.py

$(STAMP)%: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.$(if $(filter run,$*),,[$*])'
	$(if $(ALONE_$*),$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps $(ALONE_$*))
	touch $@

clean:
	rm -rf $(VENV) .cache .coverage .lowest site .mypy_cache .pytest_cache .ruff_cache
