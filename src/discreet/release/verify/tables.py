"""The promise of a release, re-derived by SQL from its tables, where these lie in a server.

For what can be counted in groups: k, l, distinct_l, and e where values are numbers. It sees the relations `qit` and
`st` of a layout and what is promised, and nothing of how groups were made.
Claim: tables_are_verified_in_the_server — tables that break the promise, or do not fit together, are found.
"""

from __future__ import annotations

from collections.abc import Iterator

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
    wrong = [what for what, query in _faults(promise) if int(engine.run(query).column(0)[0].as_py() or 0)]
    if wrong:
        raise VerificationError(f"the release was not written because it did not verify: {'; '.join(wrong)}")


def _faults(promise: Promise) -> Iterator[tuple[str, exp.Expr]]:
    """What may be wrong, and the query that counts how often it is."""
    groups = _groups(promise)
    sizes = exp.select("COUNT(*) AS number", "COALESCE(SUM(size), 0) AS rows").from_(groups.subquery("sizes"))
    differ = f"number <> {promise.groups} OR rows <> {promise.rows}"
    yield (
        "rows and groups are not as many as the manifest says",
        exp.select(f"CASE WHEN {differ} THEN 1 END").from_(sizes.subquery("counted")),
    )
    yield "the tables do not have the same groups", _apart(promise, groups)
    broken = list(_broken(promise))
    if broken:
        query = exp.select("COUNT(*)").from_(groups.copy().subquery("each")).where(exp.or_(*broken))
        yield "a group breaks the guarantee", query


def _groups(promise: Promise) -> exp.Select:
    """The size of every group, how many values it has, how often the most frequent, and from where to where they go."""
    figures = ["grp", "SUM(n) AS size", "COUNT(*) AS different", "MAX(n) AS most"]
    query = exp.select(*figures).from_(named("st")).group_by("grp")
    if "e" in promise.guarantee:
        value = exp.column("value", quoted=False)
        ends = [end(this=exp.paren(exp.Add(this=value.copy(), expression=exp.Literal.number(0)))) for end in ENDS]
        query = query.select(exp.alias_(exp.Sub(this=ends[1], expression=ends[0]), "range"))
    return query


ENDS = (exp.Min, exp.Max)


def _apart(promise: Promise, groups: exp.Select) -> exp.Expr:
    """How many groups have another number of rows in `qit` than in `st`."""
    group = column(promise.group)
    rows = exp.select(exp.alias_(group, "grp"), "COUNT(*) AS rows").from_(named("qit")).group_by(group.copy())
    joined = exp.select("COUNT(*)").from_(rows.subquery("a"))
    same = exp.EQ(this=exp.column("grp", "a"), expression=exp.column("grp", "b"))
    joined = joined.join(groups.copy().subquery("b"), on=same, join_type="full")
    return joined.where("a.rows IS NULL OR b.size IS NULL OR a.rows <> b.size")


def _broken(promise: Promise) -> Iterator[exp.Expr]:
    """Of one group, each way in which it breaks what is promised."""
    for name, least in promise.guarantee.items():
        threshold = exp.Literal.number(repr(least))
        if name == "l":
            yield exp.GT(this=exp.Mul(this=exp.column("most"), expression=threshold), expression=exp.column("size"))
            continue
        figure = {"k": "size", "distinct_l": "different", "e": "range"}[name]
        if name == "k" and "e" in promise.guarantee:
            figure = "different"  # then it counts values, and not rows
        yield exp.LT(this=exp.column(figure), expression=threshold)
