"""The boxes that a generalized or joined release publishes, and how many rows of each match a condition.

All that is known of a row is its box. If a condition holds at every point of the box, the row
matches; if at none, it does not; else it may, and is expected to with the share of the box where the
condition holds, each row by itself: values are taken to lie evenly over the box. Where a box may hold
anything, it is taken to be as wide as all boxes of the release together.

    boxes       a row per box: its group, how many `people` it shows, and what it is in each column: `low`,
                `high`, `missing` as published, `start`, `stop`, `width`, `gap` as numbers; or a `label`
    meanings_i  of a column published by labels: the values (`points`) that a label stands for
    known_i     of a ranked column: the ends that boxes have, and their ranks

A group of a joined release has several boxes, which show more people than the group has values; any of
them may be the people of the values, each choice as likely as any other. So a value's owner matches
with the probability `overlap`, the mean share of the group's boxes; two owners match together more or less
often than they would by chance, by `tie` (which is 0 if there is one box).
Source: Sacharidis et al., "k-anonymity in the presence of external databases", TKDE 2010, section 4.
Cost: one pass over the boxes, and once a pass over the release.
Claim: generalized_releases_equal_brute_force — of COUNT and SUM, estimate and stderr are mean and deviation over
all places of the rows in their boxes and all assignments of values; low and high are the extremes.
Claim: joined_releases_equal_brute_force — the same, over all choices of the people that the values belong to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp, parse_one

from discreet.answer.matches.boxes.covers import cover
from discreet.answer.matches.boxes.lines import Line
from discreet.answer.matches.boxes.located import Run
from discreet.answer.matches.boxes.measures import Measures
from discreet.answer.matches.boxes.truths import Kind, Types, part
from discreet.answer.question.question import Question
from discreet.errors import EngineError, QueryError
from discreet.release.manifest import Join, Side

# Of the values that labels stand for, until kinds of boxes are told in Arrow's types.
TYPES = {
    "integer": "HUGEINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "string": "VARCHAR",
    "date": "DATE",
    "datetime": "TIMESTAMP",
    "time": "TIME",
}


@dataclass(frozen=True)
class Published:
    """The boxes of a release by `group` over columns of these types; `run` asks the engine that holds them."""

    measured: ClassVar[bool] = True
    given: ClassVar[tuple[()]] = ()
    sides: tuple[Side, ...]
    group: str
    types: Types
    run: Run

    @classmethod
    def of(cls, sides: tuple[Side, ...], group: str, schema: Mapping[str, str], run: Run) -> Published:
        """The boxes whose columns have the types of `schema`."""
        types = {
            side.name: Kind(TYPES[side.type], interval=False)
            if side.low is None
            else Kind(schema[side.low], interval=True)
            for side in sides
        }
        return cls(sides, group, types, run)

    def tables(self) -> dict[str, exp.Expr]:
        """The queries that make the tables from `qit` and `labels`, in order."""
        made: dict[str, exp.Expr] = {}
        raw = exp.select(exp.alias_(_column(self.group), "grp"), "COUNT(*) AS people").from_("qit")
        spread = exp.select("grp", "people").from_("raw")
        for i, side in enumerate(self.sides):
            line = Line(self.types[side.name])
            if side.label is not None:
                names = {"name": exp.convert(side.name), "label": _column(side.label)}
                made[f"meanings_{i}"] = _filled(MEANINGS.format(i=i, type=line.kind.type), **names)
                raw = raw.select(exp.alias_(_column(side.label), f"shown_{i}"))
                spread = spread.select(f"meanings_{i}.label AS label_{i}")
                spread = spread.join(f"meanings_{i}", on=f"raw.shown_{i} IS NOT DISTINCT FROM meanings_{i}.shown")
                continue
            ends = {"low": _column(side.low or ""), "high": _column(side.high or "")}
            missing = exp.false() if side.missing is None else _column(side.missing)
            raw = raw.select(*(exp.alias_(end, f"{name}_{i}") for name, end in {**ends, "told": missing}.items()))
            if line.form == "ranked":
                made[f"known_{i}"] = _filled(KNOWN, **ends)
                for end in ends:
                    known = exp.to_table(f"known_{i}").as_(f"known_{end}_{i}")
                    spread = spread.join(known, on=f"raw.{end}_{i} = known_{end}_{i}.value", join_type="left")
            spread = spread.select(*_spread(i, line))
        raw = raw.group_by(*(item.unalias().copy() for item in raw.expressions[:1] + raw.expressions[2:]))
        widths = [
            f"{WIDTHS[Line(kind).form].format(i=i)} AS width_{i}"
            for i, kind in enumerate(self.types.values())
            if kind.interval
        ]
        made["boxes"] = exp.select("*", *widths).from_("spread").with_("raw", as_=raw).with_("spread", as_=spread)
        return made

    def relations(self, condition: exp.Expr | None) -> dict[str, exp.Query]:
        """The last, `hits`, has per group its urn and size, how many match at least and at most, and how likely."""
        measures = Measures(self.types, self.run)
        found = cover(exp.true() if condition is None else condition, measures)
        parts = {"inside": found.every, "touched": found.some, "share": found.share}
        told = measures.boxes().select("boxes.grp", "people", *(exp.alias_(each, name) for name, each in parts.items()))
        relations = {**measures.looks, "told": told}
        if condition is not None:
            self._check(relations, condition)
        rest = {
            name: parse_one(sql, dialect="duckdb", into=exp.Select) for name, sql in (("rated", RATED), ("hits", HITS))
        }
        return {**relations, **rest}

    def _check(self, relations: Mapping[str, exp.Query], condition: exp.Expr) -> None:
        """Raise where it is not known which share of a box a condition covers."""
        query = parse_one("SELECT COUNT(*) FROM told WHERE share IS NULL AND touched AND NOT inside", into=exp.Select)
        for name, relation in relations.items():
            query = query.with_(name, as_=relation)
        try:
            unknown = self.run(query).column(0)[0].as_py()
        except EngineError as error:
            raise QueryError(f"the question cannot be computed: {error.message}") from None
        if unknown:
            raise QueryError(
                f"the release does not tell how much of its boxes `{condition.sql(dialect='duckdb')}` covers",
                hint="compare each column by itself with constants, and join such conditions by AND, OR and NOT",
            )


def check_joined(question: Question, join: Join | None) -> None:
    """Raise for a question that asks who matches, where a release does not say how many people a box holds."""
    if join is not None and join.variant == "direct" and question.where["quasi"] is not None:
        raise QueryError(
            "a `direct` join does not say how many people of the table are in a box: the others are public",
            hint="ask without a condition on quasi-identifiers, or ask a release by `refinement`",
        )


def _column(name: str) -> exp.Column:
    return exp.column(name, table="qit", quoted=True)


def _filled(text: str, **names: exp.Expr) -> exp.Expr:
    return exp.replace_placeholders(parse_one(text, dialect="duckdb"), **names)


def _spread(i: int, line: Line) -> Iterator[exp.Expr]:
    """The columns of `boxes` for one ordered column, but for its width."""
    for text, alias in ((f"low_{i}", "low"), (f"high_{i}", "high"), (MISSING, "missing"), (GAP, "gap")):
        yield exp.alias_(part(text.format(i=i)), f"{alias}_{i}")
    for end, alias, widest in (("low", "start", "MIN"), ("high", "stop", "MAX")):
        ranked = line.form == "ranked"
        place = exp.column("place", f"known_{end}_{i}") if ranked else line.place(exp.column(f"{end}_{i}"))
        yield exp.alias_(part(PLACE.format(i=i, widest=widest), place=place), f"{alias}_{i}")


MEANINGS = """
    SELECT CAST(ROW_NUMBER() OVER (ORDER BY shown) AS INTEGER) AS label, shown,
           CASE WHEN shown IS NULL THEN [CAST(NULL AS {type})] ELSE points END AS points_{i}
    FROM (SELECT DISTINCT :label AS shown FROM qit) AS shown
    LEFT JOIN (SELECT label, LIST(DISTINCT CAST(value AS {type})) AS points
               FROM labels WHERE "column" = :name GROUP BY label) AS meanings ON shown.shown = meanings.label
