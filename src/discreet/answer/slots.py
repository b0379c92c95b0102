"""Slots: the rows of a group side by side in one row, so that hits are added up without grouping.

Groups are small and much alike in size. With one row per group and one column per quasi-identifier
and place in the group, `picks` is a sum of conditions that the engine computes a vector at a time,
several times faster than counting hits by group. Costs one pass over the columns in question, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

MOST_PLACES = 24
MOST_NODES = 2_000  # of all copies of a condition together


@dataclass(frozen=True)
class Slots:
    """A table of slots: its name, its quasi-identifiers, and the smallest and largest size of a group."""

    name: str
    columns: tuple[str, ...]
    least: int
    most: int

    def serves(self, condition: exp.Expr) -> bool:
        """Whether hits are better counted here."""
        nodes = sum(1 for _ in condition.walk())
        return self.most <= MOST_PLACES and nodes * self.most <= MOST_NODES

    def table(self, group: str) -> exp.Select:
        """The query that makes the table from `qit` and `signatures`."""
        fields = [
            exp.PropertyEQ(this=exp.to_identifier(f"c{i}"), expression=exp.column(name, table="qit", quoted=True))
            for i, name in enumerate(self.columns)
        ]
        together = exp.alias_(exp.ArrayAgg(this=exp.Struct(expressions=fields)), "places")
        key = exp.column(group, table="qit", quoted=True)
        groups = exp.select(exp.alias_(key, "grp"), together).from_("qit").group_by(key.copy())
        places = [
            exp.alias_(exp.Dot.build([_place(place), exp.to_identifier(f"c{i}")]), f"c{i}_{place}")
            for place in range(1, self.most + 1)
            for i in range(len(self.columns))
        ]
        return (
            exp.select("signature", "size", *places)
            .from_(groups.subquery("together"))
            .join("signatures", on="together.grp = signatures.grp")
        )

    def draws(self, condition: exp.Expr) -> exp.Select:
        """How many urns of each kind are drawn from how often; see `urns.draws`."""
        hits = [self._hit(condition, place) for place in range(1, self.most + 1)]
        picks = exp.alias_(_sum(hits), "picks")
        rows = exp.select("signature", "size", picks).from_(self.name).subquery("rows")
        kinds = exp.select("signature AS urn", "size", "picks", "COUNT(*) AS urns").from_(rows)
        return kinds.group_by("signature", "size", "picks")

    def _hit(self, condition: exp.Expr, place: int) -> exp.Expr:
        """1 if the row at a place of the group satisfies the condition, else 0."""

        def placed(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column):
                return exp.column(f"c{self.columns.index(node.name)}_{place}")
            return node

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
