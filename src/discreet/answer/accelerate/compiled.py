"""One compiled pass over the groups of a release, in place of a plan for the engine.

The engine computes what conditions, keys and arguments are for each distinct value; from then on rows are codes, in
the order of groups. One sweep counts the rows of each group that match, by key, and adds up over groups what that many
of its values can be. Cost: the rows, and for each key that occurs in a group the logarithm of the group's values, or
for MIN, MAX, quantiles and means of an uncertain number of rows all of them.
"""

from __future__ import annotations

import threading
from functools import cached_property

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.answer.accelerate import sweep
from discreet.answer.accelerate.accelerator import Held
from discreet.answer.accelerate.finish import FINISH, Totals, finish
from discreet.answer.accelerate.grouped import Grouped, grouped
from discreet.answer.accelerate.kernels import Counts
from discreet.answer.accelerate.labels import Cells, Labels, NotServed, labelled
from discreet.answer.accelerate.sweep import Subject, Wanted
from discreet.answer.latest import Latest
from discreet.answer.question.question import Question
from discreet.engines import Engine
from discreet.errors import EngineError
from discreet.release.cache import Cache
from discreet.release.release import Release
from discreet.values.coded import to_arrow

KEPT = 4  # arguments whose candidates are kept, and keys that are
TOO_LARGE = 1e150  # to be squared
SIDES, ROWS = ("quasi", "sensitive"), ("", "")

Tables = dict[str, pa.Table]


class CompiledPass:
    """Answers questions about one release whose rows are counted; safe in several threads."""

    def __init__(self, engine: Engine, release: Release) -> None:
        self._engine, self._release = engine, release
        self._lock = threading.RLock()
        self._subjects: Latest[tuple[str, ...], Subject] = Latest(KEPT)
        self._labels: Latest[tuple[str, ...], Labels] = Latest(KEPT)
        self._kept: _Asked | None = None

    def answers(self, question: Question, *, keep: bool = False) -> Tables | None:
        """The relations `frame` and `answer_0` and so on of a question; None if it is left to the plan."""
        self._kept = None
        try:
            with self._lock:
                asked = _Asked(self, question, keep=keep)
                found = asked.tables()
        except (NotServed, EngineError):  # it may be an error only for rows that do not match
            return None
        self._kept = asked if keep else None
        return found

    def held(self, question: Question, argument: exp.Expr | None) -> Held | None:
        """What groups hold of a question that was answered last, and kept; None of another."""
        if self._kept is None or not self._kept.is_about(question):
            return None
        with self._lock:
            return self._kept.held(argument)

    @cached_property
    def grouped(self) -> Grouped | None:
        return grouped(self._engine, self._release.promise, Cache.of(self._release))

    def named(self, expression: exp.Expr) -> str:
        """An expression as the engine reads it: in SQL at large, `//` is written as a cast, which rounds here."""
        return expression.sql(dialect=self._engine.dialect)

    def labels(self, release: Grouped, question: Question, side: str) -> Labels:
        """What a question says of a side; keys alone are kept, and from the second time on how often they occur."""
        keys = [
            f"{number} {self.named(key.expression)}" for number, key in enumerate(question.keys) if key.side == side
        ]
        name = (side, *keys)
        known = None if question.where.get(side) is not None else self._labels.get(name)
        found = labelled(release.side(side), question, side) if known is None else known.keeping()
        if keys and question.where.get(side) is None:
            self._labels[name] = found
        return found

    def subject(self, side: str, labels: Labels, argument: exp.Expr) -> tuple[Subject, bool]:
        """The candidates of an argument, and whether to keep them.

        That takes longer than to go through them, but then they are there for the next question. So it is done for
        the second question about them, unless it is condition or keys that say which they are.
        """
        name = (side, self.named(argument))
        if labels.parts or name not in self._subjects:
            subject = Subject.of(labels, argument)
            if not labels.parts:
                self._subjects[name] = subject
            return subject, False
        return self._subjects[name], True


