"""The promise of a release, re-derived by SQL from its tables, where these lie in a server.

For what can be counted in groups: k, l, distinct_l, and e where values are numbers. It sees the relations `qit` and
`st` of a layout and what is promised, and nothing of how groups were made. That a value stands once in a group is what
a unique index of the server says, but for a missing one.
Claim: tables_are_verified_in_the_server — tables that break the promise, or do not fit together, are found.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.engines import Engine
from discreet.errors import VerificationError
from discreet.release.layouts import LAYOUTS
from discreet.release.layouts.file import column, named
from discreet.release.manifest import Promise

CAN = frozenset({"k", "l", "distinct_l", "e"})


def check_tables(engine: Engine, promise: Promise) -> None:
    """Raise unless the tables, each known to the engine as `NAME file`, keep the promise."""
    for name, query in LAYOUTS[promise.publication].relations(promise).items():
        engine.load(name, query, keep=False)
    groups, rows, apart, *broken = (int(column[0].as_py() or 0) for column in engine.run(_figures(promise)).columns)
    wrong = [
        f"a group breaks {name} = {least}" for (name, least), n in zip(_promised(promise), broken, strict=True) if n
    ]
    if (groups, rows) != (promise.groups, promise.rows):
        wrong.append("rows and groups are not as many as the manifest says")
    if apart:
        wrong.append("the tables do not have the same groups")
    if wrong:
        raise VerificationError(f"the release was not written because it did not verify: {'; '.join(wrong)}")


def _figures(promise: Promise) -> exp.Select:
    """How many groups and rows there are, and how many groups are not the same in both tables, or break a promise."""
    group = column(promise.group)
    rows = exp.select(exp.alias_(group, "grp"), "COUNT(*) AS rows").from_(named("qit")).group_by(group.copy())
    same = exp.EQ(this=exp.column("grp", "a"), expression=exp.column("grp", "b"))
    apart = exp.condition("a.rows IS NULL OR b.size IS NULL OR a.rows <> b.size OR b.different > b.present + 1")
    broken = [_below(promise, name, least) for name, least in _promised(promise)]
    found = exp.select("COUNT(b.grp)", "SUM(b.size)", *(exp.CountIf(this=each) for each in (apart, *broken)))
    return found.from_(rows.subquery("a")).join(_groups(promise).subquery("b"), on=same, join_type="full")


def _groups(promise: Promise) -> exp.Select:
    """The size of every group, how many values it has, how often the most frequent, and from where to where they go."""
    figures = ["grp", "SUM(n) AS size", "COUNT(*) AS different", "MAX(n) AS most", "COUNT(value) AS present"]
    if "e" in promise.guarantee:
        figures.append("MAX(value + 0.0) - MIN(value + 0.0) AS range")  # exact: integers become decimals, floats double
    return exp.select(*figures).from_(named("st")).group_by("grp")


def _promised(promise: Promise) -> list[tuple[str, int | float]]:
    return sorted(promise.guarantee.items())


def _below(promise: Promise, name: str, least: float) -> exp.Expr:
    """Whether a group breaks one of the promises."""
    threshold, figure = exp.Literal.number(repr(least)), "size"
    if name == "l":
        return exp.GT(
            this=exp.Mul(this=exp.column("most", "b"), expression=threshold), expression=exp.column("size", "b")
        )
    if name == "distinct_l" or (name == "k" and "e" in promise.guarantee):  # beside e, k counts values and not rows
        figure = "different"
    return exp.LT(this=exp.column("range" if name == "e" else figure, "b"), expression=threshold)
