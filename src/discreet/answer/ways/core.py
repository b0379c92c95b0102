"""Core questions: aggregates over the table with conditions and keys, by an estimator; or how many people there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Protocol

import pyarrow as pa

from discreet.answer.answer import DRAWN, SWAPPED, Answer
from discreet.answer.by_value import ByValue, asks_by_value
from discreet.answer.estimators import Estimated, chosen
from discreet.answer.explain import spelled_out
from discreet.answer.left_out import about
from discreet.answer.matches.boxed import Boxed
from discreet.answer.matches.boxes import PublishedBoxes
from discreet.answer.people import CountOfPeople
from discreet.answer.prepare import Preparing
from discreet.answer.prepared import Prepared
from discreet.answer.question.question import Question
from discreet.answer.sealed import Sealed, computed
from discreet.answer.told import Told, by_estimates, made_by, possibly_nobody
from discreet.answer.ways.way import Asked
from discreet.errors import InternalError, QueryError

ACROSS_BOXES = (
    (),
    ("the estimate assumes that values are spread evenly between the ends of a box; if not, stderr is wrong too",),
    ("the estimate assumes that all values of a label are equally likely; nothing in the release says that they are",),
)  # what an estimate stands on where a condition cuts through boxes; see `Matches.cut`
UNSTATED = "the release does not say by what chance people came into their groups: only `even` can estimate"


class CoreQuestion(Protocol):
    """A core question that was read."""

    def told(self) -> Told:
        """Its answer, to be shown or computed with."""
        ...

    def planned(self) -> Prepared:
        """Its plan, if it is one query."""
        ...

    def answer(self) -> Answer: ...

    def check(self) -> None: ...

    def explain(self) -> str: ...


@dataclass(frozen=True)
class Core:
    """Core questions of a release."""

    bounded: ClassVar[bool] = True
    sealed: Sealed
    preparing: Preparing

    def read(self, asked: Asked) -> CoreQuestion:
        people = CountOfPeople.read(asked.sql, self.sealed.promise)
        if people is not None:
            return People(self.sealed, asked, people)
        prepared = self.preparing.prepared(asked.sql, asked.matches, asked.own)
        return Planned(self.sealed, asked, prepared, self.preparing)


def explained(sealed: Sealed, asked: Asked, questions: Sequence[CoreQuestion]) -> str:
    """What is run for core questions."""
    return spelled_out(sealed, [each.planned() for each in questions], asked.matches, asked.estimator)


@dataclass(frozen=True)
class Planned:
    """Aggregates, by the plan of their question and an estimator."""

    sealed: Sealed
    asked: Asked
    prepared: Prepared
    preparing: Preparing

    @property
    def by_value(self) -> bool:
        return asks_by_value(self.prepared.question, self.asked.matches)

    def answer(self) -> Answer:
        return self.told().answer(self.asked.sql, self.asked.given)

    def explain(self) -> str:
        return explained(self.sealed, self.asked, [self])

    def planned(self) -> Prepared:
        if self.by_value:
            raise QueryError(
                "boxes are asked once for each value of a key, which is not one query",
                hint="explain it with a condition for one value, in the place of GROUP BY",
            )
        return self.prepared

    def told(self) -> Told:
        estimator, matches, question = self.asked.estimator, self.asked.matches, self.prepared.question
        with computed():
            self.sealed.put_beside(question.beside)
            if self.by_value:
                estimated = Estimated(self._valued().answer())
            else:
                asking = self.sealed.asking(self.prepared, matches, self.asked.hurry)
                estimated = self.sealed.estimator(estimator).answer(asking)
        basis = estimator.basis if matches.columns else SWAPPED
        estimators = made_by(question, matches, basis.estimator, estimated)
        notes = tuple(self._notes(estimated, estimators))
        return Told(question, estimated.table, self.prepared.sql, notes, basis, estimators)

    def _notes(self, estimated: Estimated, estimators: Mapping[str, str]) -> Iterator[str]:
        """What is to be said beside the answer."""
        question, matches, result = self.prepared.question, self.asked.matches, estimated.table
        promise, left_out = self.sealed.promise, self.sealed.left_out
        yield from self.sealed.occurring.notes(question)
        yield from about(promise, left_out, question)
        if self.asked.counted and promise.estimator is None and {*estimators.values()} != {"exact"}:
            yield UNSTATED
        yield from estimated.notes
        yield from left_out.notes(question) if left_out.most != 0 else possibly_nobody(question, result)
        yield from by_estimates(question, estimators)
        cut = result.column(result.num_columns - 1)[0].as_py() if matches.cut is not None and len(result) else 0
        yield from ACROSS_BOXES[cut]

    def check(self) -> None:
        if self.by_value:
            self._valued().values()

    def _valued(self) -> ByValue:
        """The question by quasi-identifiers that are shown as boxes, asked value by value."""
        sealed, matches = self.sealed, self.asked.matches
        if not isinstance(matches, Boxed) or not isinstance(matches.boxes, PublishedBoxes):
            raise InternalError("only published boxes are asked value by value")

        def asked(each: Question) -> pa.Table:
            return sealed.asking(self.preparing.planned(matches.check(each), matches), matches).direct()

        seen = partial(sealed.run, matches=matches)
        return ByValue(self.prepared.question, matches.boxes, sealed.engine, sealed.left_out, asked, seen)


@dataclass(frozen=True)
class People:
    """How many people there are, and not rows."""

    sealed: Sealed
    asked: Asked
    count: CountOfPeople

    def answer(self) -> Answer:
        return self.told().answer(self.asked.sql, self.asked.given)

    def explain(self) -> str:
        return explained(self.sealed, self.asked, [self])

    def check(self) -> None:
        pass

    def planned(self) -> Prepared:
        raise QueryError("how people are counted is not one query", hint="see `sql` of the answer for what is read")

    def told(self) -> Told:
        sealed, question = self.sealed, self.count.question
        chosen(self.asked.wanted, sealed.promise, counted=False)
        if self.asked.matches is not sealed.matches.own:
            raise QueryError("boxes tell no people apart", hint="ask for COUNT(*), or of the release as it is")
        with computed():
            sealed.make("qit", "st")
            result, query = self.count.answer(sealed.engine)
        notes = (*sealed.occurring.notes(question), *about(sealed.promise, sealed.left_out, question))
        return Told(question, result, query, notes, DRAWN, {question.aggregates[0].name: "even"})
