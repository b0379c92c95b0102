"""The tables that answers are computed from, made from the files of a release when a question first needs them.

    qit               one row per person: the quasi-identifiers, or what a box shows of them, and the group
    st                per group and sensitive value: how many rows `n` hold it
    labels            of a generalized release: the values that labels of its boxes stand for
    signatures        per group: its size, and the number of its `signature`, the multiset of its values
    signature_values  per signature: each value, how many rows hold it (`n`), and how many a smaller one (`below`)

Groups with the same signature are interchangeable. Where many are alike, signatures are told apart by two sums of
64-bit hashes (by chance, a million of them agree once in 10^26 releases) and `signature_values` is tiny; else every
group is its own signature, and nothing need be made. A sample of groups tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from discreet.answer.left_out import NOBODY, LeftOut
from discreet.answer.matches.matches import Matches
from discreet.answer.plan.kept import Kept
from discreet.answer.plan.sql import aliased, piece, select
from discreet.engines import Engine
from discreet.engines.engine import Relation
from discreet.release.manifest import Promise

SAMPLE = 512  # groups that are looked at
LOOKED_AT = 1_000_000  # rows of them at most
ALIKE = 8  # of them, per signature, from which signatures pay


@dataclass(frozen=True)
class Statistics:
    """What is known of a release before any question: types of columns, whether groups are alike, what is kept."""

    types: Mapping[str, pa.DataType]
    alike: bool
    kept: Kept | None = None


@dataclass(frozen=True)
class Layout:
    """How a release is laid out: its group and sensitive columns, its tables, how rows match, and who is left out."""

    group: str
    sensitive: str | None
    base: Mapping[str, Relation]
    matches: Matches
    left_out: LeftOut = NOBODY

    def tables(self, statistics: Statistics) -> dict[str, Relation]:
        """All tables that a question may need, in order."""
        return {
            **self.base,
            **made_of(statistics),
            **{name: Relation(each, keep=True) for name, each in self.matches.tables().items()},
        }


def made_of(statistics: Statistics) -> dict[str, Relation]:
    """The tables that are made of `st`, in order."""
    texts = SIGNATURES if statistics.alike else GROUPS
    return base({name: piece(text) for name, text in texts.items()})


def base(queries: Mapping[str, exp.Expr]) -> dict[str, Relation]:
    """Tables of a release: what is joined or counted is kept, what only renames the columns of a file is not."""
    return {
        name: Relation(query, keep=bool(query.args.get("joins") or query.args.get("group")))
        for name, query in queries.items()
    }


def describe(engine: Engine, tables: Mapping[str, Relation], promise: Promise) -> Statistics:
    """Look once at a release whose files are there as `NAME file`.

    Groups of very many rows are not looked at: to count their values would be as long as to answer.
    """
    qit, st = (aliased(tables[name].query.copy(), name) for name in ("qit", "st"))
    types = {field.name: field.type for field in engine.run(select(exp.Star(), source=qit).limit(0)).schema}
    if promise.sensitive is not None:
        values = select("value", source=st.copy()).limit(0)
        types[promise.sensitive] = engine.run(values).schema.field(0).type
    if min(promise.groups, SAMPLE) * promise.rows > LOOKED_AT * promise.groups:
        return Statistics(types, alike=False)
    sample = piece(ALIKE_GROUPS)
    for table in list(sample.find_all(exp.Table)):
        table.replace(st)
    [found] = engine.run(sample).to_pylist()
    return Statistics(types, alike=found["groups"] >= ALIKE * max(found["signatures"], 1))


def ends(engine: Engine, qit: Relation, names: Sequence[str]) -> dict[str, tuple[Any, Any]]:
    """The smallest and the largest value of each of these columns that has any."""
    if not names:
        return {}
    columns = [exp.column(name, quoted=True) for name in names]
    asked = exp.select(*(end(this=column.copy()) for column in columns for end in (exp.Min, exp.Max)))
    found = [
        column[0].as_py()
        for column in engine.run(asked.from_(exp.Subquery(this=qit.query.copy(), alias="qit"))).columns
    ]
    pairs = zip(names, found[::2], found[1::2], strict=True)
    return {name: (low, high) for name, low, high in pairs if low is not None}


def needed(queries: Iterable[exp.Expr], tables: Mapping[str, Relation]) -> dict[str, Relation]:
    """Those of the tables that queries speak of, and those that these are made from, in their order."""
    wanted: set[str] = set()
    waiting = list(queries)
    while waiting:
        names = {table.name for table in waiting.pop().find_all(exp.Table)} & tables.keys() - wanted
        wanted |= names
        waiting += [tables[name].query for name in names]
    return {name: table for name, table in tables.items() if name in wanted}


ALIKE_GROUPS = f"""
    SELECT COUNT(*) AS groups, COUNT(DISTINCT one) AS signatures
    FROM (
        SELECT grp, SUM(CAST(FINGERPRINT(value, n) AS INT128)) AS one FROM st WHERE grp <= {SAMPLE} GROUP BY grp
    ) AS sample
"""  # noqa: S608
BELOW = """
    CAST(SUM(st.n) OVER (PARTITION BY {} ORDER BY st.value NULLS LAST ROWS UNBOUNDED PRECEDING) - st.n AS INTEGER)
"""
GROUPS = {
    "signatures": "SELECT grp, CAST(SUM(n) AS INTEGER) AS size, grp AS signature FROM st GROUP BY grp",
    "signature_values": f"SELECT grp AS signature, value, n, {BELOW.format('grp')} AS below FROM st",  # noqa: S608
}
SIGNATURES = {
    "group_fingerprints": """
        SELECT grp, CAST(SUM(n) AS INTEGER) AS size,
               SUM(CAST(FINGERPRINT(value, n) AS INT128)) AS one, SUM(CAST(FINGERPRINT(n, value, 1) AS INT128)) AS two
        FROM st GROUP BY grp
    """,
    "signature_groups": """
        SELECT one, two, size, MIN(grp) AS grp, CAST(ROW_NUMBER() OVER () AS INTEGER) AS signature
        FROM group_fingerprints GROUP BY one, two, size
    """,
    "signatures": """
        SELECT f.grp, f.size, s.signature FROM group_fingerprints AS f
        JOIN signature_groups AS s ON f.one = s.one AND f.two = s.two AND f.size = s.size
    """,
    "signature_values": f"""
        SELECT s.signature, st.value, CAST(st.n AS INTEGER) AS n, {BELOW.format("s.signature")} AS below
        FROM signature_groups AS s JOIN st ON st.grp = s.grp
    """,  # noqa: S608
}
