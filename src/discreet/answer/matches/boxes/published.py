"""The boxes that a generalized or joined release publishes, and how many rows of each match a condition.

All that is known of a row is its box. If a condition holds at every point of the box, the row
matches; if at none, it does not; else it may, and is expected to with the share of the box where the
condition holds, each row by itself: values are taken to lie evenly over the box. Where a box may hold
anything, it is taken to be as wide as all boxes of the release together.

    boxes       a row per `box`: its group, how many `people` it shows, and what it is in each column
    labels_i    of a column published by labels: every label that is `shown`, numbered
    meanings_i  of the same: the values that a label stands for, a row each
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
from typing import Any, ClassVar

import pyarrow as pa
from sqlglot import exp

from discreet.answer.matches.boxes.conditions import parsed, part
from discreet.answer.matches.boxes.coverage import Measures
from discreet.answer.matches.boxes.ordered import Axis, spread
from discreet.answer.matches.matches import Guard
from discreet.answer.question.question import Question
from discreet.errors import QueryError
from discreet.release.manifest import BoxColumn, Join
from discreet.values.columns import ARROW


@dataclass(frozen=True)
class PublishedBoxes:
    """The boxes of a release by `group`, over these columns, each shown in its own way."""

    measured: ClassVar[bool] = True
    key: ClassVar[str] = "boxes"
    cut: ClassVar[str | None] = "COALESCE((SELECT MAX(cut) FROM rated), 0)"
    group: str
    shown: tuple[tuple[Axis, BoxColumn], ...]

    @classmethod
    def of(
        cls,
        sides: tuple[BoxColumn, ...],
        group: str,
        types: Mapping[str, pa.DataType],
        ends: Mapping[str, tuple[Any, Any]],
    ) -> PublishedBoxes:
        """The boxes whose columns have these types; `ends` are the least and the most of each that has an order."""
        shown = []
        for i, side in enumerate(sides):
            axis = Axis(i, side.name, ARROW[side.type], ordered=False)
            if side.low is not None and side.high is not None:
                reach = (ends[side.low][0], ends[side.high][1]) if side.low in ends else None
                axis = Axis(i, side.name, types[side.low], ordered=True, ends=reach)
            shown.append((axis, side))
        return cls(group, tuple(shown))

    def tables(self) -> dict[str, exp.Expr]:
        """The queries that make the tables from `qit` and `labels`, in order."""
        made: dict[str, exp.Expr] = {}
        shown = {"grp": _column(self.group)}
        raw = exp.select("grp", "people", "ROW_NUMBER() OVER (ORDER BY grp) AS box")
        joins = []
        for axis, side in self.shown:
            i = axis.number
            if side.label is not None:
                shown[f"shown_{i}"] = _column(side.label)
                made[f"labels_{i}"] = part(LABELS, label=_column(side.label))
                meant = {"name": exp.convert(side.name), "value": exp.cast(exp.column("value"), axis.sql_type)}
                made[f"meanings_{i}"] = part(MEANINGS.format(i=i), **meant)
                raw = raw.select(f"labels_{i}.label AS label_{i}")
                joins.append((f"labels_{i}", f"raw.shown_{i} IS NOT DISTINCT FROM labels_{i}.shown"))
                continue
            ends = {"low": _column(side.low or ""), "high": _column(side.high or "")}
            shown |= {f"{end}_{i}": column for end, column in ends.items()}
            if axis.form == "ranked":
                made[f"known_{i}"] = part(KNOWN, **ends)
            raw = raw.select(
                f"low_{i}", f"high_{i}", f"{'FALSE' if side.missing is None else f'absent_{i}'} AS absent_{i}"
            )
            if side.missing is not None:
                shown[f"absent_{i}"] = _column(side.missing)
        rows = exp.select(*(exp.alias_(column, name) for name, column in shown.items()), "COUNT(*) AS people")
        raw = raw.from_(rows.from_("qit").group_by(*(column.copy() for column in shown.values())).subquery("raw"))
        for name, same in joins:
            raw = raw.join(name, on=same)
        made["boxes"] = spread([axis for axis, _ in self.shown], raw)
        return made

    def relations(self, condition: exp.Expr | None) -> dict[str, exp.Query]:
        """The last, `hits`, has per group how many rows match at least (`fewest`) and at most, and how likely."""
        return {**self._covered(condition)[0], "rated": parsed(RATED), "hits": parsed(HITS)}

    def guards(self, condition: exp.Expr | None) -> Iterator[Guard]:
        """What must hold before the question is answered: the share of every box that is covered in part is known."""
        relations, doubtful = self._covered(condition)
        if condition is None or not doubtful:
            return
        query = parsed(UNKNOWN)
        for name, relation in relations.items():
            query = query.with_(name, as_=relation)
        asked = condition.sql(dialect="duckdb").replace("{", "{{").replace("}", "}}")
        yield Guard(
            query,
            0,
            f"the release does not tell how much of its boxes `{asked}` covers",
            "compare each column by itself with constants, and join such conditions by AND, OR and NOT",
        )

    def _covered(self, condition: exp.Expr | None) -> tuple[dict[str, exp.Query], bool]:
        """The relations that end with how far each box is covered, and whether some share may be unknown."""
        measures = Measures([axis for axis, _ in self.shown])
        found = measures.covered(exp.true() if condition is None else condition)
        parts = {"inside": found.every, "touched": found.some, "share": found.share, "by_label": measures.by_label}
        covered = exp.select("grp", "people", *(exp.alias_(each, name) for name, each in parts.items()))
        covered = covered.from_(exp.to_table("measured").as_("boxes"))
        return {**measures.relations, "covered": covered}, measures.doubtful


def check_joined(question: Question, join: Join | None) -> None:
    """Raise for a question that asks who matches, where a release does not say how many people a box holds."""
    if join is not None and join.variant == "direct" and question.where["quasi"] is not None:
        raise QueryError(
            "a `direct` join does not say how many people of the table are in a box: the others are public",
            hint="ask without a condition on quasi-identifiers, or ask a release by `refinement`",
        )


def _column(name: str) -> exp.Column:
    return exp.column(name, table="qit", quoted=True)


LABELS = """
    SELECT CAST(ROW_NUMBER() OVER (ORDER BY shown) AS INTEGER) AS label, shown
    FROM (SELECT DISTINCT :label AS shown FROM qit) AS every_label
