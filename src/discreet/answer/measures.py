"""How far a condition covers the boxes of a generalized release, column by column.

A label is looked at value by value, once for all boxes that show it. Of an ordered column the
region where the condition holds is found first: from its constants; else, if the column has few
values in all, by trying each; and then it is measured against every box. What cannot be told so, and
what compares columns with each other, is looked at in all points of a box, if they are few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from discreet.answer.covers import Cover, Leaf, always
from discreet.answer.lines import Line
from discreet.answer.regions import Place, Region, constants, readable, region, runs
from discreet.answer.truths import Types, part, placed, share_of_points, truths
from discreet.errors import EngineError

MOST_TRIED = 100_000  # values of a column that a condition is tried on, one by one
MOST_RUNS = 300  # of values in a row for which it holds


@dataclass(frozen=True)
class _Told:
    """A region: whether the engine sees it just so, and whether it reaches beyond the boxes of the release."""

    region: Region
    exact: bool = True
    complete: bool = True


class Measures:
    """Measures the leaves of one condition; `looks` are the relations that their covers speak of."""

    def __init__(self, types: Types, run: Callable[[exp.Expr], pa.Table]) -> None:
        self.looks: dict[str, exp.Query] = {}
        self._types = types
        self._run = run
        self._numbers = {name: i for i, name in enumerate(types)}
        self._joined: dict[str, int] = {}  # relations beside `boxes`, and the number of the label they are joined by

    def __call__(self, leaf: Leaf) -> Cover:
        if not leaf.names:
            holds = part("COALESCE(:c, FALSE)", c=leaf.condition)
            return Cover(holds, holds, part("CASE WHEN :c THEN 1 ELSE 0 END", c=leaf.condition))
        if len(leaf.names) == 1 and not self._types[leaf.names[0]].interval:
            return self._looked_up(leaf)
        return self._measured(leaf) if len(leaf.names) == 1 else self._at_points(leaf)

    def boxes(self) -> exp.Select:
        """The boxes, beside all that covers speak of."""
        query = exp.select().from_("boxes")
        for name, i in self._joined.items():
            query = query.join(name, on=f"boxes.label_{i} = {name}.label")
        return query

    def _at_points(self, leaf: Leaf) -> Cover:
        """The share of the points; if they are too many, at least what the ends tell."""
        self._joined |= {f"meanings_{i}": i for name, i in self._numbers.items() if self._labelled(name, leaf)}
        by_ends = truths(leaf.condition, self._types)
        share = share_of_points(leaf.condition, self._types)
        every = part("COALESCE(:s = 1, :t = 1)", s=share, t=by_ends.least)
        some = part("COALESCE(:s > 0, :t = 1)", s=share, t=by_ends.most)
        return Cover(*map(_meant, (every, some, share)))

    def _labelled(self, name: str, leaf: Leaf) -> bool:
        return name in leaf.names and not self._types[name].interval

    def _looked_up(self, leaf: Leaf) -> Cover:
        """The cover of every label, found once and joined to the boxes that show it."""
        look, i = f"look_{len(self.looks)}", self._numbers[leaf.names[0]]
        share = exp.alias_(_meant(share_of_points(leaf.condition, self._types)), "share")
        self.looks[look] = exp.select("label", share).from_(f"meanings_{i}")
        self._joined[look] = i
        found = exp.column("share", table=look)
        return Cover(part("COALESCE(:s = 1, FALSE)", s=found), part("COALESCE(:s > 0, TRUE)", s=found), found)

    def _measured(self, leaf: Leaf) -> Cover:
        [name] = leaf.names
        line = Line(self._types[name])
        told = self._told(leaf.condition, name, line) if readable(leaf.condition) else None
        if told is None and line.form != "length":
            told = self._tried(leaf.condition, name, line)
        if told is None:
            return self._at_points(leaf)
        found = line.cover(told.region, complete=told.complete)
        found = Cover(*(placed(each, name, self._types) for each in (found.every, found.some, found.share)))
        if told.exact and line.form == "whole":
            return always(holds=False) if told.complete and told.region.nothing else found
        by_ends = truths(leaf.condition, self._types)
        return Cover(part(":t = 1", t=by_ends.least), part(":t = 1", t=by_ends.most), found.share)

    def _told(self, condition: exp.Expr, name: str, line: Line) -> _Told | None:
        """The region of a condition by the constants in it; None if one of them has no place."""
        found = list(dict.fromkeys(constants(condition)))
        if not found:
            return _Told(region(condition, lambda _: None))
        asked = [item for each in found for item in self._asked(each, name, line)]
        try:
            [row] = self._run(exp.select(*(exp.alias_(each, f"c{i}") for i, each in enumerate(asked)))).to_pylist()
        except EngineError:
            return None
        told = list(row.values())
        places: dict[exp.Expr, Place | None] = {}
        for each, number, missing in zip(found, told[::2], told[1::2], strict=True):
            places[each] = None if missing else line.located(number)
            if places[each] is None and not missing:
                return None
        # other than we do, the engine may round a whole number before it compares it with a float
        return _Told(region(condition, places.__getitem__), exact=not any(isinstance(each, float) for each in told))

    def _asked(self, constant: exp.Expr, name: str, line: Line) -> tuple[exp.Expr, exp.Expr]:
        """What to ask about a constant: its number, and whether it is missing."""
        number = line.number(constant)
        if line.form == "ranked":
            upto = part(
                "(COUNT(*) FILTER (WHERE value <= :c) + COUNT(*) FILTER (WHERE value < :c) + 1) / 2", c=constant
            )
            number = exp.Subquery(this=exp.select(upto).from_(f"known_{self._numbers[name]}"))
        return number, part("(:c) IS NULL", c=constant.copy())

    def _tried(self, condition: exp.Expr, name: str, line: Line) -> _Told | None:
        """The region of a condition by trying all values that boxes of the release may hold; None if they are many."""
        i = self._numbers[name]
        ends = part("SELECT CAST(MIN(start) AS VARCHAR) AS a, CAST(MAX(stop) AS VARCHAR) AS b FROM boxes")
        low, high = self._run(placed(ends, name, self._types)).to_pylist()[0].values()
        if low is None or int(high) - int(low) >= MOST_TRIED or max(-int(low), int(high)) > 2**62:
            return None
        if line.form == "ranked":
            values = exp.select("place", "value").from_(f"known_{i}")
        else:
            every = exp.select(f"UNNEST(RANGE({low}, {int(high) + 1})) AS place").subquery("every_place")
            value = exp.alias_(line.value(exp.column("place")), "value")
            values = exp.select("place", value).from_(every)
        absent = exp.select(exp.null(), exp.cast(exp.null(), line.kind.type, dialect="duckdb"))
        tried = exp.union(values, absent, distinct=False).subquery("tried")
        holds = condition.transform(lambda each: exp.column("value") if isinstance(each, exp.Column) else each)
        query = exp.select("CAST(place AS BIGINT) AS place").from_(tried).where(holds).order_by("place NULLS LAST")
        try:
            places = self._run(query).column(0)
        except EngineError:
            return None
        missing = places.null_count > 0
        found = runs(places.drop_null().to_pylist(), missing=missing)
        return _Told(found, complete=False) if len(found.intervals) <= MOST_RUNS else None


def _meant(cover: exp.Expr) -> exp.Expr:
    """A piece that speaks of the points of a box, told that `meanings` has them."""

    def told(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.table == "boxes" and node.name.startswith("points_"):
            return exp.column(node.name, table=f"meanings_{node.name.removeprefix('points_')}")
        return node

    return cover.transform(told)
