"""Rows of which only a box is known: how many match is bounded, and by published boxes also expected."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from discreet.answer.matches.boxes import PublishedBoxes, TightBoxes, check_generalized, check_joined
from discreet.answer.matches.counted import frame_of_groups
from discreet.answer.matches.matches import Guard
from discreet.answer.plan import aggregates
from discreet.answer.plan.context import Context
from discreet.answer.plan.sql import Relations, grouped, select
from discreet.answer.question.question import Question
from discreet.release.manifest import Join


@dataclass(frozen=True)
class Boxed:
    """Matches by the boxes of a release, or by those that its rows would have in a generalized one."""

    exact: ClassVar[bool] = False
    opaque: ClassVar[bool] = False
    blocks: ClassVar[None] = None
    boxes: TightBoxes | PublishedBoxes
    joined: Join | None = None
    answer = staticmethod(aggregates.write)

    @property
    def key(self) -> Hashable:
        return self.boxes.key

    @property
    def columns(self) -> tuple[str, ...]:
        return ("fewest", "matched", *(("overlap", "tie") if self.boxes.measured else ()))

    @property
    def cut(self) -> str | None:
        return self.boxes.cut

    def check(self, question: Question) -> Question:
        check_generalized(question, by_value=isinstance(self.boxes, PublishedBoxes))
        check_joined(question, self.joined)
        return question

    def tables(self) -> Mapping[str, exp.Expr]:
        return self.boxes.tables()

    def guards(self, context: Context) -> tuple[Guard, ...]:
        return tuple(self.boxes.guards(context.question.where["quasi"]))

    def relations(self, context: Context) -> Relations:
        return self.boxes.relations(context.question.where["quasi"])

    def frame(self, context: Context) -> exp.Select:
        return frame_of_groups(context, select("grp", source="hits", where="matched > 0"))

    def draws(self, context: Context) -> Relations:
        columns = ("population", "size", *self.columns, "COUNT(*) AS copies")
        return {name: grouped(select(*columns, source="hits")) for name in context.drawn}
