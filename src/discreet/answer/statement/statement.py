"""What a statement is read into: parts that a release is asked for, and steps that compute with their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp


@dataclass(frozen=True)
class Level:
    """Which rows an aggregate is about, and by which keys: the FROM, the conditions, and the numbers of keys."""

    source: exp.From
    joins: tuple[exp.Expr, ...]
    where: tuple[exp.Expr, ...]  # all of them must be true
    keys: tuple[int, ...]

    def within(self, other: Level) -> bool:
        """Whether its rows by key are always among the rows of the other."""
        same = (self.source, self.joins) == (other.source, other.joins)
        return same and {*self.where} >= {*other.where} and {*self.keys} >= {*other.keys}


@dataclass(frozen=True)
class Part:
    """One aggregate of core questions, at one level."""

    level: Level
    aggregate: exp.Expr

    @property
    def counts(self) -> bool:
        return isinstance(self.aggregate, exp.Count) and not isinstance(self.aggregate.this, exp.Distinct)

    def within(self, other: Part) -> bool:
        """Whether it is a count that is never above another."""
        counted = self.aggregate.this, other.aggregate.this
        fewer = counted[0] == counted[1] or isinstance(counted[1], exp.Star)
        return self.counts and other.counts and fewer and self.level.within(other.level)

    @property
    def text(self) -> str:
        """As it is called in notes."""
        return self.aggregate.sql(dialect="duckdb")

    @property
    def described(self) -> str:
        """With the conditions on its rows."""
        where = " AND ".join(each.sql(dialect="duckdb") for each in self.level.where)
        return f"{self.text} where {where}" if where else self.text


@dataclass(frozen=True)
class Asked:
    """The parts of a SELECT over the table by name, its keys, and the levels whose keys are its rows."""

    keys: tuple[exp.Expr, ...]
    parts: Mapping[str, Part]
    frame: tuple[str, ...]  # parts that count the rows of each key; without keys there is one row


@dataclass(frozen=True)
class Step:
    """One SELECT over rows that are there: a condition, perhaps a grouping, items by name, an order and a cut."""

    items: tuple[tuple[str, exp.Expr], ...]
    where: exp.Expr | None = None
    groups: tuple[exp.Expr, ...] | None = None
    having: exp.Expr | None = None
    qualify: exp.Expr | None = None
    distinct: bool = False
    order: tuple[exp.Ordered, ...] = ()
    limit: int | None = None
    offset: int | None = None

    @property
    def sql(self) -> str:
        """As SQL over the columns by number; what it sorts by may be columns of its own answer."""
        query = exp.select(*(exp.alias_(item.copy(), name, quoted=True) for name, item in self.items))
        for clause, node in (("where", self.where), ("having", self.having), ("qualify", self.qualify)):
            if node is not None:
                query.set(
                    clause, {"where": exp.Where, "having": exp.Having, "qualify": exp.Qualify}[clause](this=node.copy())
                )
        if self.groups:
            query.set("group", exp.Group(expressions=[each.copy() for each in self.groups]))
        if self.order:
            query.set("order", exp.Order(expressions=[each.copy() for each in self.order]))
        if self.limit is not None:
            query = query.limit(self.limit)
        if self.offset is not None:
            query = query.offset(self.offset)
        return query.sql(dialect="duckdb")


@dataclass(frozen=True)
class Selected:
    """A step over a source."""

    source: Source
    step: Step

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.step.items)


@dataclass(frozen=True)
class Stacked:
    """UNION: the rows of one below those of the other."""

    upper: Statement
    lower: Statement
    distinct: bool

    @property
    def names(self) -> tuple[str, ...]:
        return self.upper.names


Statement: TypeAlias = Selected | Stacked
Source: TypeAlias = Asked | Selected | Stacked


def asked_in(source: Source) -> list[Asked]:
    """All that a release is asked for, in order."""
    match source:
        case Asked():
            return [source]
        case Selected():
            return asked_in(source.source)
        case Stacked():
            return [*asked_in(source.upper), *asked_in(source.lower)]


def spelled(source: Source) -> list[str]:
    """The steps of a statement, innermost first, as SQL over columns by number."""
    match source:
        case Asked():
            return []
        case Selected():
            return [*spelled(source.source), source.step.sql]
        case Stacked():
            return [*spelled(source.upper), *spelled(source.lower), "UNION" if source.distinct else "UNION ALL"]
