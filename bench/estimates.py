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
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import discreet
from asked import DIMENSIONS, Answers, Drawn, Question, Shown, cells, check, questions, together
from census import SOURCES, Private, private
from discreet.answer.estimators.design.by_design import ByDesign
from discreet.answer.estimators.design.opened import Opened
from discreet.answer.estimators.design.shrunk import Shrunk, Shrunken
from discreet.engines import connect
from discreet.learn.shrunk import Shrinkage
from discreet.release import Release
from discreet.release.relations import load_files
from discreet.values.columns import is_ordered
from measure import verdict
from targets import Cell, Figures, Measured, verdicts

SEED, CHECKED, TABLES = 14, 1, 20
TIMED = 12  # questions that are asked to see how long it takes
LIMITS = {"design": 1.5, "fit": 60.0}  # times `even`; seconds for 20 tables of at most 300,000 rows
ESTIMATORS = ("even", "design", "shrunk", "learned")


@dataclass(frozen=True)
class Method:
    """How a table is published, and by which estimators it is asked.

    Each of the `releases` is asked an equal part of the questions: where chance alone makes groups, a single release
    says little of how often its standard errors are right.
    """

    partition: str
    estimators: tuple[str, ...] = ("even",)
    options: Mapping[str, Any] = field(default_factory=dict)
    releases: int = 1


METHODS = {
    "anatomize": Method("anatomize"),
    "deal": Method("deal"),
    "mixed": Method("mixed", ("even", "design", "shrunk"), releases=5),
    "cells": Method("mixed", ("even", "design", "shrunk"), {"cells": 32}, releases=5),
    "local": Method("local", ("even", "learned")),
    "fitted": Method("local", ("even", "learned"), {"cuts": "fitted"}),
}


def publish(table: Private, method: Method, number: int, to: Path) -> Release:
    """One of the releases of a table by a method."""
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
        return discreet.publish(table.table, policy, to=to, seed=SEED + number)


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

    def shrunk(self, asked: Sequence[Question]) -> Answers:
        return self.shown.design(asked, self.coarser, self.shrunken)

    @cached_property
    def shrunken(self) -> Shrunken:
        return Shrunken(Shrinkage(self.coarser.design, is_ordered(self.coarser.values.type)))

    @cached_property
    def opened(self) -> Opened:
        return self._opened(ByDesign.most)

    @cached_property
    def coarser(self) -> Opened:
        """The same for `shrunk`, which takes more values together."""
        return self._opened(Shrunk.most)

    def _opened(self, most: int) -> Opened:
        """What the estimator makes of the files when it is first asked."""
        with closing(connect()) as engine:
            load_files(engine, self.release.path, self.release.manifest)
            opened = Opened.of(engine, self.release, most)
        if opened is None:
            raise SystemExit(f"{self.table.name}: too many values for `design`")
        if opened.told is not None:
            print(opened.told, flush=True)
        return opened

    @cached_property
    def drawn(self) -> Drawn:
        """Drawn once, and kept for questions in SQL."""
        start, busy = time.perf_counter(), time.process_time()
        tables = self.release.plausible(TABLES)
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
        took = f"seconds for {TABLES} tables, fit and all: {verdict(seconds, LIMITS['fit'])}, {busy:.0f} of a processor"
        print("; ".join([took, f"R-hat {tables.fit.rhat or 0:.2f}", *tables.fit.notes]), flush=True)
        return Drawn.of(tables, self.table)


def measured(asked: Sequence[Question], answers: Answers) -> Measured:
    errors = answers.errors(asked)
    return Measured(float(errors.mean()), float(np.median(errors)), answers.covered(asked))


def tried(
    table: Private, name: str, estimators: Sequence[str], asked: Mapping[Cell, Sequence[Question]]
) -> dict[str, Figures]:
    """Publish a table by a method and ask it by each estimator."""
    method, parts = METHODS[name], []
    wanted = [estimator for estimator in method.estimators if estimator in estimators]
    for number in range(method.releases):
        some = {cell: every[number :: method.releases] for cell, every in asked.items()}
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            with publish(table, method, number, Path(folder) / "release") as release:
                seconds, ways = time.perf_counter() - start, Asked(table, release, Shown.of(release, table))
                parts.append({estimator: _answered(ways, estimator, some) for estimator in wanted})
                if number == 0 and "design" in wanted:
                    print(f"time to ask by design, times even: {_slower(ways, some)}", flush=True)
    found = {}
    for estimator in wanted:
        answers = {cell: together([part[estimator][cell] for part in parts]) for cell in asked}
        found[estimator] = {cell: measured(every, answers[cell]) for cell, every in asked.items()}
        told = "  ".join(map(str, found[estimator].values()))
        print(f"{name:<10}{estimator:<9}{told}  {seconds:6.1f} s", flush=True)
    return found


def _answered(ways: Asked, estimator: str, asked: Mapping[Cell, Sequence[Question]]) -> dict[Cell, Answers]:
    """What an estimator makes of all questions, of which some are asked in SQL too."""
    found: dict[Cell, Answers] = {}
    for (form, dimensions), some in asked.items():
        answers: Answers = getattr(ways, estimator)(some)
        check(ways.release, ways.table, form, estimator, some[:CHECKED], answers)
        found[form, dimensions] = answers
    return found


def _slower(ways: Asked, asked: Mapping[Cell, Sequence[Question]]) -> str:
    """How much longer a question takes by design; both are asked in turns."""
    form, dimensions = next(iter(reversed(asked)))
    texts = [each.sql(ways.table, form) for each in asked[form, dimensions][CHECKED : CHECKED + TIMED + 1]]
    turns: dict[str, list[float]] = {"even": [], "design": []}
    for text in texts:
        for estimator, times in turns.items():
            start = time.process_time()
            ways.release.ask(text, estimator=estimator)
            times.append(time.process_time() - start)
    even, design = (float(np.median(times[1:])) for times in turns.values())
    return verdict(design / even, LIMITS["design"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000, help="of each kind")
    parser.add_argument("--tables", nargs="+", choices=SOURCES, default=[each for each in SOURCES if each != "jobs"])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=[*METHODS])
    parser.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=[*ESTIMATORS])
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
            for estimator, found in tried(table, method, given.estimators, asked).items():
                results[name, method, estimator] = found
    return results


if __name__ == "__main__":
    main()
