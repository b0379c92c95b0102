"""Slots: the rows of a group side by side in one row, so that hits are added up without grouping.

Groups are small and much alike in size. With one row per group and one column per quasi-identifier
and place in the group, hits are a sum of conditions that the engine computes a vector at a time,
several times faster than counting them by group. Costs one pass over the columns in question, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

MOST_PLACES = 24
MOST_NODES = 2_000  # of all copies of a condition together


@dataclass(frozen=True)
class Slots:
    """Places for the rows of a group: the quasi-identifiers they hold, the smallest and largest size of a group."""

    columns: tuple[str, ...]
    least: int
    most: int

    def serves(self, condition: exp.Expr) -> bool:
        """Whether hits are better counted here."""
        nodes = sum(1 for _ in condition.walk())
        return self.most <= MOST_PLACES and nodes * self.most <= MOST_NODES

    def of_groups(self, group: str) -> exp.Select:
        """The query that puts the rows of every group `grp` side by side."""
        fields = [
            exp.PropertyEQ(this=exp.to_identifier(f"c{i}"), expression=exp.column(name, table="qit", quoted=True))
            for i, name in enumerate(self.columns)
        ]
        together = exp.alias_(exp.ArrayAgg(this=exp.Struct(expressions=fields)), "places")
        key = exp.column(group, table="qit", quoted=True)
        return exp.select(exp.alias_(key, "grp"), together).from_("qit").group_by(key.copy())

    def places(self) -> list[exp.Expr]:
        """What is selected of that query."""
        return [
            exp.alias_(exp.Dot.build([_place(place), exp.to_identifier(f"c{i}")]), f"c{i}_{place}")
            for place in range(1, self.most + 1)
            for i in range(len(self.columns))
        ]

    def hits(self, condition: exp.Expr) -> exp.Expr:
        """How many of the group's rows satisfy a condition."""
        return self._counted(condition, lambda name, place: exp.column(f"c{self.columns.index(name)}_{place}"))

    def holders(self, condition: exp.Expr, kind: str) -> exp.Expr:
        """How many of the group's values, in places of their own and there perhaps narrower, satisfy a condition."""
        return self._counted(condition, lambda _, place: exp.cast(exp.column(f"v_{place}"), kind, dialect="duckdb"))

    def _counted(self, condition: exp.Expr, at: Callable[[str, int], exp.Expr]) -> exp.Expr:
        return _sum([self._hit(condition, at, place) for place in range(1, self.most + 1)])

    def _hit(self, condition: exp.Expr, at: Callable[[str, int], exp.Expr], place: int) -> exp.Expr:
        """1 if what stands `at` a place of the group satisfies the condition, else 0."""

        def placed(node: exp.Expr) -> exp.Expr:
            return at(node.name, place) if isinstance(node, exp.Column) else node

        hit = condition.transform(placed)
        if place > self.least:  # the group may have no such row
            hit = exp.and_(f"size >= {place}", hit)
        one, zero = (exp.cast(exp.Literal.number(n), "TINYINT") for n in (1, 0))
        return exp.Case().when(hit, one).else_(zero)


def _place(place: int) -> exp.Expr:
    return exp.Bracket(this=exp.column("places"), expressions=[exp.Literal.number(place - 1)])


def _sum(terms: Sequence[exp.Expr]) -> exp.Expr:
    total = terms[0]
    for term in terms[1:]:
        total = exp.Add(this=total, expression=term)
    return total
