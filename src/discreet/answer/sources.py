"""The tables that answers are computed from, made once from the files of a release.

    qit         the quasi-identifier table as it was published
    signatures  per group: its size, and the number of its `signature`, the multiset of its values
    help        per signature: each value, how many rows hold it (`n`), how many hold a smaller one
                (`below`), how many hold any (`total`), and their mean; missing values are none of these

Groups with the same signature are interchangeable, so the help table is usually tiny.
"""

from __future__ import annotations

from sqlglot import exp, parse_one

from discreet.engines import Engine
from discreet.release.release import Release


def load(engine: Engine, release: Release) -> None:
    """Load a release into an engine."""
    promise = release.promise
    engine.load("qit", release.file("qit"))
    engine.load("st file", release.file("st"))
    names = {promise.group: "grp", promise.sensitive: "value", promise.count: "n"}
    columns = [exp.alias_(exp.column(name, quoted=True), alias) for name, alias in names.items()]
    engine.load("st", exp.select(*columns).from_(exp.Table(this=exp.to_identifier("st file", quoted=True))), keep=False)
    kinds = {field.name: field.type for field in release.manifest.resource("st").table.fields}
    numeric = kinds[promise.sensitive] in {"integer", "number"}
    for name, sql in TABLES.items():
        query = parse_one(sql, dialect="duckdb")
        engine.load(name, exp.replace_placeholders(query, number=exp.column("value", table="st") if numeric else exp.null()))


TABLES = {
    "multisets": """
        SELECT grp, CAST(SUM(n) AS BIGINT) AS size, LIST(value ORDER BY value) AS vals, LIST(n ORDER BY value) AS counts
        FROM st GROUP BY grp
    """,
    "kinds": """
        SELECT vals, counts, size, MIN(grp) AS grp, ROW_NUMBER() OVER () AS signature
        FROM multisets GROUP BY vals, counts, size
    """,
    "signatures": """
        SELECT m.grp, m.size, k.signature
        FROM multisets AS m JOIN kinds AS k ON m.vals = k.vals AND m.counts = k.counts
    """,
    "help": """
        SELECT k.signature, st.value, CAST(st.n AS BIGINT) AS n,
               CAST(SUM(st.n) OVER (PARTITION BY k.signature ORDER BY st.value NULLS LAST
                                    ROWS UNBOUNDED PRECEDING) - st.n AS BIGINT) AS below,
               CAST(SUM(CASE WHEN st.value IS NULL THEN 0 ELSE st.n END)
                    OVER (PARTITION BY k.signature) AS BIGINT) AS total,
               SUM(st.n * CAST(:number AS DOUBLE)) OVER (PARTITION BY k.signature)
                 / SUM(CASE WHEN st.value IS NULL THEN 0 ELSE st.n END) OVER (PARTITION BY k.signature) AS mean
        FROM kinds AS k JOIN st ON st.grp = k.grp
    """,
}
