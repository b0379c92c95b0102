"""The tables that answers are computed from, made once from the files of a release.

    qit         one row per person: the quasi-identifiers, or what a box shows of them, and the group
    labels      of a generalized release: the values that labels of its boxes stand for
    signatures  per group: its size, and the number of its `signature`, the multiset of its values
    sums        per signature: how many rows hold any value (`total`), and their mean; missing ones are none of these
    held        per signature: each value, how many rows hold it (`n`), and how many a smaller one (`below`)
    windows     of a swapped table only, whose `qit` has the value that a row shows: per value the ranks that
                show it (after `below`, to `upto`), and the first and last that such a row may hold

Groups with the same signature are interchangeable, so `held` is usually tiny. Signatures are told
apart by two sums of 64-bit hashes: by chance, a million of them agree once in 10^26 releases.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sqlglot import exp, parse_one

from discreet.answer.matches import swapped
from discreet.engines import Engine
from discreet.engines.dialect import small_integer
from discreet.release.layouts import layout_of
from discreet.release.layouts.file import named
from discreet.release.manifest import Promise
from discreet.release.relations import load_files
from discreet.release.release import Release


def tables(release: Release, *, repeats: bool = True) -> dict[str, exp.Expr]:
    """The queries that make the tables, in order, once every file is there as `NAME file`.

    If no group holds a value twice, values need only be numbered to know how many are smaller.
    """
    number = exp.column("value", table="st") if sensitive_kind(release) in {"integer", "number"} else exp.null()
    below = parse_one(BELOW if repeats else BEFORE, dialect="duckdb")
    made = {name: parse_one(sql, dialect="duckdb") for name, sql in TABLES.items()}
    relations = layout_of(release.promise).relations(release.promise)
    if release.promise.window is not None:
        relations |= swapped.tables(release.promise)
    if any(resource.name == "labels" for resource in release.manifest.resources):
        relations["labels"] = exp.select("*").from_(named("labels file"))
    relations["qit"] = _narrow(relations["qit"], release.promise)
    return {
        **relations,
        **{name: exp.replace_placeholders(query, number=number, below=below) for name, query in made.items()},
    }


def _narrow(qit: exp.Select, promise: Promise) -> exp.Select:
    """The same table with no more bytes per group than its number needs: hits are counted by it."""
    kind = small_integer(promise.groups)

    def narrow(item: exp.Expr) -> exp.Expr:
        here = item.alias_or_name == promise.group
        return exp.alias_(exp.cast(item.unalias(), kind), promise.group, quoted=True) if here else item

    return qit.select(*(narrow(item) for item in qit.expressions), append=False)


def sensitive_kind(release: Release) -> str:
    """The type of the sensitive column; where there is none, all its values are missing whole numbers."""
    kinds = (resource.kinds().get(release.promise.sensitive or "") for resource in release.manifest.resources)
    return next((kind for kind in kinds if kind is not None), "integer")


def load(engine: Engine, release: Release) -> None:
    """Load a release into an engine."""
    load_files(engine, release.path, release.manifest)
    for name, query in tables(release).items():
        if name == "held" and not repeats(engine):
            query = tables(release, repeats=False)[name]  # noqa: PLW2901
        engine.load(name, query)


def repeats(engine: Engine) -> bool:
    """Whether a group holds a value twice."""
    most = engine.run(exp.select("MAX(n)").from_("st")).column(0)[0].as_py()
    return most is not None and most > 1


def script(engine: Engine, release: Release, more: Mapping[str, exp.Expr]) -> str:
    """The same, and `more` tables, as statements that anyone can run in the folder of the release."""
    resources = release.manifest.resources
    files = {
        f"{each.name} file": exp.select("*").from_(engine.scan(Path(each.path), each.kinds())) for each in resources
    }
    made = {**files, **tables(release, repeats=repeats(engine)), **more}
    statements = (
        exp.Create(this=named(name), kind="VIEW" if name in files else "TABLE", expression=query)
        for name, query in made.items()
    )
    return "\n".join(f"{statement.sql(dialect=engine.dialect, pretty=True)};" for statement in statements)


BELOW = """
    SUM(st.n) OVER (PARTITION BY k.signature ORDER BY st.value NULLS LAST ROWS UNBOUNDED PRECEDING) - st.n
"""
BEFORE = "ROW_NUMBER() OVER (PARTITION BY k.signature ORDER BY st.value NULLS LAST) - 1"
TABLES = {
    "multisets": """
        SELECT grp, CAST(SUM(n) AS INTEGER) AS size,
               SUM(CAST(FINGERPRINT(value, n) AS INT128)) AS one, SUM(CAST(FINGERPRINT(n, value, 1) AS INT128)) AS two
        FROM st GROUP BY grp
    """,
    "kinds": """
        SELECT one, two, size, MIN(grp) AS grp, CAST(ROW_NUMBER() OVER () AS INTEGER) AS signature
        FROM multisets GROUP BY one, two, size
    """,
    "signatures": """
        SELECT m.grp, m.size, k.signature
        FROM multisets AS m JOIN kinds AS k ON m.one = k.one AND m.two = k.two AND m.size = k.size
    """,
    "sums": """
        SELECT k.signature, CAST(COALESCE(SUM(st.n) FILTER (WHERE st.value IS NOT NULL), 0) AS BIGINT) AS total,
               SUM(st.n * CAST(:number AS DOUBLE)) / SUM(st.n) FILTER (WHERE st.value IS NOT NULL) AS mean
        FROM kinds AS k JOIN st ON st.grp = k.grp GROUP BY k.signature
    """,
    "held": """
        SELECT k.signature, st.value, CAST(st.n AS INTEGER) AS n, CAST(:below AS INTEGER) AS below
        FROM kinds AS k JOIN st ON st.grp = k.grp
    """,
}
