"""What a core question was answered with: the whole table, and what is to be said beside it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from discreet.answer.answer import Answer, Basis
from discreet.answer.estimators import Estimated
from discreet.answer.given import told_unused
from discreet.answer.matches import Matches
from discreet.answer.question.question import COUNTS, ENDS, OF_A_SAMPLE, Question

NOBODY_MATCHES = ("nobody matches", "somebody does")


@dataclass(frozen=True)
class Told:
    """The columns of the answer, then how many rows match each aggregate at least, and more that is not shown."""

    question: Question
    table: pa.Table
    sql: str
    notes: tuple[str, ...]
    basis: Basis
    estimators: Mapping[str, str]

    @property
    def beside(self) -> set[str]:
        """The tables of one's own that it is about."""
        return {each.name.lower() for each in self.question.beside}

    def answer(self, text: str, given: Collection[str]) -> Answer:
        """As it is shown, to whoever gave such tables."""
        shown = self.table.select(range(width(self.question)))
        notes = (*self.notes, *told_unused(given, self.beside))
        return Answer(text, shown, self.sql, notes, self.basis, self.estimators)


def width(question: Question) -> int:
    """How many columns an answer has."""
    return sum(1 if column.aggregate is None else len(ENDS) for column in question.columns)


def possibly_nobody(question: Question, result: pa.Table) -> Iterator[str]:
    """Say where the bounds hold only if at least one person matches."""
    for number, aggregate in enumerate(question.aggregates):
        if aggregate.function in COUNTS:
            continue
        least = result.column(width(question) + number).to_pylist()
        nobody = [low is None for low in result.column(f"{aggregate.name}{ENDS['low']}").to_pylist()]
        perhaps = sum(rows == 0 and not none for rows, none in zip(least, nobody, strict=True))
        who, does = ("fewer than two people match", "two do") if aggregate.function in OF_A_SAMPLE else NOBODY_MATCHES
        if any(nobody):
            yield f"{aggregate.name}: in {_rows(sum(nobody), result)} {who}"
        if perhaps:
            then = "that counts as a sum of 0" if aggregate.function == "sum" else f"the bounds hold if {does}"
            yield f"{aggregate.name}: in {_rows(perhaps, result)} it is possible that {who}; {then}"


def made_by(question: Question, matches: Matches, name: str, estimated: Estimated) -> dict[str, str]:
    """What each aggregate was estimated by; those that the rows as they are tell are `exact`."""
    return {
        each.name: "exact" if matches.exact and question.untouched(each) else estimated.others.get(number, name)
        for number, each in enumerate(question.aggregates)
    }


def _rows(number: int, result: pa.Table) -> str:
    return "this row" if len(result) == 1 else f"{number} of {len(result)} rows"


def by_estimates(question: Question, estimators: Mapping[str, str]) -> Iterator[str]:
    """Say that bounds may allow other rows to come first, where only some are shown."""
    first = question.order[0].by if question.order else None
    sorted_by = [name for name in estimators if first in {f"{name}{end}" for end in ENDS.values()}]
    if question.limit is not None and sorted_by and estimators[sorted_by[0]] != "exact":
        yield f"rows are sorted by {first}, an estimate; by the bounds, others could come first"
