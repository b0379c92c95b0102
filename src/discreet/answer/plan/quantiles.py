"""Bounds and estimates of quantiles, from the values that a draw may take (`runs`)."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from discreet.answer.plan.sql import Relations, agree, beside, columns_of, grouped, join, over, per_key, piece, select

NUMBER = "CAST(value AS DOUBLE)"
NO_STDERR = "CAST(NULL AS DOUBLE) AS stderr"
SURE = "1 - 1e-9"  # an expected number that adds up to 1
TAKEN = ("free_under", "free_under + 1", "free_at")  # none, one or all of a run of equal candidates


def quantile_disc(keys: list[str], subject: int, name: str, fraction: Fraction) -> Relations:
    """The smallest value that, with everything free up to it taken, has the fraction of the rows at or below it."""
    p, q = fraction.numerator, fraction.denominator
    up, down, all_ = over(keys, "ASC"), over(keys, "DESC"), over(keys)
    steps = select(
        *(*keys, "value", "low_forced"),
        f"SUM(weight) {up} AS expected",
        f"SUM(weight) {all_} AS expected_rows",
        f"SUM(low_forced) {all_} AS least",
        f"SUM(low_forced + low_free) {up} AS low_at",
        f"SUM(low_free) {up} AS low_free",
        f"SUM(high_forced + high_free) {down} AS high_at",
        f"SUM(high_free) {down} AS high_free",
        source=f"runs_{subject}",
    )
    low = f"low_at > 0 AND {q} * low_at >= {p} * (least + low_free)"
    # the fraction 0 asks for the first row: all rows at or above it, but never more than all
    high = f"{q} * high_at > {q - p} * (least + high_free)" if p else "high_at > 0 AND high_at >= least + high_free"
    bounds = per_key(
        keys,
        f"{name}_steps",
        f"MIN(value) FILTER (WHERE expected > 0 AND {q} * expected >= {p} * expected_rows * ({SURE})) AS expected",
        f"MIN(value) FILTER (WHERE {low}) AS low",
        f"MAX(value) FILTER (WHERE {high}) AS high",
        "MAX(least) AS least",
    )
    return {f"{name}_steps": steps, f"{name}_bounds": bounds, name: _clamped(keys, f"{name}_bounds")}


def quantile_cont(keys: list[str], subject: int, name: str, fraction: Fraction) -> Relations:
    """Interpolated quantiles: the low one, the high one as the low one of all values negated, and the estimate."""
    low = _lowest(keys, subject, f"{name}_low", fraction, NUMBER, "low")
    high = _lowest(keys, subject, f"{name}_high", 1 - fraction, f"-{NUMBER}", "high")
    disc = quantile_disc(keys, subject, f"{name}_disc", fraction)
    ends = f"{name}_low.bound, -{name}_high.bound"  # interpolated from either end they may cross by a rounding
    bounds = beside(keys, f"{name}_low", f"{name}_high", f"LEAST({ends}) AS low", f"GREATEST({ends}) AS high")
    columns = (f"CAST({name}_disc_bounds.expected AS DOUBLE) AS expected", "ends.low", "ends.high", "least")
    joined = join(
        select(*columns_of("ends", keys), *columns, source=bounds.subquery("ends", copy=False)),
        f"{name}_disc_bounds",
        agree("ends", f"{name}_disc_bounds", keys),
    )
    return {**low, **high, **disc, f"{name}_bounds": joined, name: _clamped(keys, f"{name}_bounds")}


def _lowest(keys: list[str], subject: int, name: str, fraction: Fraction, value: str, end: str) -> Relations:
    """The lowest interpolated quantile over all numbers of free candidates, which are added smallest first.

    The quantile lies between two neighbours. A free candidate not above the lower neighbour lets it fall or
    stay, one above the upper neighbour lets it rise or stay. So the least is found where the free candidates
    come to lie between the two, the `turn`: with none, one or all of a run of equal ones taken. If they
    never do, it is found with all taken.
    """
    p, q = fraction.numerator, fraction.denominator
    up, all_ = over(keys, "ASC"), over(keys)
    columns = (f"{value} AS value", f"{end}_forced AS forced", f"{end}_free AS free")
    values = select(*keys, *columns, source=f"runs_{subject}")
    steps = select(
        *(*keys, "value", "free"),
        f"SUM(forced) {up} AS forced_at",
        f"SUM(free) {up} AS free_at",
        f"SUM(forced) {up} - forced AS forced_under",
        f"SUM(free) {up} - free AS free_under",
        f"SUM(forced) {all_} AS forced_rows",
        f"SUM(free) {all_} AS free_rows",
        source=values.subquery("candidates", copy=False),
    )
    above_lower = f"{q} * (forced_under + free_under) > {p} * (forced_rows + free_under - 1)"
    turns = per_key(
        keys,
        f"{name}_steps",
        f"MIN(free_under) FILTER (WHERE free > 0 AND {above_lower}) AS turn",
        "MAX(forced_rows) AS forced_rows",
    )
    upto_upper = f"{q} * (forced_under + turn - 1) <= {p} * ({name}_turns.forced_rows + turn - 1)"
    between = beside(keys, f"{name}_turns", f"{name}_steps", "free_under", "free_at").where(
        piece(f"free > 0 AND free_under >= turn AND {upto_upper}"), copy=False
    )
    tries = [
        *(select(*keys, f"{taken} AS taken", source=f"{name}_between") for taken in TAKEN),
        select(*keys, "turn AS taken", source=f"{name}_turns", where="NOT turn IS NULL"),
        per_key(keys, f"{name}_steps", "MAX(free_rows) AS taken"),
    ]
    all_tries = exp.union(*tries, distinct=True, copy=False).subquery("tries", copy=False)
    candidates = beside(
        keys, f"{name}_turns", "tries", "taken", f"{name}_turns.forced_rows + taken AS drawn", right=all_tries
    ).where(piece(f"{name}_turns.forced_rows + taken > 0"), copy=False)
    place = f"{p} * (drawn - 1)"
    upto = f"{q} * (forced_at + LEAST(free_at, taken))"
    tried = select(
        *columns_of(f"{name}_tries", keys),
        *("taken", "drawn"),
        f"MIN(value) FILTER (WHERE {upto} > {place}) AS before",
        f"MIN(value) FILTER (WHERE {upto} > {place} + {q - 1}) AS after",
        source=f"{name}_tries",
    )
    tried = grouped(join(tried, f"{name}_steps", agree(f"{name}_tries", f"{name}_steps", keys)))
    part = f"CAST(({place}) % {q} AS DOUBLE) / {q}"
    return {
        f"{name}_steps": steps,
        f"{name}_turns": turns,
        f"{name}_between": between,
        f"{name}_tries": candidates,
        f"{name}_tried": tried,
        name: per_key(keys, f"{name}_tried", f"MIN(before + {part} * (after - before)) AS bound"),
    }


def _clamped(keys: list[str], bounds: str) -> exp.Select:
    inside = "CASE WHEN NOT expected IS NULL THEN LEAST(GREATEST(expected, low), high) END AS estimate"
    columns = (inside, NO_STDERR, "low", "high", "least")
    return select(*keys, *columns, source=bounds)
