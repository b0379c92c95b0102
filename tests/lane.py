"""Which tests a run takes, how hard they try, and where its time goes: the hooks of `conftest.py`.

- Markers by place: `law`, `papers`, `kill`, `spark`; `slow` stands at the tests themselves. `make fast` leaves all of them out.
- Profiles of Hypothesis (`--hypothesis-profile`): `fast` tries 5 examples, `ci` (the default) as many as each test says,
  `long` at least 500, other ones in every run, and looks for the smallest that fails.
- Files that take longer than their budget are named at the end. That is a report: no test fails for being slow.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import Phase, settings

# Two processes run side by side on two cores: threads of BLAS would only wait for each other, at full speed.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# What Numba compiles is kept in the project, for the next run and for processes that tests start.
COMPILED = os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parent.parent / ".cache" / "numba"))

PLACES = {
    "laws/": "law",
    "papers/": "papers",
    "experiments/": "papers",
    "vault/test_kill": "kill",
    "publication/test_kill": "kill",
    "release/test_database_kill": "kill",
    "spark/": "spark",
    "docs/": "slow",
    # What takes longest of the rest: many releases or many bad inputs each, and seldom the first to break.
    **dict.fromkeys(
        (
            *("answer/accelerate/test_compiled", "answer/estimators/", "answer/test_attacks", "answer/test_boxes"),
            *("answer/test_by_value", "answer/test_generalized", "answer/test_joins", "answer/test_swapped"),
            *("audit/", "cli/test_audit", "cli/test_cli", "cli/test_compare", "cli/test_first_hour", "cli/test_init"),
            *("cli/test_vault", "comparison/", "contracts/test_attacks", "contracts/test_partitions"),
            *("contracts/test_portals", "contracts/test_spatial", "guarantees/test_beta", "hierarchies/test_laws"),
            *("learn/", "partition/people/", "partition/ranges/", "partition/spatial/", "publication/test_bad_input"),
            *("publication/test_earlier", "publication/test_full", "publication/test_generalization"),
            *("publication/test_in_server", "publication/test_join", "publication/test_people"),
            *("publication/test_permutation", "publication/test_randomness", "publication/test_slicing"),
            *("release/test_database", "release/test_described", "release/test_runs", "release/test_verify.py"),
            *("release/test_write", "report/", "risk/", "table/test_database", "table/test_looks"),
            *("values/test_kernel", "vault/test_bad_input", "vault/test_doubts", "vault/test_lot", "vault/test_people"),
            *("vault/test_server", "vault/test_vault"),
            *("warnings/",),
        ),
        "slow",
    ),
}
# Seconds of one file in the profile `ci`, compiled kernels at hand; what needs more says so here.
BUDGET = 30
BUDGETS = {
    "laws/": 90,
    "papers/": 90,
    "experiments/": 180,
    "vault/test_kill": 90,
    "contracts/": 90,
    "docs/": 120,
    "vault/test_vault": 60,
    "spark/": 120,
}

settings.register_profile("ci", deadline=None)
settings.register_profile("fast", deadline=None, max_examples=5)
settings.register_profile("long", deadline=None, max_examples=500)


def place(nodeid: str) -> str:
    """The file of a test, from the folder of tests on."""
    return nodeid.partition("::")[0].removeprefix("tests/")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    profile = config.getoption("--hypothesis-profile") or "ci"
    for item in items:
        for start, marker in PLACES.items():
            if place(item.nodeid).startswith(start):
                item.add_marker(marker)
        if isinstance(item, pytest.Function) and hasattr(item.obj, "is_hypothesis_test"):
            # A test says how many examples it needs; Hypothesis has no public way to change that afterwards.
            test = getattr(item.obj, "__func__", item.obj)
            test._hypothesis_internal_use_settings = tried(test._hypothesis_internal_use_settings, profile)


def tried(wanted: settings | None, profile: str) -> settings | None:
    """The settings of a test in a profile."""
    if wanted is None or profile not in {"fast", "long"}:
        return wanted
    if profile == "fast":
        return settings(wanted, max_examples=min(wanted.max_examples, 5))
    return settings(wanted, max_examples=max(wanted.max_examples, 500), derandomize=False, phases=tuple(Phase))


class Times:
    """The seconds of every file, as its tests report them; and what tests tell (`record_property("told", …)`)."""

    def __init__(self) -> None:
        self.of: Counter[str] = Counter()
        self.told: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.of[place(report.nodeid)] += report.duration
        if report.when == "call":
            self.told += [str(value) for name, value in report.user_properties if name == "told"]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.told:
            terminalreporter.section("what tests tell")
            for each in self.told:
                terminalreporter.write_line(each)
        over = [(file, seconds) for file, seconds in self.of.most_common() if seconds > budget(file)]
        if over:
            terminalreporter.section("files over their budget")
            for file, seconds in over:
                terminalreporter.write_line(f"{seconds:6.0f}s of {budget(file)}s  {file}")


def budget(file: str) -> int:
    return next((seconds for start, seconds in BUDGETS.items() if file.startswith(start)), BUDGET)


def compiled() -> None:
    """Compile every kernel, as for large tables; what Python runs for small ones is compared with it."""
    from discreet.values import kernel

    kernel.PATIENCE = 0


def pytest_configure(config: pytest.Config) -> None:
    compiled()
    if not hasattr(config, "workerinput"):  # the process that all reports come to
        config.pluginmanager.register(Times(), "times of files")
