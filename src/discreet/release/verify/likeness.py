"""How much more frequent values are in a group than in the table, checked from the released counts alone.

With p the share of all rows that hold a value and q its share of a group, `beta` says (q - p)/p <= beta, which is
compared in whole numbers; `enhanced_beta` also (q - p)/p <= -ln p, in floating point, but for the last three digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from sqlglot import exp, parse_one

from discreet.engines import Engine
from discreet.release.verify.check import Check, check

LIKENESS = {
    "beta": "no value's share of a group is more than {more} times its share of the table",
    "enhanced_beta": "no value's share of a group is more than {more} times its share p of the table or 1 - ln p times",
}
LARGEST = 10**18  # denominators, so that products of three stay within 128 bits
BREAKING = """
    SELECT COUNT(DISTINCT grp) AS groups
    FROM (
      SELECT grp, CAST(n AS INT128) AS n, CAST(SUM(n) OVER (PARTITION BY grp) AS INT128) AS size,
             CAST(SUM(n) OVER (PARTITION BY value) AS INT128) AS held, CAST(SUM(n) OVER () AS INT128) AS everybody
      FROM st
    ) AS counted
"""
FREQUENT = "n * everybody * :below > size * held * :above"
P, Q = (f"CAST({part} AS DOUBLE) / CAST({of} AS DOUBLE)" for part, of in (("held", "everybody"), ("n", "size")))
SURPRISING = f"held < everybody AND {Q} > {P} * (1 - LN({P})) * 1.000000000001"


def likeness(engine: Engine, guarantee: Mapping[str, float]) -> Iterator[Check]:
    """Every promise of this kind."""
    for name in (name for name in LIKENESS if name in guarantee):
        more = 1 + Fraction(repr(guarantee[name])).limit_denominator(LARGEST)
        most = min(more, Fraction(LARGEST))  # no share is so small that it could grow by more
        numbers = {"below": exp.convert(most.denominator), "above": exp.convert(most.numerator)}
        breach = exp.condition(f"{FREQUENT} OR {SURPRISING}" if name == "enhanced_beta" else FREQUENT, dialect="duckdb")
        query = parse_one(BREAKING, dialect="duckdb", into=exp.Select).where(breach)
        [[breaking]] = engine.run(exp.replace_placeholders(query, **numbers)).to_pydict().values()
        fault = f"{breaking} groups break it" if breaking else None
        told = LIKENESS[name].format(more=float(more) if more.denominator > 1 else int(more))
        yield check(f"guarantee {name} = {guarantee[name]}", fault, told)