"""
KNOWN = """
    SELECT value, CAST(ROW_NUMBER() OVER (ORDER BY value) AS HUGEINT) AS place
    FROM (SELECT :low AS value FROM qit UNION SELECT :high FROM qit) AS ends WHERE NOT value IS NULL
"""
MISSING = "CASE WHEN low_{i} IS NULL AND NOT COALESCE(told_{i}, FALSE) THEN NULL ELSE told_{i} END"
GAP = "COALESCE(CAST(told_{i} AS INTEGER), MAX(CAST(told_{i} AS INTEGER)) OVER (), 0)"
# Nowhere if only a missing value is meant; and where anything is, as far as any box of the release.
PLACE = "CASE WHEN low_{i} IS NULL AND told_{i} THEN NULL ELSE COALESCE(:place, {widest}(:place) OVER ()) END"
POINTS = "CASE WHEN start_{i} IS NULL THEN 0 ELSE stop_{i} - start_{i} + 1 END + gap_{i}"
WIDTHS = {"whole": POINTS, "ranked": POINTS, "length": "CAST(stop_{i} - start_{i} AS DOUBLE)"}
HITS = """
    SELECT grp, signature AS urn, size, fewest, picks, overlap,
           (apart - overlap * (1 - overlap)) / GREATEST(people - 1, 1) AS tie
    FROM (
      SELECT signatures.grp, signatures.signature, signatures.size, SUM(people) AS people,
             CAST(GREATEST(signatures.size - SUM(CASE WHEN inside THEN 0 ELSE people END), 0) AS INTEGER) AS fewest,
             CAST(LEAST(signatures.size, SUM(CASE WHEN touched THEN people ELSE 0 END)) AS INTEGER) AS picks,
             SUM(people * part) / SUM(people) AS overlap, SUM(people * part * (1 - part)) / SUM(people) AS apart
      FROM rated JOIN signatures ON rated.grp = signatures.grp
      GROUP BY signatures.grp, signatures.signature, signatures.size
    ) AS sized
"""
RATED = """
    SELECT grp, people, inside, touched,
           CASE WHEN inside OR share > 1 THEN 1.0 WHEN NOT touched OR share < 0 THEN 0.0 ELSE share END AS part
    FROM told
"""
