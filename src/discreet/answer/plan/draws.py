"""The one model behind every answer: drawing blindly from urns.

A group of `size` rows is an urn. Seen from the sensitive side its balls are the group's sensitive
values, and `picks` of them, drawn blindly, belong to the rows that satisfy the condition on the
quasi-identifiers. Seen from the quasi side it is the other way round: the balls are the rows, and
`picks` of them hold a sensitive value that satisfies the condition. Groups with the same sensitive
values are the same urn, drawn from `urns` times.

Of the `total` balls that count, a draw takes at least `forced` = max(0, picks + total - size) and at
most `most` = min(picks, total), any of them. So each subject (what aggregates are about) becomes

    tally   per kind of urn: the number of balls a draw takes, and what their variance is made of
    runs    per value: its expected number in the draw (`weight`), and how often it is among the
            smallest balls (`low_`) or the largest (`high_`): `forced` times, and `free` times more
            if that many are wanted

Where only the boxes of the groups are known, the rows that match are not counted: then at least
`fewest` and at most `picks` balls are drawn, and forced = max(0, fewest + total - size). If the boxes
are measured, each ball is drawn with the probability `overlap`, and two of them have the covariance `tie`. So it
is where every column was shuffled by itself: then each column is a side, and `margins` say how the others match.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.answer.matches import margins
from discreet.answer.plan.context import Model
from discreet.answer.plan.sql import Relations, agree, grouped
from discreet.answer.question.grammar import Side


def draws(model: Model, side: Side) -> Relations:
    """How many balls are drawn from which urns, when the balls lie on `side`; the last relation says it."""
    if side == "sensitive":
        condition = model.question.where["quasi"]
        if model.boxes is not None:
            chance = ("overlap", "tie") if model.measured else ()
            kinds = exp.select("urn", "size", "fewest", "picks", *chance, "COUNT(*) AS urns").from_("hits")
            return {"draws_sensitive": grouped(kinds)}
        if condition is None and not model.keys("quasi"):
            all_rows = exp.select("signature AS urn", "size", "size AS picks", "COUNT(*) AS urns").from_("signatures")
            return {"draws_sensitive": grouped(all_rows)}
        hits = grouped(model.rows("quasi", model.group_column("grp"), "COUNT(*) AS picks"))
        kinds = exp.select(*model.keys("quasi"), "signature AS urn", "size", "picks", "COUNT(*) AS urns")
        joined = kinds.from_("hits").join("signatures", on="hits.grp = signatures.grp")
        return {"hits": hits, "draws_sensitive": grouped(joined)}
    holders = grouped(model.rows("sensitive", "signature", "SUM(n) AS picks"))
    groups = exp.select(*model.keys("sensitive"), "grp AS urn", "size", "picks", "1 AS urns")
    return {
        "holders": holders,
        "draws_quasi": groups.from_("holders").join("signatures", on="holders.signature = signatures.signature"),
    }


def subject(model: Model, side: Side, argument: exp.Expr | None, name: str, *, numeric: bool) -> Relations:
    """The relations of one subject, their names ending with `name`; `numeric` if sums are wanted."""
    drawn = {f"draws_{name}": margins.draws(model, side)} if model.apart else draws(model, side)
    return {
        **drawn,
        f"balls_{name}": _balls(model, side, argument, numeric=numeric),
        f"tally_{name}": _tally(model, side, name, [*drawn][-1], numeric=numeric),
        **({} if argument is None else {f"runs_{name}": _runs(model, side, name)}),
    }


def _balls(model: Model, side: Side, argument: exp.Expr | None, *, numeric: bool) -> exp.Select:
    """The balls that count: per urn and value `n` of them, `below` smaller ones, `total` in all."""
    keys = model.keys(side)
    urn = "signature AS urn" if side == "sensitive" else model.group_column("urn")
    count = "SUM(n)" if side == "sensitive" else "COUNT(*)"
    if argument is None:
        return grouped(model.rows(side, urn, f"{count} AS total"))
    value = model.on_table(argument)
    plain = isinstance(argument, exp.Column) and not keys and model.question.where.get(side) is None
    if side == "sensitive" and plain:
        rows = model.rows(side, "held.signature AS urn", "value", "n", "below", "total", "mean")
        return rows.join("sums", on="sums.signature = held.signature").where(_present(value))
    rows = grouped(model.rows(side, urn, exp.alias_(value, "value"), f"{count} AS n").where(_present(value)))
    of_urn = ", ".join([*keys, "urn"])
    upto = f"PARTITION BY {of_urn} ORDER BY value ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    mean = f"SUM(n * CAST(value AS DOUBLE)) OVER (PARTITION BY {of_urn}) / SUM(n) OVER (PARTITION BY {of_urn})"
    return exp.select(
        *(*keys, "urn", "value", "n"),
        f"SUM(n) OVER ({upto}) - n AS below",
        f"SUM(n) OVER (PARTITION BY {of_urn}) AS total",
        f"{mean if numeric else 'NULL'} AS mean",
    ).from_(rows.subquery("counted"))


def _present(value: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=exp.paren(value), expression=exp.null()))


def _taken(model: Model) -> tuple[str, ...]:
    """How many of the balls that count all draws take, at least, at most (of one draw) and as expected.

    The variance of that is `per_mean`; of the sum of these balls it is per_spread * spread + per_mean * mean * mean.
    """
    fewest = "fewest" if model.bounded else "picks"
    forced, most = f"GREATEST({fewest} + total - size, 0)", "LEAST(picks, total)"
    share = "(CAST(total AS DOUBLE) / size)"
    draw = "urns * picks * CAST(size - picks AS DOUBLE) / GREATEST(size - 1, 1)"
    expected = f"urns * picks * {share}"
    per_spread, per_mean = f"{draw} / size", f"{draw} * {share} * (1 - {share})"
    if model.measured:
        alone = "(overlap * (1 - overlap) - tie)"
        expected, per_spread = "urns * overlap * total", f"urns * {alone}"
        certain = f"{forced} = {most}"  # which rounding must not hide
        per_mean = f"CASE WHEN {certain} THEN 0 ELSE urns * total * ({alone} + tie * total) END"
    return (
        f"{forced} AS forced",
        f"{most} AS most",
        f"{expected} AS expected",
        f"{per_spread} AS per_spread",
        f"{per_mean} AS per_mean",
    )


def _tally(model: Model, side: Side, name: str, draws: str, *, numeric: bool) -> exp.Select:
    keys = model.keys(side)
    urns = exp.select(*keys, "urn", "total").from_(f"balls_{name}")
    if numeric:
        spread = "SUM(n * (CAST(value AS DOUBLE) - mean) * (CAST(value AS DOUBLE) - mean)) AS spread"
        urns = grouped(urns.select("mean", spread))
    else:
        urns = urns.distinct()
    return (
        exp.select(
            *(exp.column(key, table="draws") for key in model.other_keys(side)),
            *(exp.column(key, table="urns") for key in keys),
            *("draws.urn", "draws.size", "draws.picks", "draws.urns", "urns.total"),
            *(("draws.overlap", "draws.tie") if model.measured else ()),
            *(("urns.mean", "urns.spread") if numeric else ()),
            *_taken(model),
        )
        .from_(exp.to_table(draws).as_("draws"))
        .join(urns.subquery("urns"), on="draws.urn = urns.urn")
        .where("LEAST(picks, total) > 0")
    )


def _runs(model: Model, side: Side, name: str) -> exp.Select:
    def taken(wanted: str, before: str) -> str:
        return f"LEAST(GREATEST({wanted} - ({before}), 0), n)"

    below, above = "below", "balls.total - below - n"
    same_urn = exp.condition("tally.urn = balls.urn")
    return grouped(
        exp.select(
            *(exp.column(key, table="tally") for key in model.keys()),
            "value",
            f"SUM(urns * {'overlap * n' if model.measured else 'CAST(picks AS DOUBLE) * n / size'}) AS weight",
            *(
                column
                for end, before in (("low", below), ("high", above))
                for column in (
                    f"SUM(urns * {taken('forced', before)}) AS {end}_forced",
                    f"SUM(urns * ({taken('most', before)} - {taken('forced', before)})) AS {end}_free",
                )
            ),
        )
        .from_(exp.to_table(f"tally_{name}").as_("tally"))
        .join(exp.to_table(f"balls_{name}").as_("balls"), on=agree("tally", "balls", model.keys(side), same_urn))
    )
