"""A question together with how its release shows rows: the names and relations that answers are written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa
from sqlglot import exp

from discreet.answer.left_out import NOBODY, LeftOut
from discreet.answer.matches.matches import Matches
from discreet.answer.plan.kept import Kept
from discreet.answer.plan.sql import Piece, select
from discreet.answer.question.grammar import Side
from discreet.answer.question.question import SPREADS, Aggregate, Question


@dataclass(frozen=True)
class Subject:
    """What some aggregates are about: rows, or the values of an argument; `numeric` if sums are wanted."""

    number: int
    side: Side
    argument: exp.Expr | None
    numeric: bool
    draws: str  # the relation that says how its candidates are drawn


@dataclass(frozen=True)
class Context:
    """A question with what is needed to write its relations."""

    question: Question
    group: str
    sensitive: str | None
    matches: Matches
    left_out: LeftOut = NOBODY
    kept: Kept | None = None
    types: Mapping[str, pa.DataType] = field(default_factory=dict)  # of columns, as far as they are known

    @property
    def bounded(self) -> bool:
        """Whether matching rows are not counted, but lie between the `fewest` and the most (`matched`)."""
        return "fewest" in self.matches.columns

    @property
    def measured(self) -> bool:
        """Whether it is known how likely rows match (`overlap`), and two of them together (`tie`)."""
        return "overlap" in self.matches.columns

    @property
    def estimated(self) -> bool:
        """Whether there is an estimate: rows that match are counted, or expected."""
        return self.measured or not self.bounded

    def keys(self, *sides: Side) -> list[str]:
        """The names that the keys of some sides (or of all) have in the relations."""
        return [f"key_{i}" for i, key in enumerate(self.question.keys) if not sides or key.side in sides]

    def other_keys(self, side: Side) -> list[str]:
        """The names of the keys of all sides but one."""
        return [f"key_{i}" for i, key in enumerate(self.question.keys) if key.side != side]

    def on_table(self, expression: exp.Expr) -> exp.Expr:
        """An expression of the question, about the columns of `qit` or `signature_values`."""

        def placed(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Column):
                return node
            if node.name == self.sensitive:
                return exp.column("value", table="signature_values")
            return exp.column(node.name, table="qit", quoted=True)

        return expression.transform(placed)

    def rows(self, side: Side, *columns: Piece) -> exp.Select:
        """The rows of one side that satisfy its condition."""
        keys = [
            exp.alias_(self.on_table(key.expression), f"key_{i}", copy=False)
            for i, key in enumerate(self.question.keys)
            if key.side == side
        ]
        condition = self.question.where.get(side)
        where = None if condition is None else self.on_table(condition)
        return select(*keys, *columns, source="signature_values" if side == "sensitive" else "qit", where=where)

    def group_column(self, alias: str) -> exp.Expr:
        return exp.alias_(exp.column(self.group, table="qit", quoted=True), alias, copy=False)

    def exact(self, aggregate: Aggregate) -> bool:
        """Whether an aggregate is computed from the rows as they are."""
        return self.matches.exact and self.question.untouched(aggregate)

    @cached_property
    def subjects(self) -> dict[int, Subject]:
        """By the number of an aggregate that is not exact: what it is about; several may share a subject."""
        if not self.matches.columns:
            return {}
        drawn = [(i, each) for i, each in enumerate(self.question.aggregates) if not self.exact(each)]
        found: dict[tuple[Side, exp.Expr | None], Subject] = {}
        draws: dict[Side, str] = {}
        for _, aggregate in drawn:
            about = _about(aggregate)
            sharing = [each for _, each in drawn if _about(each) == about]
            numeric = any(each.function in {"sum", "avg", *SPREADS} for each in sharing)
            name = draws.setdefault(about[0], f"draws_{len(draws)}")
            found.setdefault(about, Subject(len(found), *about, numeric, name))
        return {i: found[_about(aggregate)] for i, aggregate in drawn}

    @property
    def drawn(self) -> dict[str, Side]:
        """The relations that say how candidates are drawn, and the side that these are of."""
        return {subject.draws: subject.side for subject in self.subjects.values()}


def _about(aggregate: Aggregate) -> tuple[Side, exp.Expr | None]:
    """Counted rows are those of the sensitive side: each row has one value."""
    return ("sensitive", None) if aggregate.argument is None else (aggregate.side, aggregate.argument)
