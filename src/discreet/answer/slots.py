"""Slots: the rows of a group side by side in one row, so that hits are added up without grouping.

Groups are small and much alike in size. With one row per group and one column per quasi-identifier
and place in the group, `picks` is a sum of conditions that the engine computes a vector at a time,
several times faster than counting hits by group. Costs one pass over the columns in question, once.
Where hardly two groups have the same values, each group's own part of the help table stands beside
it (`wide`), so that nothing has to be joined either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp, parse_one

MOST_PLACES = 24
MOST_NODES = 2_000  # of all copies of a condition together


@dataclass(frozen=True)
class Slots:
    """A table of slots: its name, its quasi-identifiers, and the smallest and largest size of a group.

    If `wide` it also has the values of the group in order (`v_1`, `v_2` and so on), their mean and variance,
    and the part of the help table that is its own.
    """

    name: str
    columns: tuple[str, ...]
    least: int
    most: int
    wide: bool = False

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
        slots = (
            exp.select("signatures.signature", "size", *places)
            .from_(groups.subquery("together"))
            .join("signatures", on="together.grp = signatures.grp")
            .order_by("size")  # so that whole vectors of groups lack the last places
        )
        if not self.wide:
            return slots
        own = [f"vals[{place}] AS v_{place}" for place in range(1, self.most + 1)]
        lists = parse_one(LISTS, dialect="duckdb", into=exp.Select).subquery("lists")
        return (
            slots.select(*own, "fars", "negative", "positive", "mean", "variance", dialect="duckdb")
            .join(lists, on="lists.signature = signatures.signature")
            .join("totals", on="totals.signature = signatures.signature")
        )

    def draws(self, condition: exp.Expr) -> exp.Select:
        """How many urns of each kind are drawn from how often; see `urns.draws`."""
        if self.wide:
            return self.rows(condition)
        rows = exp.select("signature", "size", self._picks(condition)).from_(self.name).subquery("rows")
        kinds = exp.select("signature AS urn", "size", "picks", "COUNT(*) AS urns").from_(rows)
        return kinds.group_by("signature", "size", "picks")

    def rows(self, condition: exp.Expr, *more: exp.Expr | str) -> exp.Select:
        """The draw from every group by itself, and more of its columns."""
        return exp.select("signature AS urn", "size", self._picks(condition), "1 AS urns", *more).from_(self.name)

    def holders(self, condition: exp.Expr) -> exp.Expr:
        """How many of the group's values satisfy a condition."""
        return _sum([self._hit(condition, lambda _, place: f"v_{place}", place) for place in range(1, self.most + 1)])

    def _picks(self, condition: exp.Expr) -> exp.Expr:
        def at(name: str, place: int) -> str:
            return f"c{self.columns.index(name)}_{place}"

        return exp.alias_(_sum([self._hit(condition, at, place) for place in range(1, self.most + 1)]), "picks")

    def _hit(self, condition: exp.Expr, at: Callable[[str, int], str], place: int) -> exp.Expr:
        """1 if what stands at a place of the group satisfies the condition, else 0; `at` names its columns."""

        def placed(node: exp.Expr) -> exp.Expr:
            return exp.column(at(node.name, place)) if isinstance(node, exp.Column) else node

        hit = condition.transform(placed)
        if place > self.least:  # the group may have no such row
            hit = exp.and_(f"size >= {place}", hit)
        one, zero = (exp.cast(exp.Literal.number(n), "TINYINT") for n in (1, 0))
        return exp.Case().when(hit, one).else_(zero)


# The sums start with that before the first value, the values do not: `fars[m + 1]` is the cut after the m smallest.
LISTS = """
    SELECT signature, LIST(far ORDER BY place) AS fars,
           LIST(value ORDER BY value) FILTER (WHERE value IS NOT NULL) AS vals
    FROM steps GROUP BY signature
"""


def _place(place: int) -> exp.Expr:
    return exp.Bracket(this=exp.column("places"), expressions=[exp.Literal.number(place - 1)])


def _sum(terms: Sequence[exp.Expr]) -> exp.Expr:
    total = terms[0]
    for term in terms[1:]:
        total = exp.Add(this=total, expression=term)
    return total