"""
MEANINGS = """
    SELECT DISTINCT labels_{i}.label, :value AS value
    FROM labels_{i} LEFT JOIN labels ON labels_{i}.shown = labels.label AND labels."column" = :name
"""
KNOWN = """
    SELECT value, CAST(ROW_NUMBER() OVER (ORDER BY value) AS INT128) AS place
    FROM (SELECT :low AS value FROM qit UNION SELECT :high FROM qit) AS ends WHERE NOT value IS NULL
"""
UNKNOWN = "SELECT COUNT(*) FROM covered WHERE share IS NULL AND touched AND NOT inside"
RATED = """
    SELECT grp, people, inside, touched,
           CASE WHEN inside OR share > 1 THEN 1.0 WHEN NOT touched OR share < 0 THEN 0.0 ELSE share END AS part,
           CASE WHEN inside OR NOT touched THEN 0 WHEN by_label THEN 2 ELSE 1 END AS cut
    FROM covered
"""
HITS = """
    SELECT grp, signature AS population, size, fewest, matched, overlap,
           (apart - overlap * (1 - overlap)) / GREATEST(people - 1, 1) AS tie
    FROM (
      SELECT signatures.grp, signatures.signature, signatures.size, SUM(people) AS people,
             CAST(GREATEST(signatures.size - SUM(CASE WHEN inside THEN 0 ELSE people END), 0) AS INTEGER) AS fewest,
             CAST(LEAST(signatures.size, SUM(CASE WHEN touched THEN people ELSE 0 END)) AS INTEGER) AS matched,
             SUM(people * part) / SUM(people) AS overlap, SUM(people * part * (1 - part)) / SUM(people) AS apart
      FROM rated JOIN signatures ON rated.grp = signatures.grp
      GROUP BY signatures.grp, signatures.signature, signatures.size
    ) AS sized
"""
