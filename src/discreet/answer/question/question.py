"""What is asked of a release: keys, aggregates, conditions, and the columns of the answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from sqlglot import exp

from discreet.answer.question.grammar import Side
from discreet.answer.question.own import Own

Function: TypeAlias = Literal[
    "count",
    "distinct",
    "sum",
    "avg",
    "min",
    "max",
    "quantile_disc",
    "quantile_cont",
    "var_pop",
    "var_samp",
    "stddev_pop",
    "stddev_samp",
]
COUNTS: frozenset[Function] = frozenset({"count", "distinct"})  # of nobody they are 0
OF_A_SAMPLE: frozenset[Function] = frozenset({"var_samp", "stddev_samp"})  # of fewer than two rows they are nothing
SPREADS: frozenset[Function] = OF_A_SAMPLE | {"var_pop", "stddev_pop"}

ENDS = {"estimate": "", "stderr": "_stderr", "low": "_low", "high": "_high"}


@dataclass(frozen=True)
class Key:
    """What the answer is grouped by."""

    expression: exp.Expr
    side: Side


@dataclass(frozen=True)
class Aggregate:
    """One aggregate; without an argument it counts rows."""

    function: Function
    argument: exp.Expr | None
    side: Side
    name: str
    fraction: Fraction = Fraction(1, 2)


@dataclass(frozen=True)
class Column:
    """A column of the answer (of an aggregate: its first): the number of a key or of an aggregate, and the name."""

    name: str
    key: int | None = None
    aggregate: int | None = None


@dataclass(frozen=True)
class Order:
    """What to sort by: a column of the answer by its name, or a key by its number."""

    by: str | int
    descending: bool
    nulls_first: bool | None


@dataclass(frozen=True)
class Question:
    """A question that a release can answer."""

    keys: tuple[Key, ...]
    aggregates: tuple[Aggregate, ...]
    columns: tuple[Column, ...]
    where: dict[Side, exp.Expr | None]
    order: tuple[Order, ...]
    limit: int | None
    offset: int | None
    beside: tuple[Own, ...] = ()  # tables of the user's own that it looks into

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that it has a condition on, or is grouped by."""
        asked = [
            *(at for at, condition in self.where.items() if condition is not None),
            *(key.side for key in self.keys),
        ]
        return tuple(dict.fromkeys(asked))

    @property
    def asks_of_sensitive(self) -> bool:
        """Whether it has a condition on the sensitive column, or is grouped by it."""
        return "sensitive" in self.sides

    def untouched(self, aggregate: Aggregate) -> bool:
        """Whether an aggregate is about one side alone, and not the sensitive one: no sensitive value can change it."""
        about = {*self.sides, *([] if aggregate.argument is None else [aggregate.side])}
        return len(about) <= 1 and "sensitive" not in about
