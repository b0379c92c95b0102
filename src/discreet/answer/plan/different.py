"""How many different values there are among what draws take: COUNT(DISTINCT x).

Of a population of N candidates n hold a value v, and m are drawn. Then v is absent from the draw with probability
C(N-n, m) / C(N, m), or where each candidate is drawn by itself with probability p (see `boxes`), (1-p)^n. Draws from
different groups are independent, so v is present somewhere with probability P(v) = 1 - the product of these, and

    estimate  the sum of P(v) over all values
    stderr    the root of the sum of P(v)·(1 - P(v)). How many candidates a draw takes of each value is negatively
              associated (Joag-Dev & Proschan, 1983): no two values are present together more often than by chance.
              So it is never too small, and right where candidates are drawn each by itself
    low       the values that some draw must take, and of the draw that needs most others beside these: as many; or as
              many values as all draws together need, if of each they take as often as they can
    high      the values that some draw may take, but no more than all draws can take: of each the smaller of the number
              that it takes and the number of its values

A draw must take v if fewer than m candidates hold something else, and `forced` candidates that count at least; so many
values as those that most candidates hold are enough for that. Both bounds are the extremes of a single group. Over
several they hold, but nobody says that the draws of all groups can be the same values: to find out is set cover.
Where several margins meet (`margins`), the estimate takes candidates as drawn each by itself, and has no stderr.
Cost: the values of every population that is drawn from, sorted.
Claim: different_values_equal_brute_force — the estimate is the mean over all assignments, no assignment is outside of
low and high, and of one group they are the extremes; stderr is no smaller than the deviation.
"""

from __future__ import annotations

from discreet.answer.plan.context import Context, Subject
from discreet.answer.plan.sql import Relations, agree, aliased, beside, columns_of, grouped, join, per_key, select

NEVER = "-1e9"  # the logarithm of what is no probability at all


def different(context: Context, subject: Subject, name: str) -> Relations:
    """The relations that count different values, the last of them under this name."""
    keys, draws = context.keys(), f"{name}_draws"
    tied = "CASE WHEN fewest < matched AND ABS(tie) > 1e-9 THEN 1 ELSE 0 END" if context.measured else "0"
    drawn = select("*", f"{tied} AS tied", "ROW_NUMBER() OVER () AS draw", source=f"tally_{subject.number}")
    held = select(
        *columns_of("tally", [*keys, "draw", "copies", "forced", "most", "tied"]),
        *("value", "n", f"{_absent(context)} AS absent"),
        "CASE WHEN forced + n > total THEN 1 ELSE 0 END AS sure",
        source=aliased(drawn, "tally"),
    )
    same = agree("tally", "candidates", context.keys(subject.side), "tally.population = candidates.population")
    values = per_key(
        [*keys, "value"],
        f"{name}_held",
        "1 - EXP(SUM(copies * absent)) AS present",
        "MAX(sure) AS sure",
        "MAX(tied) AS tied",
        "SUM(copies * LEAST(n, most)) AS room",
    )
    on_value = f"{name}_held.value = {name}_values.value"
    rest = select(
        *columns_of(f"{name}_held", [*keys, "draw", "copies", "forced", "most", "n"]),
        f"{name}_values.sure",
        f"forced - SUM({name}_values.sure * n) OVER (PARTITION BY draw) AS rest",
        f"SUM((1 - {name}_values.sure) * n) OVER (PARTITION BY draw ORDER BY {name}_values.sure, n DESC"
        " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - n AS before",
        source=f"{name}_held",
    )
    by = "".join(f"{name}_values.{key}, " for key in keys)
    before = f"SUM(room) OVER ({f'PARTITION BY {by[:-2]} ' if keys else ''}ORDER BY room DESC ROWS BETWEEN UNBOUNDED"
    before += " PRECEDING AND CURRENT ROW) - room"
    low = "GREATEST(sure + others, enough)"
    needed = "SUM(CASE WHEN sure = 0 AND before < rest THEN 1 ELSE 0 END) AS others"
    of_draws = grouped(
        select(*keys, "draw", "copies", "forced", "most", needed, "COUNT(*) AS kinds", source=f"{name}_rest")
    )
    return {
        f"{name}_held": join(held, aliased(f"candidates_{subject.number}", "candidates"), same),
        f"{name}_values": values,
        f"{name}_rest": join(rest, f"{name}_values", agree(f"{name}_held", f"{name}_values", keys, on_value)),
        f"{name}_each": of_draws,
        draws: per_key(
            keys,
            f"{name}_each",
            "MAX(others) AS others",
            "SUM(copies * LEAST(most, kinds)) AS most",
            "CAST(SUM(copies * forced) AS BIGINT) AS least",
        ),
        f"{name}_count": per_key(
            keys,
            f"{name}_values",
            "SUM(present) AS expected",
            "CASE WHEN MAX(tied) = 0 THEN SQRT(SUM(GREATEST(present * (1 - present), 0))) END AS stderr",
            *("SUM(sure) AS sure", "COUNT(*) AS possible"),
        ),
        f"{name}_rooms": beside(keys, f"{name}_values", draws, "room", f"{draws}.least", f"{before} AS before"),
        f"{name}_enough": per_key(keys, f"{name}_rooms", "SUM(CASE WHEN before < least THEN 1 ELSE 0 END) AS enough"),
        name: join(
            beside(
                keys,
                f"{name}_count",
                draws,
                f"LEAST(GREATEST(expected, {low}), possible, most) AS estimate",
                "stderr",
                f"CAST({low} AS BIGINT) AS low",
                "CAST(LEAST(possible, most) AS BIGINT) AS high",
                "least",
            ),
            f"{name}_enough",
            agree(f"{name}_count", f"{name}_enough", keys),
        ),
    }


def _absent(context: Context) -> str:
    """The logarithm of the probability that a draw takes none of the n candidates of a value."""
    by_chance = (
        f"CASE WHEN matched + n > size THEN {NEVER} ELSE LGAMMA(size - n + 1) - LGAMMA(size - n - matched + 1)"
        " - LGAMMA(size + 1) + LGAMMA(size - matched + 1) END"
    )
    if context.measured:
        alone = f"CASE WHEN overlap < 1 THEN n * LN(1 - overlap) ELSE {NEVER} END"
        return f"CASE WHEN fewest = matched THEN {by_chance} ELSE {alone} END"
    return "CAST(0 AS DOUBLE)" if context.bounded else by_chance
