"""`design`: unbiased whatever the data, where chance alone brought rows to groups; see `learn/design.py` for the proof.

COUNT, SUM and AVG of either side, and quantiles; bounds are those of the plan, and estimates are kept inside them. MIN
and MAX have no such estimate. What a question says of either side is computed once while the latest questions say it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar, Self

from sqlglot import exp

from discreet.answer.answer import Basis
from discreet.answer.estimators.design import linear, moments, sought
from discreet.answer.estimators.design.asked import Asked, Means
from discreet.answer.estimators.design.linear import Way
from discreet.answer.estimators.design.opened import Opened, Wanted
from discreet.answer.estimators.estimator import Estimated, Refused
from discreet.answer.latest import Latest
from discreet.answer.prepared import Asking
from discreet.answer.question.question import Question
from discreet.engines import Engine
from discreet.learn.classes import MOST
from discreet.release.manifest import Promise
from discreet.release.release import Release

EXPLAINED = """-- `design`: low and high are those of the query above. Estimate and stderr are computed in arrays, not
-- in SQL, from what follows: what the rows of each group that match add up to, regressed on how many rows of the group
-- hold each value (table `st`). "values by code" are the different sensitive values in order."""
KEPT = 8  # what questions say of sensitive values, and what groups hold of the others


class ByDesign:
    """A regression of what is in each group on its values."""

    basis: ClassVar[Basis] = Basis(
        "design",
        "chance alone decided which people with the same value came into which group, as the release states",
        ": whatever the data, the truth is within 2 stderr about 19 times in 20, if more than a few rows match",
    )

    most: ClassVar[int] = MOST  # values that are told apart

    def __init__(self, engine: Engine, promise: Promise, opened: Opened | None) -> None:
        self.engine, self.promise, self.opened = engine, promise, opened
        self._way: Way | None = None
        self._wanted: Latest[Hashable, Wanted] = Latest(KEPT)
        self._means: Means = Latest(KEPT)
        if opened is not None:
            sought.load(engine, opened.values)

    @classmethod
    def why_not(cls, promise: Promise) -> Refused | None:
        name = cls.basis.estimator
        match promise.randomness:
            case "dealt" | "cells":
                return None
            case "near":
                return Refused(
                    f"`{name}` is not valid for groups of people who are alike, as `{promise.partition}` makes them: it"
                    " assumes that chance alone put rows into groups (on such groups, errors of 79 to 189 % were"
                    " measured)",
                    'use estimator "learned" or "even", or publish by the partition `mixed`',
                )
            case None:
                others = '"even"' if promise.estimator is None else '"learned" or "even"'
                return Refused(
                    f"`{name}` needs a release that states by what chance rows came to their groups, and this one does"
                    " not",
                    f"use estimator {others}, or publish by the partition `mixed`",
                )

    @classmethod
    def of(cls, engine: Engine, release: Release) -> Self:
        return cls(engine, release.promise, Opened.of(engine, release, cls.most))

    def way(self, opened: Opened) -> Way:  # noqa: ARG002
        """How totals are estimated."""
        return linear

    def answer(self, asking: Asking) -> Estimated:
        question = asking.question
        open_ = [number for number, each in enumerate(question.aggregates) if not question.untouched(each)]
        if not open_:
            return Estimated(asking.direct())
        if self.opened is None:
            many = "the sensitive values are too many to be told apart: estimates are those of `even`"
            return Estimated(asking.direct(), (many,), dict.fromkeys(open_, "even"))
        arguments = _arguments(question)
        wanted = self.wanted(self.opened, question, arguments)
        name, way = self.basis.estimator, self._way or self.way(self.opened)
        self._way = way
        return Asked(name, way, asking, self.promise, self.opened, wanted, arguments, self._means).estimated(open_)

    def explain(self, asking: Asking) -> list[str]:
        """Two queries, of quasi-identifiers and of values, and what is made of them."""
        question = asking.question
        if self.opened is None or all(map(question.untouched, question.aggregates)):
            return []
        queries = [*moments.queries(question, self.promise)]
        queries.append(sought.query(question, _arguments(question), self.promise.sensitive_column))
        told = (f"{each.sql(dialect=asking.engine.dialect, pretty=True)};" for each in queries)
        return [EXPLAINED, *told]

    def wanted(self, opened: Opened, question: Question, arguments: list[exp.Expr]) -> Wanted:
        """What a question says of the sensitive values; the latest are kept."""
        keys = tuple((i, key.expression) for i, key in enumerate(question.keys) if key.side == "sensitive")
        name = (question.where.get("sensitive"), keys, tuple(arguments))
        found = self._wanted.get(name)
        if found is None:
            query = sought.query(question, arguments, self.promise.sensitive_column)
            found = Wanted(opened, sought.read(self.engine.run(query)))
        self._wanted[name] = found
        return found


def _arguments(question: Question) -> list[exp.Expr]:
    """What aggregates are about on the sensitive side, each once."""
    found = (each.argument for each in question.aggregates if each.side == "sensitive")
    return list(dict.fromkeys(each for each in found if each is not None))
