"""Check what is promised of people with several rows, from the files: each in one group, and enough of them in it.

In a group of n rows, of which c hold a value, and where nobody has more than r, `l` is that c · r · l <= n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp, parse_one

from discreet.engines import Engine
from discreet.release.layouts.file import column
from discreet.release.manifest import Promise
from discreet.release.verify.check import Check, check

NUMBERS = """
    SELECT COUNT(*) FILTER (WHERE :person IS NULL OR :person <> FLOOR(:person)) AS odd,
           MIN(:person) AS first, MAX(:person) AS last, COUNT(DISTINCT :person) AS people
    FROM qit
"""
GROUPS = """
    SELECT COUNT(*) FILTER (WHERE each.people < :k) AS small,
           COUNT(*) FILTER (WHERE held.top * each.most * CAST(:l AS INT128) > held.size) AS alike
    FROM (
      SELECT grp, COUNT(*) AS people, MAX(own) AS most
      FROM (SELECT :group AS grp, :person AS who, COUNT(*) AS own FROM qit GROUP BY :group, :person) AS persons
      GROUP BY grp
    ) AS each
    JOIN (
      SELECT grp, CAST(MAX(n) AS INT128) AS top, CAST(SUM(n) AS INT128) AS size FROM st GROUP BY grp
    ) AS held ON each.grp = held.grp
"""

BOXES = """
    SELECT COUNT(*) FILTER (WHERE of.grp IS NULL OR held.grp IS NULL) AS unlike,
           COUNT(*) FILTER (WHERE of.people < 1 OR of.most < 1 OR of.most + of.people - 1 > held.size
                            OR CAST(of.people AS INT128) * of.most < held.size) AS impossible,
           COUNT(*) FILTER (WHERE of.people < :k) AS small,
           COUNT(*) FILTER (WHERE held.top * of.most * CAST(:l AS INT128) * :lots > held.size) AS alike
    FROM (SELECT :group AS grp, :people AS people, :most AS most FROM "people file") AS of
    FULL JOIN (
      SELECT grp, CAST(MAX(n) AS INT128) AS top, CAST(SUM(n) AS INT128) AS size FROM st GROUP BY grp
    ) AS held ON of.grp = held.grp
"""

TOLD = {
    "k": "every group has at least {} people",
    "l": "no sensitive value is held by more than 1/{} of a group's people",
}


def people(engine: Engine, promise: Promise) -> Iterator[Check]:
    """The checks of a release whose people may have several rows; of any other there is none."""
    if promise.person is None:
        return
    names = {"person": column(promise.person), "group": column(promise.group)}
    odd, first, last, number = _figures(engine, NUMBERS, names)
    alike = exp.select(*map(column, (*promise.quasi, promise.group, promise.person))).distinct().from_("qit")
    whole = exp.select(exp.Count(this=exp.Star())).from_(alike.subquery("persons"))
    wrong = None
    if odd or (first, last, number) != (1, promise.people, promise.people):
        wrong = "people are not numbered from 1 without a gap, or are not as many as the manifest says"
    elif int(engine.run(whole).column(0)[0].as_py()) != promise.people:
        wrong = "somebody is in two groups, or has rows with different quasi-identifiers"
    yield check("people", wrong, "every person is in one group, with the same quasi-identifiers in every row")
    asked = {name: exp.Literal.number(int(promise.guarantee.get(name, 0))) for name in ("k", "l")}
    broken = dict(zip(("k", "l"), _figures(engine, GROUPS, {**names, **asked}), strict=True))
    for name, threshold in promise.guarantee.items():
        fault = f"{broken[name]} groups break it" if broken[name] else None
        yield check(f"people {name} = {threshold}", fault, TOLD[name].format(threshold))


def people_of_boxes(engine: Engine, promise: Promise, group: str, people: str, most: str) -> Iterator[Check]:
    """The checks of a release that shows of every group how many people it has and the most rows of one, and no person.

    That nobody has rows in more lots than it says, or in two groups of one, no file can show.
    """
    names = {"group": column(group), "people": column(people), "most": column(most)}
    asked = {name: exp.Literal.number(int(promise.guarantee.get(name, 0))) for name in ("k", "l")}
    lots = exp.Literal.number(promise.lots or 1)
    unlike, impossible, small, alike = _figures(engine, BOXES, {**names, **asked, "lots": lots})
    wrong = None
    if unlike:
        wrong = "it does not say of every group, and of no other, how many people it has"
    elif impossible:
        wrong = f"{impossible} groups cannot have so many people, or one with so many rows"
    yield check("people", wrong, "every group has as many people as its rows can be of")
    broken = {"k": small, "l": alike}
    for name, threshold in promise.guarantee.items():
        fault = f"{broken[name]} groups break it" if broken[name] else None
        yield check(f"people {name} = {threshold}", fault, TOLD[name].format(threshold))


def _figures(engine: Engine, sql: str, names: Mapping[str, exp.Expr]) -> list[int]:
    found = engine.run(exp.replace_placeholders(parse_one(sql, dialect="duckdb"), **names))
    return [int(each[0].as_py() or 0) for each in found.columns]
