"""Variance and standard deviation of what draws take, by moments.

Each value is expected `weight` times in the draws; W is the sum of weights, R the mean and V the variance of this
expected distribution, and s the stderr of AVG. Then

    estimate  V - s², exactly the mean of VAR_POP where it is certain how many rows match: E[Σx²]/n - E[(Σx)²]/n².
              For VAR_SAMP times W/(W-1); STDDEV is the root, of estimate and of bounds
    stderr    that of the mean of (x-R)², as of any AVG (the delta method); of STDDEV divided by twice the estimate

A variance is the mean of (x-c)² at its own mean c; at any other c that mean is larger. So it is at most the largest
mean of (x-c)² that draws can have, whatever c: of CENTERS such c, the smallest of these is `high`. And if the mean lies
between a and b, it is at least the smallest mean of the squared distance from [a, b]: the range that AVG can have is
cut into PIECES, and the least of all is `low`. The extremes of these means are found as those of AVG, the candidates
of each population being sorted by their squares. Both bounds hold; they are not the extremes, which would take a
search over all means. With squares y added up over n rows, VAR_POP is bounded by Σy/n and VAR_SAMP by Σy/(n-1).
Cost: CENTERS + PIECES times that of AVG.
Claim: spreads_equal_brute_force — where it is certain how many rows match, the estimate of a variance is the mean over
all assignments; no assignment is outside of low and high.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from discreet.answer.plan.context import Context, Subject
from discreet.answer.plan.sql import Relations, agree, aliased, beside, columns_of, grouped, join, per_key, select
from discreet.answer.question.question import OF_A_SAMPLE, Aggregate

PIECES, CENTERS = 8, 4


class _Kind(NamedTuple):
    """What tells the four apart: the rows that the squares are not divided by, and whether there is a root."""

    less: int
    root: bool

    def of(self, value: str) -> str:
        """A variance as this one has it."""
        return f"SQRT({value})" if self.root else value


def spread(context: Context, aggregate: Aggregate, subject: Subject, name: str) -> Relations:
    """The relations of one aggregate, beside those of its mean, which are called `NAME_avg`."""
    keys, kind = context.keys(), _Kind(int(aggregate.function in OF_A_SAMPLE), aggregate.function.startswith("stddev"))
    return {
        f"{name}_centers": _centers(keys, name),
        f"{name}_squares": _squares(context, subject, name),
        f"{name}_taken": _taken(keys, name),
        f"{name}_sums": _sums(keys, name),
        f"{name}_ends": _ends(keys, name, kind.less),
        f"{name}_bounds": per_key(
            keys,
            f"{name}_ends",
            f"MIN(smallest) FILTER (WHERE part < {PIECES}) AS low",
            f"MIN(largest) FILTER (WHERE part >= {PIECES}) AS high",
        ),
        **_moments(keys, name),
        name: _answer(keys, name, kind),
    }


def _centers(keys: list[str], name: str) -> exp.Select:
    """Pieces of the range of the mean, from a to b, then single centers, the last of them the estimate."""
    shares = [(i, i / PIECES, (i + 1) / PIECES) for i in range(PIECES)]
    shares += [(PIECES + i - 1, i / CENTERS, i / CENTERS) for i in range(1, CENTERS)]
    parts = exp.values([*shares, (PIECES + CENTERS - 1, 0.0, 0.0)], alias="parts", columns=["part", "first", "last"])
    middle = "COALESCE(estimate, (low + high) / 2)"
    return join(
        select(
            *(*keys, "part"),
            *(
                f"CASE WHEN part = {PIECES + CENTERS - 1} THEN {middle} ELSE low + {share} * (high - low) END AS {end}"
                for end, share in (("a", "first"), ("b", "last"))
            ),
            source=f"{name}_avg",
        ),
        parts,
        exp.true(),
    )


def _squares(context: Context, subject: Subject, name: str) -> exp.Select:
    """Beside every candidate of a draw its squared distance `y` from each piece and center."""
    keys, number = context.keys(), "CAST(candidates.value AS DOUBLE)"
    drawn = select("*", "ROW_NUMBER() OVER () AS draw", source=f"tally_{subject.number}")
    columns = ("draw", "copies", "forced", "most", "total", "expected", "per_spread", "per_mean")
    squares = select(
        *columns_of("tally", [*keys, *columns]),
        *("part", "n", f"POWER(GREATEST(a - {number}, {number} - b, 0), 2) AS y"),
        source=aliased(drawn, "tally"),
    )
    same = agree("tally", "candidates", context.keys(subject.side), "tally.population = candidates.population")
    squares = join(squares, aliased(f"candidates_{subject.number}", "candidates"), same)
    return join(squares, aliased(f"{name}_centers", "centers"), agree("tally", "centers", keys))


def _taken(keys: list[str], name: str) -> exp.Select:
    """How often the draws of a key must take each square, and how often more they may; in pieces the smallest first."""
    order = f"CASE WHEN part < {PIECES} THEN y ELSE -y END"
    window = f"OVER (PARTITION BY part, draw ORDER BY {order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    columns = ("part", "copies", "forced", "most", "n", "y", f"{order} AS place")
    before = select(*keys, *columns, f"SUM(n) {window} - n AS before", source=f"{name}_squares")
    forced, most = (f"LEAST(GREATEST({each} - before, 0), n)" for each in ("forced", "most"))
    return grouped(
        select(
            *(*keys, "part", "place", "y"),
            *(f"SUM(copies * {forced}) AS forced", f"SUM(copies * ({most} - {forced})) AS free"),
            source=before.subquery("before", copy=False),
        )
    )


def _sums(keys: list[str], name: str) -> exp.Select:
    """All forced squares, and the free ones up to each."""
    by = ", ".join([*keys, "part"])
    every = f"OVER (PARTITION BY {by})"
    upto = f"OVER (PARTITION BY {by} ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    return select(
        *(*keys, "part", "y", "free"),
        f"SUM(y * forced) {every} + SUM(y * free) {upto} AS squares",
        f"SUM(forced) {every} + SUM(free) {upto} AS rows_taken",
        source=f"{name}_taken",
    )


def _ends(keys: list[str], name: str, less: int) -> exp.Select:
    """The extremes of squares per row; while equal ones are added the quotient rises or falls, so the ends will do."""
    start = "GREATEST(rows_taken - free, 2)"
    last = f"squares / NULLIF(rows_taken - {less}, 0)"
    first = f"(squares - y * (rows_taken - {start})) / ({start} - {less})"
    enough = "FILTER (WHERE rows_taken >= 2)"
    smallest, largest = f"MIN(LEAST({first}, {last})) {enough}", f"MAX(GREATEST({first}, {last})) {enough}"
    if not less:  # one row does not spread
        smallest = f"CASE WHEN MIN(rows_taken - free) > 1 THEN {smallest} ELSE 0 END"
        largest = f"COALESCE({largest}, 0)"
    return per_key([*keys, "part"], f"{name}_sums", f"{smallest} AS smallest", f"{largest} AS largest")


def _moments(keys: list[str], name: str) -> Relations:
    """W (`rows_expected`), V (`plain`), and the variance of the mean of (x-R)²."""
    center = f"part = {PIECES + CENTERS - 1}"
    columns = ("draw", "expected", "per_spread", "per_mean", "SUM(n * y) / SUM(n) AS mean", "SUM(n * y * y) AS power")
    draws = grouped(select(*keys, *columns, "SUM(n) AS total", source=f"{name}_squares", where=center))
    around = "per_spread * GREATEST(power - total * mean * mean, 0) + per_mean * (mean - plain) * (mean - plain)"
    error = beside(
        keys,
        f"{name}_draws",
        f"{name}_plain",
        f"SUM({around}) / NULLIF(MAX(rows_expected) * MAX(rows_expected), 0) AS error",
    )
    if keys:
        error.set("group", exp.Group(expressions=columns_of(f"{name}_draws", keys)))
    return {
        f"{name}_draws": draws,
        f"{name}_plain": per_key(
            keys,
            f"{name}_draws",
            "SUM(expected) AS rows_expected",
            "SUM(expected * mean) / NULLIF(SUM(expected), 0) AS plain",
        ),
        f"{name}_error": error,
    }


def _answer(keys: list[str], name: str, kind: _Kind) -> exp.Select:
    """Estimate and stderr, inside of the bounds."""
    bounds, mean = f"{name}_bounds", f"{name}_avg"
    share = f"rows_expected / NULLIF(GREATEST(rows_expected - {kind.less}, 0), 0)"
    ends = ("LEAST(low, high)", "GREATEST(low, high)")
    variance = f"GREATEST(plain - {mean}.stderr * {mean}.stderr, 0) * {share}"
    columns = (
        f"{variance} AS variance",
        f"SQRT(GREATEST(error, 0)) * {share} AS deviation",
        *(f"{bounds}.{end}" for end in ("low", "high")),
        f"GREATEST({mean}.least - {kind.less}, 0) AS least",
    )
    parts = select(*columns_of(bounds, keys), *columns, source=bounds)
    for each in (mean, f"{name}_plain", f"{name}_error"):
        join(parts, each, agree(bounds, each, keys))
    low, high = (kind.of(end) for end in ends)
    estimate = f"CASE WHEN NOT variance IS NULL THEN LEAST(GREATEST({kind.of('variance')}, {low}), {high}) END"
    deviation = "deviation"
    if kind.root:
        deviation = "CASE WHEN deviation = 0 THEN 0 ELSE deviation / NULLIF(2 * SQRT(variance), 0) END"
    return select(
        *(*keys, f"{estimate} AS estimate", f"{deviation} AS stderr", f"{low} AS low", f"{high} AS high", "least"),
        source=parts.subquery("parts", copy=False),
    )
