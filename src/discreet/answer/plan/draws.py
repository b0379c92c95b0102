"""The one model behind every answer: drawing blindly from populations.

A group of `size` rows is a population. Seen from the sensitive side its candidates are the group's sensitive values,
and `matched` of them, drawn blindly, belong to the rows that satisfy the condition on the quasi-identifiers. Seen from
the quasi side it is the other way round: the candidates are the rows, and `matched` of them hold a sensitive value
that satisfies the condition. Groups with the same sensitive values (the same *signature*) are the same population,
of which there are `copies`.

Of the `total` candidates that count, a draw takes at least `forced` = max(0, matched + total - size) and at most
`most` = min(matched, total), any of them. So each subject (what aggregates are about) becomes

    draws       per population: how many candidates are drawn
    candidates  per population and value: how many candidates hold it (`n`), and how many a smaller one (`below`)
    populations  per population: how many candidates count (`total`), their mean, and the sum of squares around it
    tally       per kind of draw: the number of candidates it takes, and what their variance is made of
    runs        per value: its expected number in the draw (`weight`), and how often it is among the smallest
                candidates (`low_`) or the largest (`high_`): `forced` times, and `free` times more if wanted

Where rows that match are not counted (see `matches`), at least `fewest` and at most `matched` candidates are drawn, and
forced = max(0, fewest + total - size). If their number is expected, each candidate is drawn with the probability
`overlap`, and two of them have the covariance `tie`.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.answer.plan.context import Context, Subject
from discreet.answer.plan.sql import Piece, Relations, aliased, beside, grouped, per_key, select
from discreet.answer.question.grammar import Side


def draws(context: Context) -> Relations:
    """Per population how many candidates are drawn, for every side that a subject is about."""
    return context.matches.draws(context)


def candidates(context: Context) -> Relations:
    """The candidates that count, by value, and of every population how many there are (`total`) and how they spread."""
    found: Relations = {}
    for subject in context.subjects.values():
        if subject.argument is not None:
            found[f"candidates_{subject.number}"] = _candidates(context, subject, subject.argument)
        found[f"populations_{subject.number}"] = _populations(context, subject)
    return found


def _candidates(context: Context, subject: Subject, argument: exp.Expr) -> exp.Select:
    """Per population and value: `n` candidates hold it, and `below` of them a smaller one."""
    side, keys, value = subject.side, context.keys(subject.side), context.on_table(argument)
    present = exp.Not(this=exp.Is(this=exp.paren(value, copy=False), expression=exp.null()))
    plain = isinstance(argument, exp.Column) and not keys and context.question.where.get(side) is None
    if side == "sensitive" and plain:
        columns = ("signature AS population", "value", "n", "below")
        return select(*columns, source="signature_values", where=present)
    rows = context.rows(side, *_counted(context, side, "n"), exp.alias_(value, "value")).where(present, copy=False)
    order = "ORDER BY value ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"
    upto = f"SUM(n) OVER (PARTITION BY {', '.join([*keys, 'population'])} {order})"
    columns = ("population", "value", "n", f"CAST({upto} - n AS BIGINT) AS below")
    return select(*keys, *columns, source=aliased(grouped(rows), "counted"))


def _populations(context: Context, subject: Subject) -> exp.Select:
    if subject.argument is None:
        return grouped(context.rows(subject.side, *_counted(context, subject.side, "total")))
    keys, name = [*context.keys(subject.side), "population"], f"candidates_{subject.number}"
    total, mean = "CAST(SUM(n) AS BIGINT) AS total", "SUM(n * CAST(value AS DOUBLE)) / SUM(n) AS mean"
    if not subject.numeric:
        return per_key(keys, name, total)
    spread = "SUM(n * (CAST(value AS DOUBLE) - mean) * (CAST(value AS DOUBLE) - mean)) AS spread"
    means = aliased(per_key(keys, name, total, mean), "means")
    return grouped(beside(keys, name, "means", "total", "mean", spread, right=means))


def _counted(context: Context, side: Side, name: str) -> tuple[Piece, Piece]:
    """The population of rows, and how many they are."""
    if side == "sensitive":
        return "signature AS population", f"CAST(SUM(n) AS BIGINT) AS {name}"
    return context.group_column("population"), f"COUNT(*) AS {name}"
