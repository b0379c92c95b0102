"""How rows match a condition on several columns, where each column was shuffled by itself inside its group.

Source: Li, He et al., "Permutation anonymization", 2015, sections 1.1 and 2.2.
Of each column (a *margin*) it is known how many rows `n` of a group match its own condition; which values of other
columns they have is not. So, of a group of N rows and the margins of q columns,

    fewest, picks   max(0, n_1 + … + n_q - (q - 1) N) and min(n_1, …, n_q), the bounds of Fréchet
    overlap         n_1/N · … · n_q/N, how likely one value of another column stands in a row that matches
    tie             how much likelier two of them match together than apart: the product of n(n - 1) / (N(N - 1)),
                    minus overlap²

The balls (see `urns`) are the values of the column that an aggregate is about; its own condition says which of them
count, and the margins of all other columns how they are drawn. Keys are conditions too: a group has
as many margins of a column as it has keys of it.
Cost: one pass over the columns that a question names, each counted by group.
Claim: shuffled_columns_equal_brute_force — of COUNT and SUM, estimate and stderr are mean and deviation over all
permutations of the columns; low and high of every aggregate are the extremes.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from discreet.answer.plan.context import Model
from discreet.answer.plan.sql import Relations, grouped
from discreet.answer.question.grammar import Side


def relations(model: Model) -> Relations:
    """Per side that the question asks of: how many rows `n` of each group match, for each of the side's keys."""
    return {_name(model, side): _margin(model, side) for side in model.question.sides}


def combinations(model: Model) -> exp.Select:
    """How many combinations of keys the groups have, each counted with every group that has it."""
    sides = [side for side in model.question.sides if model.keys(side)]
    per_group = _joined(model, exp.select("signatures.grp"), [])
    for i, side in enumerate(sides):
        rows = exp.select("grp", "COUNT(*) AS k").from_(_margin(model, side).subquery("keys")).group_by("grp")
        per_group = per_group.join(rows.subquery(f"m{i}"), on=f"m{i}.grp = signatures.grp")
    product = " * ".join(f"CAST(m{i}.k AS DOUBLE)" for i in range(len(sides))) or "1"
    return exp.select("COALESCE(SUM(product), 0)").from_(per_group.select(f"{product} AS product").subquery("products"))


def draws(model: Model, side: Side) -> exp.Select:
    """How many balls of `side` are drawn from which urns: as many rows as match on all other sides."""
    others = [other for other in model.question.sides if other != side]
    urn = "signatures.signature AS urn" if side == "sensitive" else "signatures.grp AS urn"
    kinds = exp.select(*_keys(model, others), urn, "size", *_hits(len(others)), "COUNT(*) AS urns")
    return grouped(_joined(model, kinds, others))


def frame(model: Model) -> exp.Select:
    """Every combination of keys that may occur: those of which some group has all."""
    sides = model.question.sides
    return _joined(model, exp.select(*_keys(model, sides)).distinct(), sides)


def _margin(model: Model, side: Side) -> exp.Select:
    if side == "sensitive":
        held = model.rows(side, "signatures.grp", "SUM(n) AS n")
        return grouped(held.join("signatures", on="signatures.signature = held.signature"))
    return grouped(model.rows(side, model.group_column("grp"), "COUNT(*) AS n"))


def _joined(model: Model, query: exp.Select, sides: Sequence[Side]) -> exp.Select:
    """A query over all groups that have the margins of these sides, `m0`, `m1` and so on."""
    query = query.from_("signatures")
    for i, side in enumerate(sides):
        query = query.join(exp.to_table(_name(model, side)).as_(f"m{i}"), on=f"m{i}.grp = signatures.grp")
    return query


def _keys(model: Model, sides: Sequence[Side]) -> list[exp.Column]:
    return [exp.column(key, table=f"m{i}") for i, side in enumerate(sides) for key in model.keys(side)]


def _name(model: Model, side: Side) -> str:
    return f"margin_{model.question.sides.index(side)}"


def _hits(margins: int) -> tuple[str, ...]:
    """The columns fewest, picks, overlap and tie of a group with so many margins; all match where there is none."""
    if margins == 0:
        return "size AS fewest", "size AS picks", "CAST(1 AS DOUBLE) AS overlap", "CAST(0 AS DOUBLE) AS tie"
    counts = [f"m{i}.n" for i in range(margins)]
    one = " * ".join(f"CAST({n} AS DOUBLE) / size" for n in counts)
    # Two together, as a share of overlap², less 1: a product of 1 - a, less 1, without the difference of like numbers.
    less = "0"
    for n in counts:
        a = f"(CAST(size - {n} AS DOUBLE) / {n} / GREATEST(size - 1, 1))"
        less = f"({less} * (1 - {a}) - {a})"
    return (
        f"CAST(GREATEST({' + '.join(counts)} - CAST({margins - 1} AS BIGINT) * size, 0) AS BIGINT) AS fewest",
        f"CAST(LEAST({', '.join(counts)}) AS BIGINT) AS picks",
        f"{one} AS overlap",
        f"POWER({one}, 2) * {less} AS tie",
    )
