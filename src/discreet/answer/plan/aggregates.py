"""From the relations of a subject to estimate, stderr, low and high: one function per aggregate.

Each writes relations, the last of which has, per key, `estimate`, `stderr`, `low`, `high`, and
`least`: the smallest number of rows that may match (0: there may be nothing to aggregate).
Claim: grouped_answers_equal_brute_force — low and high are the extremes over all assignments; estimate and
stderr of COUNT and SUM, and of AVG over a fixed number of rows, their mean and standard deviation.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.answer.plan.context import Context
from discreet.answer.plan.different import different
from discreet.answer.plan.quantiles import NO_STDERR, NUMBER, SURE, quantile_cont, quantile_disc
from discreet.answer.plan.spreads import spread
from discreet.answer.plan.sql import Relations, beside, columns_of, over, per_key, select
from discreet.answer.question.question import Aggregate

# Rounding must not carry it over a bound; there is none if nobody is expected.
INSIDE = """
    CASE WHEN CAST(estimate AS TEXT) = 'nan' THEN estimate
         WHEN NOT estimate IS NULL THEN LEAST(GREATEST(estimate, low), high) END AS estimate
"""
ORDERED = ("LEAST(low, high) AS low", "GREATEST(low, high) AS high")  # nor the ends over each other


def write(context: Context, aggregate: Aggregate, number: int) -> Relations:
    """The relations that compute one aggregate from those of its subject, the last of them `answer_NUMBER`."""
    about, keys, name = context.subjects[number], context.keys(), f"answer_{number}"
    subject = about.number
    match aggregate.function:
        case "count":
            found: Relations = {name: _count(keys, subject)}
        case "distinct":
            found = different(context, about, name)
        case "sum":
            found = _sum(keys, subject, name)
        case "avg":
            found = _avg(keys, subject, name)
        case "min" | "max":
            found = _extreme(keys, subject, name, smallest=aggregate.function == "min")
        case "quantile_disc":
            found = quantile_disc(keys, subject, name, aggregate.fraction)
        case "quantile_cont":
            found = quantile_cont(keys, subject, name, aggregate.fraction)
        case _:
            found = {**_avg(keys, subject, f"{name}_avg"), **spread(context, aggregate, about, name)}
    return found


def _root(variance: str) -> str:
    """The root of the sum of variances, of which rounding may make less than nothing."""
    return f"SQRT(CASE WHEN SUM({variance}) < 0 THEN 0 ELSE SUM({variance}) END)"


def _count(keys: list[str], subject: int) -> exp.Select:
    return per_key(
        keys,
        f"tally_{subject}",
        "COALESCE(SUM(expected), 0) AS estimate",
        f"COALESCE({_root('per_mean')}, 0) AS stderr",
        "CAST(COALESCE(SUM(copies * forced), 0) AS BIGINT) AS low",
        "CAST(COALESCE(SUM(copies * most), 0) AS BIGINT) AS high",
        "CAST(COALESCE(SUM(copies * forced), 0) AS BIGINT) AS least",
    )


def _sum(keys: list[str], subject: int, name: str) -> Relations:
    return {
        f"{name}_sums": per_key(
            keys,
            f"runs_{subject}",
            f"SUM({NUMBER} * weight) AS estimate",
            f"SUM({NUMBER} * low_forced + LEAST({NUMBER}, 0) * low_free) AS low",
            f"SUM({NUMBER} * high_forced + GREATEST({NUMBER}, 0) * high_free) AS high",
            "SUM(low_forced) AS least",
        ),
        f"{name}_error": per_key(
            keys,
            f"tally_{subject}",
            f"{_root('per_spread * spread + per_mean * mean * mean')} AS stderr",
        ),
        name: beside(keys, f"{name}_sums", f"{name}_error", INSIDE, "stderr", *ORDERED, "least"),
    }


def _avg(keys: list[str], subject: int, name: str) -> Relations:
    """Bounds: all forced candidates, then free ones, smallest (largest) first, as long as they help."""
    up, down, all_ = over(keys, "ASC"), over(keys, "DESC"), over(keys)
    steps = select(
        *(*keys, "value", "weight", "low_forced"),
        f"SUM({NUMBER} * low_forced) {all_} + SUM({NUMBER} * low_free) {up} AS low_sum",
        f"SUM(low_forced) {all_} + SUM(low_free) {up} AS low_rows",
        f"SUM({NUMBER} * high_forced) {all_} + SUM({NUMBER} * high_free) {down} AS high_sum",
        f"SUM(high_forced) {all_} + SUM(high_free) {down} AS high_rows",
        source=f"runs_{subject}",
    )
    means = per_key(
        keys,
        f"{name}_steps",
        f"SUM({NUMBER} * weight) / NULLIF(SUM(weight), 0) AS estimate",
        "MIN(low_sum / NULLIF(low_rows, 0)) AS low",
        "MAX(high_sum / NULLIF(high_rows, 0)) AS high",
        "SUM(low_forced) AS least",
    )
    # The delta method; exact when every draw takes the same number of candidates.
    deviation = "per_spread * spread + per_mean * (mean - estimate) * (mean - estimate)"
    error = beside(
        keys,
        f"tally_{subject}",
        f"{name}_means",
        f"{_root(deviation)} / NULLIF(SUM(expected), 0) AS stderr",
    )
    if keys:
        error.set("group", exp.Group(expressions=columns_of(f"tally_{subject}", keys)))
    return {
        f"{name}_steps": steps,
        f"{name}_means": means,
        f"{name}_error": error,
        name: beside(keys, f"{name}_means", f"{name}_error", INSIDE, "stderr", *ORDERED, "least"),
    }


def _extreme(keys: list[str], subject: int, name: str, *, smallest: bool) -> Relations:
    """MIN: the smallest candidate that can be drawn, and the smallest that the draw of the largest must take."""
    this, other, near, far = ("MIN", "MAX", "low", "high") if smallest else ("MAX", "MIN", "high", "low")
    expected = f"SUM(weight) {over(keys, 'ASC' if smallest else 'DESC')} AS expected"
    reached = f"{this}(value) FILTER (WHERE expected >= {SURE})"
    certain = f"{this}(value) FILTER (WHERE {far}_forced > 0)"
    return {
        f"{name}_steps": select("*", expected, source=f"runs_{subject}"),
        name: per_key(
            keys,
            f"{name}_steps",
            f"COALESCE({reached}, {other}(value) FILTER (WHERE weight > 0)) AS estimate",
            NO_STDERR,
            f"{this}(value) AS {near}",
            f"COALESCE({certain}, {other}(value)) AS {far}",
            "SUM(low_forced) AS least",
        ),
    }
