"""From the relations of a subject to estimate, stderr, low and high: one function per aggregate.

Each writes relations, the last of which has, per key, `estimate`, `stderr`, `low`, `high`, and
`least`: the smallest number of rows that may match (0: there may be nothing to aggregate).
Claim: grouped_answers_equal_brute_force — low and high are the extremes over all assignments; estimate and
stderr of COUNT and SUM, and of AVG over a fixed number of rows, their mean and standard deviation.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from discreet.answer.plan.context import Model
from discreet.answer.plan.sql import Relations, agree
from discreet.answer.question.question import Aggregate

NUMBER = "CAST(value AS DOUBLE)"
NO_STDERR = "CAST(NULL AS DOUBLE) AS stderr"
TAKEN = ("free_under", "free_under + 1", "free_at")  # none, one or all of a run of equal balls
SURE = "1 - 1e-9"  # an expected number that adds up to 1
# Rounding must not carry it over a bound; there is none if nobody is expected.
INSIDE = """
    CASE WHEN CAST(estimate AS TEXT) = 'nan' THEN estimate
         WHEN NOT estimate IS NULL THEN LEAST(GREATEST(estimate, low), high) END AS estimate
"""
ORDERED = ("LEAST(low, high) AS low", "GREATEST(low, high) AS high")  # nor the ends over each other


def write(model: Model, aggregate: Aggregate, subject: str, name: str) -> Relations:
    """The relations that compute one aggregate from its subject's, the last of them called `name`."""
    match aggregate.function:
        case "count":
            return {name: _count(model, subject)}
        case "sum":
            return _sum(model, subject, name)
        case "avg":
            return _avg(model, subject, name)
        case "min" | "max":
            return _extreme(model, subject, name, smallest=aggregate.function == "min")
        case "quantile_disc":
            return _quantile_disc(model, subject, name, aggregate.fraction)
        case "quantile_cont":
            return _quantile_cont(model, subject, name, aggregate.fraction)


def per_key(model: Model, relation: str, *columns: str) -> exp.Select:
    keys = model.keys()
    return exp.select(*keys, *columns).from_(relation).group_by(*keys)


def beside(model: Model, left: str, name: str, *columns: str, right: exp.Expr | None = None) -> exp.Select:
    """Two relations side by side, key by key; `right` is what `name` stands for, if not a relation of that name."""
    keys = (exp.column(key, table=left) for key in model.keys())
    return exp.select(*keys, *columns).from_(left).join(right or name, on=agree(left, name, model.keys()))


def over(model: Model, order: str | None = None) -> str:
    """A window over the values of one key: all of them, or up to this one in ascending or descending order."""
    keys = f"PARTITION BY {', '.join(model.keys())} " if model.keys() else ""
    if order is None:
        return f"OVER ({keys})"
    return f"OVER ({keys}ORDER BY value {order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"


def _root(variance: str) -> str:
    """The root of the sum of variances, of which rounding may make less than nothing."""
    return f"SQRT(CASE WHEN SUM({variance}) < 0 THEN 0 ELSE SUM({variance}) END)"


def _count(model: Model, subject: str) -> exp.Select:
    return per_key(
        model,
        f"tally_{subject}",
        "COALESCE(SUM(expected), 0) AS estimate",
        f"COALESCE({_root('per_mean')}, 0) AS stderr",
        "CAST(COALESCE(SUM(urns * forced), 0) AS BIGINT) AS low",
        "CAST(COALESCE(SUM(urns * most), 0) AS BIGINT) AS high",
        "CAST(COALESCE(SUM(urns * forced), 0) AS BIGINT) AS least",
    )


def _sum(model: Model, subject: str, name: str) -> Relations:
    return {
        f"{name}_sums": per_key(
            model,
            f"runs_{subject}",
            f"SUM({NUMBER} * weight) AS estimate",
            f"SUM({NUMBER} * low_forced + LEAST({NUMBER}, 0) * low_free) AS low",
            f"SUM({NUMBER} * high_forced + GREATEST({NUMBER}, 0) * high_free) AS high",
            "SUM(low_forced) AS least",
        ),
        f"{name}_error": per_key(
            model,
            f"tally_{subject}",
            f"{_root('per_spread * spread + per_mean * mean * mean')} AS stderr",
        ),
        name: beside(model, f"{name}_sums", f"{name}_error", INSIDE, "stderr", *ORDERED, "least"),
    }


