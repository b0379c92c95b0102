"""Any SELECT, without bounds, where the estimator is one of anything."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from discreet.answer.answer import Answer
from discreet.answer.estimators.estimator import OfAnything
from discreet.answer.left_out import about
from discreet.answer.sealed import Sealed, computed
from discreet.answer.ways.way import Asked


@dataclass(frozen=True)
class Anything:
    """What goes beyond all other ways."""

    bounded: ClassVar[bool] = False
    sealed: Sealed

    def read(self, asked: Asked) -> AnyQuestion | None:
        estimator = self.sealed.estimator(asked.estimator)
        return AnyQuestion(self.sealed, asked, estimator) if isinstance(estimator, OfAnything) else None


@dataclass(frozen=True)
class AnyQuestion:
    """Any SELECT, and the estimator that can be asked it."""

    sealed: Sealed
    asked: Asked
    estimator: OfAnything

    def answer(self) -> Answer:
        with computed():
            answer = self.estimator.beyond(self.asked.sql, self.asked.given, self.asked.hurry)
        return replace(answer, notes=(*about(self.sealed.promise, self.sealed.left_out, None), *answer.notes))

    def check(self) -> None:
        pass

    def explain(self) -> str:
        return self.estimator.spelled(self.asked.sql)
