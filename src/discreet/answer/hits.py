"""Hits: how many rows of each group satisfy a condition, counted a group at a time.

A table with a row per group tells it in one expression: `slots` and `ranks` say what it is made of. Where hardly two
groups have the same values, each group's own values stand beside it in order (`v_1`, `v_2` and so on), with their
variance, and their ranks if few values occur in the release; so nothing has to be looked up. Of all groups with as
many rows and hits the smallest values are added up, the second smallest and so on, and then those that the hits take.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import TypeAlias

from sqlglot import exp, parse_one

from discreet.answer.ranks import Ranks

Columns: TypeAlias = Sequence[exp.Expr | str]


@dataclass(frozen=True)
class Own:
    """What stands beside each group: at most so many values, of a type that is wide enough, and perhaps their ranks."""

    most: int
    kind: str | None
    ranks: Ranks | None

    @property
    def values(self) -> list[str]:
        """The names of the values, from the smallest on."""
        return [f"v_{place}" for place in range(1, self.most + 1)]

    def joined(self, groups: exp.Select) -> exp.Select:
        """A query over `signatures`, and what stands beside each group."""
        lists = parse_one(LISTS, dialect="duckdb", into=exp.Select).subquery("lists")
        for place, name in enumerate(self.values):
            value: exp.Expr = exp.Bracket(this=exp.column("vals"), expressions=[exp.Literal.number(place)])
            groups = groups.select(exp.alias_(value if self.kind is None else exp.cast(value, self.kind), name))
        groups = groups.select("variance").join(lists, on="lists.signature = signatures.signature")
        groups = groups.join("totals", on="totals.signature = signatures.signature")
        if self.ranks is None:
            return groups
        ranked = self.ranks.of_groups(exp.column("signature"), [exp.column("value")], "held", "n").subquery("ranked")
        return groups.select(*self.ranks.words).join(ranked, on="ranked.grp = signatures.signature")


@dataclass(frozen=True)
class Keys:
    """What hits are grouped by, from the distinct values of the columns: the keys, and those that may occur."""

    table: str
    columns: tuple[exp.Expr, ...]
    frame: exp.Select


@dataclass(frozen=True)
class Hits:
    """Where the hits of one question are counted; `holders` are a group's values that satisfy its other condition.

    There is an expression in `picks` for every combination of keys, by the number of a value that has it. `made` are
    the queries that made the tables. If `own` is None, groups have nothing beside them.
    """

    table: str
    picks: Mapping[int, exp.Expr]
    keys: Keys | None = None
    own: Own | None = None
    holders: exp.Expr | None = None
    made: Mapping[str, exp.Expr] = field(default_factory=dict)

    def draws(self) -> exp.Select:
        """How many urns of each kind are drawn from how often; see `urns.draws`."""
        if self.own is not None:
            drawn = self._kinds(["signature", "size", "1 AS urns"], ["signature", "size"], [])
            return self._keyed(exp.select("signature AS urn", *SIZES, "urns"), drawn)
        drawn = self._kinds(["signature", "COUNT(*) AS urns"], ["signature"], ["signature"])
        query = self._keyed(exp.select("kinds.signature AS urn", *SIZES, "urns"), drawn)
        return query.join("kinds", on="kinds.signature = drawn.signature")

    def counted(self) -> exp.Select | None:
        """How many urns have as many rows, as many of them drawn, and as many balls that count (`total`)."""
        if self.own is None or self.holders is None:
            return None
        rows: Columns = ["size", exp.alias_(self.holders, "total")]
        drawn = self._kinds(["size", "total", "COUNT(*) AS urns"], rows, ["size", "total"])
        return self._keyed(exp.select(*SIZES, "CAST(total AS INTEGER) AS total", "urns"), drawn)

    def sums(self) -> exp.Select | None:
        """What all urns of as many rows and hits add up to: least and largest sums of a draw, means, variances."""
        if self.own is None:
            return None
        values: list[exp.Expr] = [exp.column(value) for value in self.own.values]
        if self.own.kind is None:  # sums of long decimals would not fit their type
            values = [exp.cast(value, "DOUBLE") for value in values]
        sums = exp.Array(expressions=[exp.cast(exp.Sum(this=value), "DOUBLE") for value in values])
        added: Columns = ["size", "COUNT(*) AS urns", "SUM(variance) AS variance", exp.alias_(sums, "sums")]
        drawn = self._kinds(added, ["size", "variance", *self.own.values], ["size"])
        return self._keyed(exp.select(*SIZES, "urns", "variance", *CHOSEN, dialect="duckdb"), drawn).where("picks > 0")

    def _kinds(self, columns: Columns, rows: Columns, by: Sequence[str]) -> exp.Subquery:
        """For every combination of keys: something of all groups, by their picks and more; or of each group."""
        found: list[exp.Query] = []
        for number, picks in self.picks.items():
            groups = exp.select(exp.alias_(picks.copy(), "picks"), *_copied(rows)).from_(self.table).subquery("rows")
            query = exp.select(f"{number} AS number", "picks", *_copied(columns)).from_(groups)
            found.append(query.group_by("picks", *by) if by else query)
        return reduce(partial(exp.union, distinct=False), found).subquery("drawn")

    def _keyed(self, query: exp.Select, drawn: exp.Subquery) -> exp.Select:
        """A query about what was drawn, and its keys."""
        query = query.from_(drawn)
        if self.keys is None:
            return query
        return query.select(*self.keys.columns).join(self.keys.table, on=f"{self.keys.table}.number = drawn.number")


def _copied(columns: Columns) -> Iterator[exp.Expr | str]:
    return (column if isinstance(column, str) else column.copy() for column in columns)


SIZES = ("CAST(size AS INTEGER) AS size", "CAST(picks AS INTEGER) AS picks")
CHOSEN = (
    "LIST_SUM(sums[1:size]) / size AS mean",
    "COALESCE(LIST_SUM(sums[1:picks]), 0) AS low_sum",
    "COALESCE(LIST_SUM(sums[size - picks + 1:size]), 0) AS high_sum",
)
LISTS = """
    SELECT signature, LIST(value ORDER BY value) AS vals
    FROM (SELECT signature, UNNEST(vals) AS value FROM blocks) AS placed GROUP BY signature
"""
