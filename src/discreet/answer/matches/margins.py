"""How rows match a condition on several columns, where blocks of columns were shuffled apart inside their group.

Source: Li, He et al., "Permutation anonymization", 2015, sections 1.1 and 2.2, where each column is a block.
Of each block (a *margin*) it is known how many rows `n` of a group match its own condition; which values of other
blocks they have is not. So, of a group of N rows and the margins of q blocks,

    fewest, matched  max(0, n_1 + … + n_q - (q - 1) N) and min(n_1, …, n_q), the bounds of Fréchet
    overlap          n_1/N · … · n_q/N, how likely one value of another block stands in a row that matches
    tie              how much likelier two of them match together than apart: the product of n(n - 1) / (N(N - 1)),
                     minus overlap²

The candidates (see `draws`) are the values of the column that an aggregate is about; the condition on its block says
which of them count, and the margins of all other blocks how they are drawn. Keys are conditions too: a group has
as many margins of a block as it has keys of it.
Cost: one pass over the columns that a question names, each counted by group.
Claim: shuffled_columns_equal_brute_force — of COUNT and SUM, estimate and stderr are mean and deviation over all
permutations of the columns; low and high of every aggregate are the extremes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp

from discreet.answer.matches.matches import Guard
from discreet.answer.plan import aggregates
from discreet.answer.plan.context import Context
from discreet.answer.plan.sql import Relations, aliased, columns_of, grouped, join, select
from discreet.answer.question.grammar import Side
from discreet.answer.question.question import Question

MOST_COMBINATIONS = 1_000_000


@dataclass(frozen=True)
class Margins:
    """Matches of a release whose blocks of columns were shuffled apart; each block is a side."""

    columns: ClassVar[tuple[str, ...]] = ("fewest", "matched", "overlap", "tie")
    key: ClassVar[str] = "margins"
    exact: ClassVar[bool] = True
    opaque: ClassVar[bool] = True
    cut: ClassVar[None] = None
    blocks: tuple[tuple[str, ...], ...]
    answer = staticmethod(aggregates.write)

    def check(self, question: Question) -> Question:
        return question

    def tables(self) -> Mapping[str, exp.Expr]:
        return {}

    def guards(self, context: Context) -> tuple[Guard, ...]:
        """Blocks that were shuffled apart have all combinations of their keys; too many cannot be told apart."""
        if len({key.side for key in context.question.keys}) < 2:
            return ()
        message = "grouped by so many columns, {:,.0f} combinations in groups may occur; at most {:,} are told apart"
        hint = "group by fewer columns, or by ranges such as age // 10"
        return (Guard(_combinations(context), MOST_COMBINATIONS, message, hint),)

    def relations(self, context: Context) -> Relations:
        """Per side that the question asks of: how many rows `n` of each group match, for each of the side's keys."""
        return {_name(context, side): _margin(context, side) for side in context.question.sides}

    def frame(self, context: Context) -> exp.Select:
        """Every combination of keys of which some group has all."""
        sides = context.question.sides
        return _joined(context, _keys(context, sides), sides).distinct(copy=False)

    def draws(self, context: Context) -> Relations:
        return {name: _draws(context, side) for name, side in context.drawn.items()}


def _draws(context: Context, side: Side) -> exp.Select:
    """As many candidates of `side` are drawn as rows match on all other sides."""
    others = [other for other in context.question.sides if other != side]
    drawn = "signatures.signature" if side == "sensitive" else "signatures.grp"
    columns = (f"{drawn} AS population", "size", *_matched(len(others)), "COUNT(*) AS copies")
    return grouped(_joined(context, [*_keys(context, others), *columns], others))


def _combinations(context: Context) -> exp.Select:
    """How many combinations of keys the groups have, each counted with every group that has it."""
    sides = [side for side in context.question.sides if context.keys(side)]
    product = " * ".join(f"CAST(m{i}.k AS DOUBLE)" for i in range(len(sides)))
    per_group = select(f"{product} AS product", source="signatures")
    for i, side in enumerate(sides):
        margin = _margin(context, side).subquery("keys", copy=False)
        rows = grouped(select("grp", "COUNT(*) AS k", source=margin)).subquery(f"m{i}", copy=False)
        per_group = join(per_group, rows, f"m{i}.grp = signatures.grp")
    return select("COALESCE(SUM(product), 0)", source=per_group.subquery("products", copy=False))


def _margin(context: Context, side: Side) -> exp.Select:
    if side == "sensitive":
        values = context.rows(side, "signatures.grp", "SUM(n) AS n")
        return grouped(join(values, "signatures", "signatures.signature = signature_values.signature"))
    return grouped(context.rows(side, context.group_column("grp"), "COUNT(*) AS n"))


def _joined(context: Context, columns: Sequence[exp.Expr | str], sides: Sequence[Side]) -> exp.Select:
    """A query over all groups that have the margins of these sides, `m0`, `m1` and so on."""
    query = select(*columns, source="signatures")
    for i, side in enumerate(sides):
        query = join(query, aliased(_name(context, side), f"m{i}"), f"m{i}.grp = signatures.grp")
    return query


def _keys(context: Context, sides: Sequence[Side]) -> list[exp.Column]:
    return [key for i, side in enumerate(sides) for key in columns_of(f"m{i}", context.keys(side))]


def _name(context: Context, side: Side) -> str:
    return f"margin_{context.question.sides.index(side)}"


def _matched(margins: int) -> tuple[str, ...]:
    """The columns fewest, matched, overlap and tie of a group with so many margins; all match where there is none."""
    if margins == 0:
        return "size AS fewest", "size AS matched", "CAST(1 AS DOUBLE) AS overlap", "CAST(0 AS DOUBLE) AS tie"
    counts = [f"m{i}.n" for i in range(margins)]
    one = " * ".join(f"CAST({n} AS DOUBLE) / size" for n in counts)
    # Two together, as a share of overlap², less 1: a product of 1 - a, less 1, without the difference of like numbers.
    less = "0"
    for n in counts:
        a = f"(CAST(size - {n} AS DOUBLE) / {n} / GREATEST(size - 1, 1))"
        less = f"({less} * (1 - {a}) - {a})"
    return (
        f"CAST(GREATEST({' + '.join(counts)} - CAST({margins - 1} AS BIGINT) * size, 0) AS BIGINT) AS fewest",
        f"CAST(LEAST({', '.join(counts)}) AS BIGINT) AS matched",
        f"{one} AS overlap",
        f"POWER({one}, 2) * {less} AS tie",
    )
