"""Check what is promised of people with several rows, from the files: each in one group, and enough of them in it.

In a group of n rows, where nobody has more than r: `l` is that c · r · l <= n for the c rows of any value; `distinct_l`
is that (c + 1) · r <= n for those of any l - 1 values, and `e` for those within any shorter range; `beta` is that
c / n <= (1 + beta) · p / (1 + (r - 1) · p) for a value that has the share p of all rows, unless (1 + beta) · p >= 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil

import numpy as np
import pyarrow as pa
from sqlglot import exp, parse_one

from discreet.engines import Engine
from discreet.release.layouts.file import column
from discreet.release.manifest import Promise
from discreet.release.verify.check import Check, check
from discreet.values.columns import kind_of

NUMBERS = """
    SELECT COUNT(*) FILTER (WHERE :person IS NULL OR :person <> FLOOR(:person)) AS odd,
           MIN(:person) AS first, MAX(:person) AS last, COUNT(DISTINCT :person) AS people
    FROM qit
"""
CROWDS = """
    SELECT grp, COUNT(*) AS people, CAST(MAX(own) AS INT128) AS most
    FROM (SELECT :group AS grp, :person AS who, COUNT(*) AS own FROM qit GROUP BY :group, :person) AS persons
    GROUP BY grp
"""
CROWDS_OF_BOXES = 'SELECT :group AS grp, :people AS people, CAST(:most AS INT128) AS most FROM "people file"'
POSSIBLE = """
    SELECT COUNT(*) FILTER (WHERE crowds.grp IS NULL OR held.grp IS NULL) AS unlike,
           COUNT(*) FILTER (WHERE crowds.people < 1 OR crowds.most < 1 OR crowds.most + crowds.people - 1 > held.size
                            OR CAST(crowds.people AS INT128) * crowds.most < held.size) AS impossible
    FROM crowds
    FULL JOIN (SELECT grp, CAST(SUM(n) AS INT128) AS size FROM st GROUP BY grp) AS held ON crowds.grp = held.grp
"""
BREAKING = """
    SELECT COUNT(*) AS groups
    FROM (
      SELECT grp
      FROM (
        SELECT st.grp, CAST(n AS INT128) AS n, people, most,
               CAST(SUM(n) OVER (PARTITION BY st.grp) AS INT128) AS size,
               CAST(SUM(n) OVER (PARTITION BY value) AS INT128) AS held, CAST(SUM(n) OVER () AS INT128) AS everybody,
               ROW_NUMBER() OVER (PARTITION BY st.grp ORDER BY n DESC) AS place
        FROM st JOIN crowds ON st.grp = crowds.grp
      ) AS entries
      GROUP BY grp HAVING :breach
    ) AS broken
"""
PLACES = """
    SELECT CAST(st.grp AS BIGINT) AS grp, :place AS place, CAST(n AS BIGINT) AS n, CAST(most AS BIGINT) AS most
    FROM st JOIN crowds ON st.grp = crowds.grp ORDER BY grp, place
"""
FEW = "(COALESCE(SUM(n) FILTER (WHERE place < :t), 0) + 1) * MAX(most) > MAX(size)"
FREQUENT = """
    BOOL_OR(held * :above < everybody * :below AND n * (everybody + (most - 1) * held) * :below > size * held * :above)
