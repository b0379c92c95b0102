"""`learned`: every question is asked of each plausible table; the mean is the estimate, their spread the stderr.

With M tables the stderr is √(1 + 1/M) times the standard deviation of what they answer (Rubin, 1987). All of them agree
with the release to the last row, so no estimate leaves its bounds. Any SELECT can be asked of tables that are complete.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar, Self

import pyarrow as pa

from discreet.answer.answer import Answer, Basis
from discreet.answer.estimators.estimator import Estimated, Refused
from discreet.answer.estimators.learned.closed import estimated
from discreet.answer.estimators.learned.matched import matched
from discreet.answer.estimators.learned.select import read_select
from discreet.answer.estimators.learned.tables import Tables
from discreet.answer.given import told_unused
from discreet.answer.prepared import Asking, Hurry
from discreet.engines import Engine
from discreet.release.manifest import Promise
from discreet.release.release import Release

NO_BOUNDS = "no low and high: bounds are known only of questions without joins, subqueries, windows and the like"


class Learned:
    """A release by its plausible tables; these are drawn when the first question comes."""

    basis: ClassVar[Basis] = Basis(
        "learned",
        "a model, fitted to this release alone, is right about how values go with quasi-identifiers inside a group",
        truth="; where it is wrong, the truth can be many stderr away",
    )

    def __init__(self, engine: Engine, release: Release) -> None:
        self._engine, self._release = engine, release
        self._found: Tables | None = None

    @classmethod
    def why_not(cls, promise: Promise) -> Refused | None:
        if promise.estimator is None:
            return Refused(
                "the release does not say by what chance people came into their groups: only `even` can estimate",
                "use estimator `even`, or publish the table again",
            )
        return None

    @classmethod
    def of(cls, engine: Engine, release: Release) -> Self:
        return cls(engine, release)

    def answer(self, asking: Asking) -> Estimated:
        question = asking.question
        if all(question.untouched(aggregate) for aggregate in question.aggregates):
            return Estimated(asking.direct())
        return estimated(asking, self._tables(asking.hurry))

    def spelled(self, sql: str, given: Collection[str] = ()) -> str:
        """Any SELECT as it is run."""
        select = read_select(sql, self._release.promise, given)
        return f"-- run on each of the plausible tables of the release, and pooled\n{select.sql};"

    def beyond(self, sql: str, given: Mapping[str, pa.Table], hurry: Hurry) -> Answer:
        """Answer any SELECT over the table, and over tables that are `given` by name; without bounds."""
        select = read_select(sql, self._release.promise, given)
        tables = self._tables(hurry)
        with tables.beside(given):
            result, measures, told = matched(self._engine, select, tables)
        estimators = dict.fromkeys(measures, self.basis.estimator)
        notes = (NO_BOUNDS, *told_unused(given, select.sources), *told, *tables.notes)
        return Answer(sql, result, select.sql, notes, self.basis, estimators)

    def explain(self, asking: Asking) -> list[str]:  # noqa: ARG002
        return ["-- estimate and stderr: mean and spread of the question over the plausible tables of the release"]

    def _tables(self, hurry: Hurry) -> Tables:
        if self._found is None:
            self._found = Tables.of(self._engine, self._release, hurry)
        return self._found
