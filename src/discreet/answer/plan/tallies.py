"""What draws take of the candidates: how many (`tally`), and which values at best and at worst (`runs`)."""

from __future__ import annotations

from sqlglot import exp

from discreet.answer.plan.context import Context, Subject
from discreet.answer.plan.sql import Relations, agree, aliased, columns_of, grouped, join, select


def tallies(context: Context) -> Relations:
    """`tally` of every subject, and `runs` of those that have values."""
    found: Relations = {}
    for subject in context.subjects.values():
        found[f"tally_{subject.number}"] = _tally(context, subject)
        if subject.argument is not None:
            found[f"runs_{subject.number}"] = _runs(context, subject)
    return found


def taken(context: Context) -> tuple[str, ...]:
    """How many of the candidates that count all draws take, at least, at most (of one draw) and as expected.

    The variance of that is `per_mean`; of the sum of these candidates it is
    per_spread * spread + per_mean * mean * mean.
    """
    fewest = "fewest" if context.bounded else "matched"
    forced, most = f"GREATEST({fewest} + total - size, 0)", "LEAST(matched, total)"
    share = "(CAST(total AS DOUBLE) / size)"
    draw = "copies * matched * CAST(size - matched AS DOUBLE) / GREATEST(size - 1, 1)"
    expected = f"copies * matched * {share}"
    per_spread, per_mean = f"{draw} / size", f"{draw} * {share} * (1 - {share})"
    if context.measured:
        alone = "(overlap * (1 - overlap) - tie)"
        expected, per_spread = "copies * overlap * total", f"copies * {alone}"
        certain = f"{forced} = {most}"  # which rounding must not hide
        per_mean = f"CASE WHEN {certain} THEN 0 ELSE copies * total * ({alone} + tie * total) END"
    return (
        f"{forced} AS forced",
        f"{most} AS most",
        f"{expected} AS expected",
        f"{per_spread} AS per_spread",
        f"{per_mean} AS per_mean",
    )


def _tally(context: Context, subject: Subject) -> exp.Select:
    drawn = ("population", "size", "copies", *context.matches.columns)
    found = (*context.keys(subject.side), "total", *(("mean", "spread") if subject.numeric else ()))
    tally = select(
        *columns_of("draws", [*context.other_keys(subject.side), *drawn]),
        *columns_of("populations", found),
        *taken(context),
        source=aliased(subject.draws, "draws"),
        where="LEAST(matched, total) > 0",
    )
    populations = aliased(f"populations_{subject.number}", "populations")
    return join(tally, populations, "draws.population = populations.population")


def _runs(context: Context, subject: Subject) -> exp.Select:
    def among(wanted: str, before: str) -> str:
        return f"LEAST(GREATEST({wanted} - ({before}), 0), n)"

    weight = "overlap * n" if context.measured else "CAST(matched AS DOUBLE) * n / size"
    runs = select(
        *columns_of("tally", context.keys()),
        "value",
        f"SUM(copies * {weight}) AS weight",
        *(
            column
            for end, before in (("low", "below"), ("high", "total - below - n"))
            for column in (
                f"SUM(copies * {among('forced', before)}) AS {end}_forced",
                f"SUM(copies * ({among('most', before)} - {among('forced', before)})) AS {end}_free",
            )
        ),
        source=aliased(f"tally_{subject.number}", "tally"),
    )
    same = agree("tally", "candidates", context.keys(subject.side), "tally.population = candidates.population")
    return grouped(join(runs, aliased(f"candidates_{subject.number}", "candidates"), same))
