"""A question that is planned, and a question that is being answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import pyarrow as pa
from sqlglot import exp

from discreet.answer.accelerate.accelerator import Choice, Held
from discreet.answer.accelerate.laid_out import laid_out
from discreet.answer.left_out import LeftOut
from discreet.answer.plan.plan import Plan
from discreet.answer.plan.shapes import filled
from discreet.answer.question.question import ENDS, Question
from discreet.engines import Engine

PARTS = (*ENDS, "least")
Hurry: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class Prepared:
    """A question, its plan, and the plan's query and guards in SQL, perhaps with marks for `constants`."""

    question: Question
    plan: Plan
    sql: str
    guards: tuple[str, ...]
    constants: tuple[str, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)  # of other queries of the plan, which all of a shape share

    def about(self, question: Question, constants: list[str]) -> Prepared:
        """The same for a question of this shape, which has such constants."""
        sql, *guards = (filled(text, constants) for text in (self.sql, *self.guards))
        return replace(self, question=question, sql=sql, guards=tuple(guards), constants=tuple(constants))

    def wide(self, engine: Engine) -> str:
        """The query of all relations of the plan at once."""
        if "wide" not in self.texts:
            self.texts["wide"] = engine.written(self.plan.wide, self.plan.tables)
        return filled(self.texts["wide"], [*self.constants])


@dataclass(frozen=True)
class Asking:
    """A question under way: what an estimator is given.

    `relations` are `frame`, a row for every combination of keys (`key_0` and so on), and per aggregate `answer_0` and
    so on: by key the `estimate` and `stderr` of `even`, `low`, `high`, and how many rows match at `least`.
    """

    prepared: Prepared
    engine: Engine
    left_out: LeftOut
    accelerator: Choice | None  # another way to the relations, if rows are counted
    ready: Callable[[], None]  # makes the tables of the plan
    hurry: Hurry  # to be called now and then by what takes long: it raises when time is over

    @property
    def question(self) -> Question:
        return self.prepared.question

    def direct(self) -> pa.Table:
        """The answer by `even`, without a stop at its relations where that takes longer."""
        found = None if self.accelerator is None else self.accelerator.answers(self.question)
        if found is not None:
            return self.laid_out(found)
        self.ready()
        return self.engine.run(self.prepared.sql)

    def relations(self) -> dict[str, pa.Table]:
        """By the accelerator, or by the plan."""
        found = None if self.accelerator is None else self.accelerator.answers(self.question, keep=True)
        return self._planned() if found is None else found

    def held(self, argument: exp.Expr | None) -> Held | None:
        """What groups hold, once relations were asked for; None if the accelerator does not tell."""
        return None if self.accelerator is None else self.accelerator.held(self.question, argument)

    def laid_out(self, relations: Mapping[str, pa.Table]) -> pa.Table:
        """The answer, sorted and cut as asked, from relations in which another estimator may have put its figures."""
        result = laid_out(self.question, relations, self.left_out)
        if result is not None:
            return result
        for name, table in relations.items():
            self.engine.load(name, table, keep=False)
        return self.engine.run(self.prepared.plan.layout)

    def _planned(self) -> dict[str, pa.Table]:
        """All relations of the plan, from one query."""
        self.ready()
        found = self.engine.run(self.prepared.wide(self.engine))
        keys = found.select(range(max(len(self.question.keys), 1)))
        answers = {
            f"answer_{number}": pa.table(
                {
                    **dict(zip(keys.column_names, keys.columns, strict=True)),
                    **{part: found.column(f"{part}_{number}") for part in PARTS},
                }
            )
            for number in range(len(self.question.aggregates))
        }
        # a key without an answer is told by its absence, as the layout expects it; an answer has always a `least`
        return {"frame": keys, **{name: each.filter(each.column("least").is_valid()) for name, each in answers.items()}}