"""
P, Q = (f"CAST({part} AS DOUBLE) / CAST({of} AS DOUBLE)" for part, of in (("held", "everybody"), ("n", "size")))
SURPRISING = f"BOOL_OR(held < everybody AND {Q} * (1 + (most - 1) * ({P})) > {P} * (1 - LN({P})) * 1.000000000001)"
# What breaks a promise about people, and what is promised; ranges are looked at apart.
PROMISES = {
    "k": ("MAX(people) < :t", "every group has at least {t} people"),
    "l": (
        "MAX(n) * MAX(most) * CAST(:t AS INT128) * :lots > MAX(size)",
        "no sensitive value is held by more than 1/{t} of a group's people",
    ),
    "distinct_l": (FEW, "in every group, somebody holds none of any {less} sensitive values"),
    "e": ("", "in every group, somebody holds no sensitive value in any range shorter than {t}"),
    "beta": (FREQUENT, "nobody is believed to hold a value with more than {more} times its probability in the table"),
    "enhanced_beta": (
        f"{FREQUENT} OR {SURPRISING}",
        "nobody is believed to hold a value with more than {more}, or 1 - ln p, times its probability in the table",
    ),
}
LARGEST = 10**12  # denominators, so that products stay within 128 bits


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
    engine.load("crowds", _query(CROWDS, names), keep=True)
    yield from _promises(engine, promise)


def people_of_boxes(engine: Engine, promise: Promise, group: str, people: str, most: str) -> Iterator[Check]:
    """The checks of a release that shows of every group how many people it has and the most rows of one, and no person.

    That nobody has rows in more lots than it says, or in two groups of one, no file can show.
    """
    names = {"group": column(group), "people": column(people), "most": column(most)}
    engine.load("crowds", _query(CROWDS_OF_BOXES, names), keep=True)
    unlike, impossible = _figures(engine, POSSIBLE, {})
    wrong = None
    if unlike:
        wrong = "it does not say of every group, and of no other, how many people it has"
    elif impossible:
        wrong = f"{impossible} groups cannot have so many people, or one with so many rows"
    yield check("people", wrong, "every group has as many people as its rows can be of")
    yield from _promises(engine, promise)


def _promises(engine: Engine, promise: Promise) -> Iterator[Check]:
    """Every promise about the people of each group."""
    lots = exp.Literal.number(promise.lots or 1)
    for name, threshold in promise.guarantee.items():
        breach, told = PROMISES["distinct_l" if name == "k" and "e" in promise.guarantee else name]
        more = 1 + Fraction(repr(threshold)).limit_denominator(LARGEST)
        if name == "e":
            broken = _narrow(engine, threshold)
        else:
            most = min(more, Fraction(LARGEST))
            numbers = {"below": most.denominator, "above": most.numerator, "t": threshold}
            given = {key: exp.convert(number) for key, number in numbers.items()}
            [broken] = _figures(engine, BREAKING.replace(":breach", breach), {**given, "lots": lots})
        fault = f"{broken} groups break it" if broken else None
        factor = float(more) if more.denominator > 1 else int(more)
        yield check(f"people {name} = {threshold}", fault, told.format(t=threshold, less=threshold - 1, more=factor))


def _narrow(engine: Engine, shortest: float) -> int:
    """How many groups have too many rows within some range that is too short."""
    place, steps = _place(engine.schema("st").field("value").type, shortest)
    found = engine.run(parse_one(PLACES.replace(":place", place), dialect="duckdb"))
    groups, places, counts, most = (each.to_numpy() for each in found.columns)
    starts = np.flatnonzero(np.diff(groups, prepend=groups[:1] - 1))
    ends = np.repeat(np.append(starts[1:], groups.size), np.diff(np.append(starts, groups.size)))
    here = np.arange(groups.size)
    low, high = here.copy(), ends.copy()  # the first entry that is far enough lies between them: halve what is open
    while (low < high).any():
        middle = (low + high) // 2
        far = places[np.minimum(middle, groups.size - 1)] - places >= steps
        low, high = np.where((low < high) & ~far, middle + 1, low), np.where((low < high) & far, middle, high)
    upto = np.concatenate([[0], np.cumsum(counts)])
    inside = np.maximum.reduceat(upto[low] - upto[here], starts)
    return int(np.count_nonzero((inside + 1) * most[starts] > np.add.reduceat(counts, starts))) if steps > 0 else 0


def _place(type_: pa.DataType, shortest: float) -> tuple[str, float]:
    """Where a value lies from the smallest on, in SQL, and how far a range reaches there; of dates in days."""
    exact = Fraction(repr(shortest))
    match kind_of(type_):
        case "float":
            return "CAST(value AS DOUBLE)", float(shortest)
        case "timestamp":
            unit, day = ("NS", 86_400 * 10**9) if type_.unit == "ns" else ("US", 86_400 * 10**6)
            value, exact = f"CAST(EPOCH_{unit}(value) AS INT128)", exact * day
        case "date":
            value = "DATE_DIFF('day', DATE '1970-01-01', CAST(value AS DATE))"
        case "decimal":
            value, exact = f"CAST(value * {10**type_.scale} AS INT128)", exact * 10**type_.scale
        case _:
            value = "CAST(value AS INT128)"
    return f"CAST({value} - MIN({value}) OVER () AS BIGINT)", ceil(exact)


def _query(sql: str, names: Mapping[str, exp.Expr]) -> exp.Expr:
    return exp.replace_placeholders(parse_one(sql, dialect="duckdb", into=exp.Select), **names)


def _figures(engine: Engine, sql: str, names: Mapping[str, exp.Expr]) -> list[int]:
    found = engine.run(_query(sql, names))
    return [int(each[0].as_py() or 0) for each in found.columns]
