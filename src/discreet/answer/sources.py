"""The tables that answers are computed from, made once from the files of a release.

    qit         the quasi-identifier table as it was published
    signatures  per group: its size, and the number of its `signature`, the multiset of its values
    help        per signature: each value, how many rows hold it (`n`), how many hold a smaller one
                (`below`), how many hold any (`total`), and their mean; missing values are none of these

Groups with the same signature are interchangeable, so the help table is usually tiny.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sqlglot import exp, parse_one

from discreet.engines import Engine
from discreet.release.release import Release


def tables(release: Release) -> dict[str, exp.Expr]:
    """The queries that make the tables, in order, once the files are there as `qit` and `st file`."""
    promise = release.promise
    names = {promise.group: "grp", promise.sensitive: "value", promise.count: "n"}
    columns = [exp.alias_(exp.column(name, quoted=True), alias) for name, alias in names.items()]
    st = exp.select(*columns).from_(_named("st file"))
    numeric = release.manifest.resource("st").kinds()[promise.sensitive] in {"integer", "number"}
    number = exp.column("value", table="st") if numeric else exp.null()
    made = {name: parse_one(sql, dialect="duckdb") for name, sql in TABLES.items()}
    return {"st": st, **{name: exp.replace_placeholders(query, number=number) for name, query in made.items()}}


def load(engine: Engine, release: Release) -> None:
    """Load a release into an engine."""
    for name, file in FILES.items():
        engine.load(name, release.file(file), kinds=release.manifest.resource(file).kinds())
    for name, query in tables(release).items():
        engine.load(name, query)


def script(engine: Engine, release: Release, more: Mapping[str, exp.Expr]) -> str:
    """The same, and `more` tables, as statements that anyone can run in the folder of the release."""
    resources = {name: release.manifest.resource(file) for name, file in FILES.items()}
    scans = {name: engine.scan(Path(resource.path), resource.kinds()) for name, resource in resources.items()}
    made = {**{name: exp.select("*").from_(scan) for name, scan in scans.items()}, **tables(release), **more}
    statements = (exp.Create(this=_named(name), kind="TABLE", expression=query) for name, query in made.items())
    return "\n".join(f"{statement.sql(dialect=engine.dialect, pretty=True)};" for statement in statements)


def _named(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


FILES = {"qit": "qit", "st file": "st"}
TABLES = {
    "multisets": """
        SELECT grp, CAST(SUM(n) AS INTEGER) AS size,
               LIST(value ORDER BY value) AS vals, LIST(n ORDER BY value) AS counts
        FROM st GROUP BY grp
    """,
    "kinds": """
        SELECT vals, counts, size, MIN(grp) AS grp, CAST(ROW_NUMBER() OVER () AS INTEGER) AS signature
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