class _Asked:
    """One question, as it is answered."""

    def __init__(self, way: CompiledPass, question: Question, *, keep: bool) -> None:
        if any(each.function not in FINISH for each in question.aggregates):
            raise NotServed  # different values and spreads are the plan's
        if any(question.untouched(each) and each.argument is not None for each in question.aggregates):
            raise NotServed  # of what is exact, rows alone are counted here
        release = way.grouped
        if release is None or not {key.side for key in question.keys} | {*question.where} <= {*SIDES}:
            raise NotServed
        self._way, self._question, self._size = way, question, release.size
        self._sides = {side: way.labels(release, question, side) for side in SIDES}
        self._keep = keep
        if keep:
            self._sides["quasi"] = self._sides["quasi"].keeping()
        self._totals: dict[tuple[str, str], Totals] = {}
        self._subjects: dict[exp.Expr, Subject] = {}

    def tables(self) -> Tables:
        found: Tables = {}
        for number, aggregate in enumerate(self._question.aggregates):
            side = "sensitive" if aggregate.argument is None else aggregate.side
            if self._question.untouched(aggregate):
                found[f"answer_{number}"] = self._exact()
                continue
            totals = self._rows() if aggregate.argument is None else self._values(side, aggregate.argument)
            cells, columns = finish(aggregate, totals)
            found[f"answer_{number}"] = pa.table({**self._keys(side, cells), **columns})
        return {"frame": self._frame(), **found}

    def _frame(self) -> pa.Table:
        """Every combination of keys that may occur, or a single row without keys."""
        if not self._question.keys:
            return pa.table({"one": to_arrow(np.ones(1, np.int32))})
        return pa.table(self._keys("sensitive", np.flatnonzero(self._rows().most)))

    def _exact(self) -> pa.Table:
        """The number of rows, which no sensitive value can change."""
        totals = self._rows()
        cells = np.flatnonzero(totals.most)
        ends = dict.fromkeys(("estimate", "low", "high", "least"), to_arrow(totals.most[cells]))
        return pa.table({**self._keys("sensitive", cells), **ends, "stderr": to_arrow(np.zeros(cells.size))})

    def _keys(self, side: str, cells: Cells) -> dict[str, pa.Array]:
        """The keys of cells: there is one for each key of the drawn side, and within it of the candidates'."""
        drawn, candidate = divmod(cells, self._sides[side].size)
        return {**self._sides[_other(side)].columns(drawn), **self._sides[side].columns(candidate)}

    def _rows(self) -> Totals:
        if ROWS not in self._totals:
            self._totals[ROWS] = sweep.rows(self._sides["quasi"], self._sides["sensitive"], self._size)
        return self._totals[ROWS]

    def _values(self, side: str, argument: exp.Expr) -> Totals:
        """What is added up for all aggregates about an argument."""
        about = (side, self._way.named(argument))
        if about not in self._totals:
            asked: set[str] = {each.function for each in self._question.aggregates if each.argument == argument}
            labels = self._sides[side]
            subject, kept = self._way.subject(side, labels, argument)
            if self._keep and side == "quasi":
                self._subjects[argument], kept = subject, True
            if asked & {"sum", "avg", "quantile_cont"} and not (np.abs(subject.numbers) < TOO_LARGE).all():
                raise NotServed
            drawn, wanted = self._sides[_other(side)], Wanted.of(asked, subject)
            self._totals[about] = sweep.values(drawn, subject, self._size, wanted, kept=kept)
            if side == "sensitive" and subject.all_present:
                self._totals.setdefault(ROWS, self._totals[about])  # each has an argument: they are counted
        return self._totals[about]

    def is_about(self, question: Question) -> bool:
        return self._question is question

    def held(self, argument: exp.Expr | None) -> Held | None:
        """What groups hold by key: how many rows; of an argument that was added up, that and its sums."""
        labels, groups = self._sides["quasi"], self._size.size
        names = pa.table(labels.columns(np.arange(labels.size)))
        if argument is None:
            every = Counts(np.arange(groups + 1), np.zeros(groups, np.int32), self._size)
            counts = every if labels.kept is None else labels.kept
            return Held(counts.offsets, counts.keys, counts.n.astype(np.float64)[:, None], names)
        if argument not in self._subjects:
            return None
        found, last = self._subjects[argument].kept, int(self._subjects[argument].kept.offsets[-1])
        total = found.total[:last].astype(np.float64)
        columns = [total]
        if found.mean.size:
            mean = found.mean[:last]
            columns += [total * mean, found.spread[:last] + total * mean * mean]
        return Held(found.offsets, found.keys[:last], np.stack(columns, axis=1), names)


def _other(side: str) -> str:
    return "quasi" if side == "sensitive" else "sensitive"