def _avg(model: Model, subject: str, name: str) -> Relations:
    """Bounds: all forced balls, then free ones, smallest (largest) first, as long as they help."""
    up, down, all_ = over(model, "ASC"), over(model, "DESC"), over(model)
    steps = exp.select(
        *(*model.keys(), "value", "weight", "low_forced"),
        f"SUM({NUMBER} * low_forced) {all_} + SUM({NUMBER} * low_free) {up} AS low_sum",
        f"SUM(low_forced) {all_} + SUM(low_free) {up} AS low_rows",
        f"SUM({NUMBER} * high_forced) {all_} + SUM({NUMBER} * high_free) {down} AS high_sum",
        f"SUM(high_forced) {all_} + SUM(high_free) {down} AS high_rows",
    ).from_(f"runs_{subject}")
    means = per_key(
        model,
        f"{name}_steps",
        f"SUM({NUMBER} * weight) / NULLIF(SUM(weight), 0) AS estimate",
        "MIN(low_sum / NULLIF(low_rows, 0)) AS low",
        "MAX(high_sum / NULLIF(high_rows, 0)) AS high",
        "SUM(low_forced) AS least",
    )
    # The delta method; exact when every draw takes the same number of balls.
    deviation = "per_spread * spread + per_mean * (mean - estimate) * (mean - estimate)"
    error = beside(
        model,
        f"tally_{subject}",
        f"{name}_means",
        f"{_root(deviation)} / NULLIF(SUM(expected), 0) AS stderr",
    ).group_by(*(exp.column(key, table=f"tally_{subject}") for key in model.keys()))
    return {
        f"{name}_steps": steps,
        f"{name}_means": means,
        f"{name}_error": error,
        name: beside(model, f"{name}_means", f"{name}_error", INSIDE, "stderr", *ORDERED, "least"),
    }


def _extreme(model: Model, subject: str, name: str, *, smallest: bool) -> Relations:
    """MIN: the smallest ball that can be drawn, and the smallest that the draw of the largest must take."""
    this, other, near, far = ("MIN", "MAX", "low", "high") if smallest else ("MAX", "MIN", "high", "low")
    expected = f"SUM(weight) {over(model, 'ASC' if smallest else 'DESC')} AS expected"
    reached = f"{this}(value) FILTER (WHERE expected >= {SURE})"
    certain = f"{this}(value) FILTER (WHERE {far}_forced > 0)"
    return {
        f"{name}_steps": exp.select("*", expected).from_(f"runs_{subject}"),
        name: per_key(
            model,
            f"{name}_steps",
            f"COALESCE({reached}, {other}(value) FILTER (WHERE weight > 0)) AS estimate",
            NO_STDERR,
            f"{this}(value) AS {near}",
            f"COALESCE({certain}, {other}(value)) AS {far}",
            "SUM(low_forced) AS least",
        ),
    }


def _quantile_disc(model: Model, subject: str, name: str, fraction: Fraction) -> Relations:
    """The smallest value that, with everything free up to it taken, has the fraction of the rows at or below it."""
    p, q = fraction.numerator, fraction.denominator
    up, down, all_ = over(model, "ASC"), over(model, "DESC"), over(model)
    steps = exp.select(
        *(*model.keys(), "value", "low_forced"),
        f"SUM(weight) {up} AS expected",
        f"SUM(weight) {all_} AS expected_rows",
        f"SUM(low_forced) {all_} AS least",
        f"SUM(low_forced + low_free) {up} AS low_at",
        f"SUM(low_free) {up} AS low_free",
        f"SUM(high_forced + high_free) {down} AS high_at",
        f"SUM(high_free) {down} AS high_free",
    ).from_(f"runs_{subject}")
    low = f"low_at > 0 AND {q} * low_at >= {p} * (least + low_free)"
    # the fraction 0 asks for the first row: all rows at or above it, but never more than all
    high = f"{q} * high_at > {q - p} * (least + high_free)" if p else "high_at > 0 AND high_at >= least + high_free"
    bounds = per_key(
        model,
        f"{name}_steps",
        f"MIN(value) FILTER (WHERE expected > 0 AND {q} * expected >= {p} * expected_rows * ({SURE})) AS expected",
        f"MIN(value) FILTER (WHERE {low}) AS low",
        f"MAX(value) FILTER (WHERE {high}) AS high",
        "MAX(least) AS least",
    )
    return {f"{name}_steps": steps, f"{name}_bounds": bounds, name: _clamped(model, f"{name}_bounds")}


