"""Hits: how many rows of each group satisfy a condition, counted a group at a time.

A table with a row per group tells it in one expression: `slots` and `ranks` say what it is made of. Where hardly two
groups have the same values, each group's own values stand beside it in order (`v_1`, `v_2` and so on), with their
variance, and their ranks if few values occur in the release; so nothing has to be looked up. Of all groups with as
many rows and hits the smallest values are added up, the second smallest and so on, and then those that the hits take.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp, parse_one

from discreet.answer.ranks import Ranks


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
        ranked = self.ranks.of_groups(exp.column("signature"), exp.column("value"), "held", "n").subquery("ranked")
        return groups.select(*self.ranks.words).join(ranked, on="ranked.grp = signatures.signature")


@dataclass(frozen=True)
class Hits:
    """Where the hits of one question are counted; `holders` are a group's values that satisfy its other condition.

    `made` are the queries that made its tables. If `own` is None, groups have nothing beside them.
    """

    table: str
    picks: exp.Expr
    own: Own | None = None
    holders: exp.Expr | None = None
    made: Mapping[str, exp.Expr] = field(default_factory=dict)

    def draws(self) -> exp.Select:
        """How many urns of each kind are drawn from how often; see `urns.draws`."""
        if self.own is not None:
            return exp.select("signature AS urn", *SIZES, "1 AS urns").from_(self._rows("signature", "size"))
        kinds = exp.select("signature", "picks", "COUNT(*) AS urns").from_(self._rows("signature"))
        kinds = kinds.group_by("signature", "picks")
        drawn = exp.select("kinds.signature AS urn", *SIZES, "urns").from_(kinds.subquery("drawn"))
        return drawn.join("kinds", on="kinds.signature = drawn.signature")

    def counted(self) -> exp.Select | None:
        """How many urns have as many rows, as many of them drawn, and as many balls that count (`total`)."""
        if self.own is None or self.holders is None:
            return None
        kinds = exp.select("size", "picks", "total", "COUNT(*) AS urns")
        kinds = kinds.from_(self._rows("size", exp.alias_(self.holders, "total"))).group_by("size", "picks", "total")
        return exp.select(*SIZES, "CAST(total AS INTEGER) AS total", "urns").from_(kinds.subquery("kinds"))

    def sums(self) -> exp.Select | None:
        """What all urns of as many rows and hits add up to: least and largest sums of a draw, means, variances."""
        if self.own is None:
            return None
        rows = self._rows("size", "variance", *self.own.values)
        sums = exp.Array(expressions=[exp.cast(exp.Sum(this=exp.column(value)), "DOUBLE") for value in self.own.values])
        kinds = exp.select("size", "picks", "COUNT(*) AS urns", "SUM(variance) AS variance", exp.alias_(sums, "sums"))
        kinds = kinds.from_(rows).group_by("size", "picks")
        chosen = exp.select(*SIZES, "urns", "variance", *CHOSEN, dialect="duckdb")
        return chosen.from_(kinds.subquery("kinds"))

    def _rows(self, *columns: exp.Expr | str) -> exp.Subquery:
        return exp.select(exp.alias_(self.picks, "picks"), *columns).from_(self.table).subquery("rows")


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
