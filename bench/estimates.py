"""How far estimates are from the truth on real tables, and how often two standard errors reach it.

    python bench/estimates.py [--questions 1000] [--tables SAL OCC …] [--methods mixed local …] [--rows N]

Each table of `census.SOURCES` is published by each method, and asked COUNT questions (see `asked`): `sets`, `ranges`,
with conditions on 1, 2 and 5 quasi-identifiers. Printed are the mean and the median of |estimate - truth| / truth, the
share of truths within two standard errors, and at the end what of it was to be reached, and was not. Some questions
of each kind are asked in SQL too; it stops if these answers differ. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import discreet
from asked import DIMENSIONS, Answers, Drawn, Question, Shown, cells, check, questions
from census import SOURCES, Private, private
from discreet.answer.estimators.design.opened import Opened
from discreet.engines import connect
from discreet.release import Release
from discreet.release.relations import load_files
from targets import Cell, Figures, Measured, verdicts

SEED, CHECKED, TABLES = 14, 1, 20
ESTIMATORS = ("even", "design", "learned")


@dataclass(frozen=True)
class Method:
    """How a table is published, and by which estimators it is asked."""

    partition: str
    estimators: tuple[str, ...] = ("even",)
    options: Mapping[str, Any] = field(default_factory=dict)


METHODS = {
    "anatomize": Method("anatomize"),
    "deal": Method("deal"),
    "mixed": Method("mixed", ("even", "design")),
    "local": Method("local", ("even", "learned")),
    "fitted": Method("local", ("even", "learned"), {"cuts": "fitted"}),
}


def publish(table: Private, method: Method, to: Path) -> Release:
    """The release of a table by a method."""
    about = table.source
    policy = discreet.Policy(
        quasi=about.quasi,
        sensitive=about.sensitive,
        guarantee={"l": about.l},
        partition=method.partition,
        options=method.options,
        accept=dict.fromkeys(("minimality", "looks"), "measured, and not published"),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", discreet.errors.DiscreetWarning)
        return discreet.publish(table.table, policy, to=to, seed=SEED)


@dataclass(frozen=True)
class Asked:
    """A release, what its files show, and the plausible tables drawn from it."""

    table: Private
    release: Release
    shown: Shown

    def even(self, asked: Sequence[Question]) -> Answers:
        return self.shown.even(asked)

    def learned(self, asked: Sequence[Question]) -> Answers:
        return self.drawn.answers(asked)

    def design(self, asked: Sequence[Question]) -> Answers:
        return self.shown.design(asked, self.opened)

    @cached_property
    def opened(self) -> Opened:
        """What the estimator makes of the files when it is first asked."""
        with closing(connect()) as engine:
            load_files(engine, self.release.path, self.release.manifest)
            opened = Opened.of(engine, self.release)
        if opened is None:
            raise SystemExit(f"{self.table.name}: too many values for `design`")
        if opened.told is not None:
            print(opened.told, flush=True)
        return opened

    @cached_property
    def drawn(self) -> Drawn:
        """Drawn once, and kept for questions in SQL."""
        start = time.perf_counter()
        tables = self.release.plausible(TABLES)
        told = f"{TABLES} tables in {time.perf_counter() - start:.1f} s, fit and all; R-hat {tables.fit.rhat}"
        print("; ".join([told, *tables.notes]), flush=True)
        return Drawn.of(tables, self.table)


def measured(asked: Sequence[Question], answers: Answers) -> Measured:
    errors = answers.errors(asked)
    return Measured(float(errors.mean()), float(np.median(errors)), answers.covered(asked))


def tried(
    table: Private, name: str, estimators: Sequence[str], asked: Mapping[Cell, Sequence[Question]]
) -> Iterator[tuple[str, Figures]]:
    """Publish a table by a method and ask it by each estimator."""
    method = METHODS[name]
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        with publish(table, method, Path(folder) / "release") as release:
            seconds, ways = time.perf_counter() - start, Asked(table, release, Shown.of(release, table))
            for estimator in method.estimators:
                if estimator in estimators:
                    found = _answered(ways, estimator, asked)
                    print(
                        f"{name:<10}{estimator:<9}{'  '.join(map(str, found.values()))}  {seconds:6.1f} s", flush=True
                    )
                    yield estimator, found


def _answered(ways: Asked, estimator: str, asked: Mapping[Cell, Sequence[Question]]) -> Figures:
    """What an estimator makes of all questions, of which some are asked in SQL too."""
    found: Figures = {}
    for (form, dimensions), some in asked.items():
        answers: Answers = getattr(ways, estimator)(some)
        check(ways.release, ways.table, form, estimator, some[:CHECKED], answers)
        found[form, dimensions] = measured(some, answers)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000, help="of each kind")
    parser.add_argument("--tables", nargs="+", choices=SOURCES, default=[*SOURCES])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=[*METHODS])
    parser.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=["even", "design"])
    parser.add_argument("--rows", type=int, help="of each table, drawn at random")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["DISCREET_CACHE"] = cache  # nothing that was drawn before is measured
        for line in verdicts(measure(given)):
            print(line)


def measure(given: argparse.Namespace) -> dict[tuple[str, str, str], Figures]:
    """Ask every table that was published by every method, and print what comes out."""
    results: dict[tuple[str, str, str], Figures] = {}
    for name in given.tables:
        table = private(name, given.rows)
        asked = {each: questions(table, *each, given.questions, SEED) for each in cells(DIMENSIONS)}
        about = f"{table.rows:,} rows, {table.source.sensitive}, l = {table.source.l}"
        print(f"\n{name}: {about}, {given.questions:,} questions each; mean and median error, within 2 stderr")
        print(f"{'':19}" + "  ".join(f"{form:>13}, {several:<4}" for form, several in asked), "published")
        for method in given.methods:
            for estimator, found in tried(table, method, given.estimators, asked):
                results[name, method, estimator] = found
    return results


if __name__ == "__main__":
    main()