def _quantile_cont(model: Model, subject: str, name: str, fraction: Fraction) -> Relations:
    """Interpolated quantiles: the low one, the high one as the low one of all values negated, and the estimate."""
    low = _lowest(model, subject, f"{name}_low", fraction, NUMBER, "low")
    high = _lowest(model, subject, f"{name}_high", 1 - fraction, f"-{NUMBER}", "high")
    disc = _quantile_disc(model, subject, f"{name}_disc", fraction)
    ends = f"{name}_low.bound, -{name}_high.bound"  # interpolated from either end they may cross by a rounding
    both = beside(model, f"{name}_low", f"{name}_high", f"LEAST({ends}) AS low", f"GREATEST({ends}) AS high")
    columns = (f"CAST({name}_disc_bounds.expected AS DOUBLE) AS expected", "both.low", "both.high", "least")
    keys = [exp.column(key, table="both") for key in model.keys()]
    joined = (
        exp.select(*keys, *columns)
        .from_(both.subquery("both"))
        .join(f"{name}_disc_bounds", on=agree("both", f"{name}_disc_bounds", model.keys()))
    )
    return {**low, **high, **disc, f"{name}_bounds": joined, name: _clamped(model, f"{name}_bounds")}


def _lowest(model: Model, subject: str, name: str, fraction: Fraction, value: str, end: str) -> Relations:
    """The lowest interpolated quantile over all numbers of free balls, which are added smallest first.

    The quantile lies between two neighbours. A free ball not above the lower neighbour lets it fall or
    stay, one above the upper neighbour lets it rise or stay. So the least is found where the free balls
    come to lie between the two, the `turn`: with none, one or all of a run of equal ones taken. If they
    never do, it is found with all taken.
    """
    p, q = fraction.numerator, fraction.denominator
    up, all_ = over(model, "ASC"), over(model)
    values = exp.select(*(*model.keys(), f"{value} AS value", f"{end}_forced AS forced", f"{end}_free AS free")).from_(
        f"runs_{subject}"
    )
    steps = exp.select(
        *(*model.keys(), "value", "free"),
        f"SUM(forced) {up} AS forced_at",
        f"SUM(free) {up} AS free_at",
        f"SUM(forced) {up} - forced AS forced_under",
        f"SUM(free) {up} - free AS free_under",
        f"SUM(forced) {all_} AS forced_rows",
        f"SUM(free) {all_} AS free_rows",
    ).from_(values.subquery("balls"))
    above_lower = f"{q} * (forced_under + free_under) > {p} * (forced_rows + free_under - 1)"
    turns = per_key(
        model,
        f"{name}_steps",
        f"MIN(free_under) FILTER (WHERE free > 0 AND {above_lower}) AS turn",
        "MAX(forced_rows) AS forced_rows",
    )
    upto_upper = f"{q} * (forced_under + turn - 1) <= {p} * ({name}_turns.forced_rows + turn - 1)"
    between = beside(model, f"{name}_turns", f"{name}_steps", "free_under", "free_at").where(
        f"free > 0 AND free_under >= turn AND {upto_upper}"
    )
    tries = [
        *(exp.select(*model.keys(), f"{taken} AS taken").from_(f"{name}_between") for taken in TAKEN),
        exp.select(*model.keys(), "turn AS taken").from_(f"{name}_turns").where("NOT turn IS NULL"),
        per_key(model, f"{name}_steps", "MAX(free_rows) AS taken"),
    ]
    all_tries = exp.union(*tries, distinct=True).subquery("tries")
    candidates = beside(
        model, f"{name}_turns", "tries", "taken", f"{name}_turns.forced_rows + taken AS drawn", right=all_tries
    ).where(f"{name}_turns.forced_rows + taken > 0")
    place = f"{p} * (drawn - 1)"
    upto = f"{q} * (forced_at + LEAST(free_at, taken))"
    tried = exp.select(
        *(exp.column(key, table=f"{name}_tries") for key in model.keys()),
        *("taken", "drawn"),
        f"MIN(value) FILTER (WHERE {upto} > {place}) AS before",
        f"MIN(value) FILTER (WHERE {upto} > {place} + {q - 1}) AS after",
    )
    tried = tried.from_(f"{name}_tries").join(f"{name}_steps", on=agree(f"{name}_tries", f"{name}_steps", model.keys()))
    tried = tried.group_by(*(item.unalias().copy() for item in tried.expressions if not item.find(exp.AggFunc)))
    part = f"CAST(({place}) % {q} AS DOUBLE) / {q}"
    return {
        f"{name}_steps": steps,
        f"{name}_turns": turns,
        f"{name}_between": between,
        f"{name}_tries": candidates,
        f"{name}_tried": tried,
        name: per_key(model, f"{name}_tried", f"MIN(before + {part} * (after - before)) AS bound"),
    }


def _clamped(model: Model, bounds: str) -> exp.Select:
    inside = "CASE WHEN NOT expected IS NULL THEN LEAST(GREATEST(expected, low), high) END AS estimate"
    columns = (inside, NO_STDERR, "low", "high", "least")
    return exp.select(*model.keys(), *columns).from_(bounds)
