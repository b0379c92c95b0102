"""SUM of the sensitive values that a comparison lets through, where a server keeps their sums (see `by_group`).

Of the N values of a group in order, those that satisfy a comparison with constants are neighbours: `total` values after
the first `below`. A draw of m takes `forced` of them at least and `most` at most (`tallies`). So at worst it takes the
smallest `forced` of them, and of the next ones those that are less than nothing; at best the largest, and those that
are more. Sums of neighbours, and of their squares, are differences of the sums that are kept: exact, or it is not done.

Claim: groups_at_once_change_nothing — answers are those without what the server keeps.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.answer.plan.context import Context
from discreet.answer.plan.sql import aliased, columns_of, join, once, per_key, select
from discreet.answer.plan.tallies import taken

BELOW: dict[type[exp.Expr], str] = {  # how many values of a group are too small for a comparison
    exp.EQ: "AT_MOST(kept.sorted, low) - EQUAL_TO(kept.sorted, low)",
    exp.LTE: "0",
    exp.LT: "0",
    exp.GT: "AT_MOST(kept.sorted, low)",
    exp.GTE: "AT_MOST(kept.sorted, low) - EQUAL_TO(kept.sorted, low)",
    exp.Between: "AT_MOST(kept.sorted, low) - EQUAL_TO(kept.sorted, low)",
}
NEGATIVE = "AT_MOST(kept.sorted, 0)"  # or zero, which adds nothing
LOWEST = "LEAST(GREATEST(forced, negative - below), most)"  # how many values are taken at worst, and at best
HIGHEST = "LEAST(GREATEST(forced, total - GREATEST(negative - below, 0)), most)"
DEVIATION = "total * CAST(squared AS BIGINT) - CAST(added AS BIGINT) * CAST(added AS BIGINT)"  # times `total`: exact


def figures(context: Context, drawn: exp.Select) -> exp.Select:
    """From draws, each with its `signature`, `total`, `below`, and how many of all values are `negative`."""
    keys = context.keys()
    known = ("signature", "copies", "total", "below", "negative")
    slices = once(
        select(*keys, *known, *taken(context), source=aliased(once(drawn), "drawn"), where="LEAST(matched, total) > 0")
    )
    sums = once(
        join(
            select(
                *columns_of("slices", keys),
                *("copies", "total", "forced", "expected", "per_spread", "per_mean"),
                "smallest[below + total + 1] - smallest[below + 1] AS added",
                "squares[below + total + 1] - squares[below + 1] AS squared",
                f"smallest[below + {LOWEST} + 1] - smallest[below + 1] AS low",
                f"smallest[below + total + 1] - smallest[below + total - {HIGHEST} + 1] AS high",
                source=aliased(slices, "slices"),
            ),
            aliased("signature_squares", "kept"),
            "slices.signature = kept.signature",
        )
    )
    found = per_key(
        keys,
        "sums",
        "SUM(copies * forced) AS least",
        "SUM(expected * added / total) AS total",
        "SUM(copies * low) AS low",
        "SUM(copies * high) AS high",
        f"SUM((per_spread * ({DEVIATION}) + per_mean * added * added / total) / total) AS variance",
    )
    found.set("from_", exp.From(this=aliased(sums, "sums")))
    return found
