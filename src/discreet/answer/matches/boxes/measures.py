"""How far a condition covers the boxes of a generalized release, column by column.

A label is looked at value by value, once for all boxes that show it. Of an ordered column the region
where the condition holds is found first, and then measured against every box: if it has many runs, with
the number of points in all runs up to either end of the box. What has no such region, and what compares
columns with each other, is looked at in all points of a box, if they are few.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp, parse_one

from discreet.answer.matches.boxes.covers import Cover, Leaf, always
from discreet.answer.matches.boxes.lines import Line, hits_of
from discreet.answer.matches.boxes.located import Run, located
from discreet.answer.matches.boxes.regions import Region
from discreet.answer.matches.boxes.truths import Types, part, placed, share_of_points, truths

FEW_RUNS = 8
FAR = 2**100  # beyond every whole number of a column


class Measures:
    """Measures the leaves of one condition; `looks` are the relations that their covers speak of."""

    def __init__(self, types: Types, run: Run) -> None:
        self.looks: dict[str, exp.Query] = {}
        self._types = types
        self._run = run
        self._numbers = {name: i for i, name in enumerate(types)}
        self._joined: dict[str, int] = {}  # relations beside `boxes`, and the number of the label they are joined by
        self._counted = exp.select("boxes.*").from_("boxes")

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
        if len(self._counted.expressions) > 1:
            self.looks["counted"] = self._counted
            query = exp.select().from_(exp.to_table("counted").as_("boxes"))
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
        """The cover by the region of the condition, if it has one."""
        [name] = leaf.names
        line = Line(self._types[name])
        found = located(leaf.condition, self._numbers[name], line, self._run)
        if found is None:
            return self._at_points(leaf)
        if found.exact and found.complete and found.region.nothing:
            return always(holds=False)
        if line.form == "length":
            return self._by_ends(leaf, placed(line.share(found.region), name, self._types))
        hits = self._count(found.region, name)
        cover = line.cover(found.region, hits, complete=found.complete)
        every, some, share = (placed(each, name, self._types) for each in (cover.every, cover.some, cover.share))
        return Cover(every, some, share) if found.exact else self._by_ends(leaf, share)

    def _by_ends(self, leaf: Leaf, share: exp.Expr) -> Cover:
        found = truths(leaf.condition, self._types)
        return Cover(part(":t = 1", t=found.least), part(":t = 1", t=found.most), share)

    def _count(self, region: Region, name: str) -> str:
        """Let the points of every box that lie in a region be counted; returns what the count is called."""
        hits, i = f"hits_{len(self._counted.expressions)}", self._numbers[name]
        runs = region.whole()
        if len(runs) <= FEW_RUNS:
            counted = placed(parse_one(hits_of(runs), dialect="duckdb"), name, self._types)
        else:
            self.looks[f"runs_{hits}"] = exp.select("*").from_(_with_points_before(runs))
            for alias, end in ((f"upto_{hits}", f"boxes.stop_{i}"), (f"under_{hits}", f"boxes.start_{i} - 1")):
                table, at = exp.to_table(f"runs_{hits}").as_(alias), exp.condition(f"{end} >= {alias}.low")
                self._counted.append("joins", exp.Join(this=table, method="ASOF", side="LEFT", on=at))
            counted = parse_one(MANY.format(hits=hits, i=i), dialect="duckdb")
        self._counted = self._counted.select(exp.alias_(counted, f"{hits}_{i}"))
        return hits


def _with_points_before(runs: Sequence[tuple[int | None, int | None]]) -> exp.Expr:
    """Runs, and how many points all runs before have."""
    rows, before = [], 0
    for low, high in runs:
        first, last = -FAR if low is None else low, FAR if high is None else high
        rows.append((first, last, before))
        before += last - first + 1
    return exp.values(rows, alias="runs", columns=["low", "high", "before"])


def _meant(cover: exp.Expr) -> exp.Expr:
    """A piece that speaks of the points of a box, told that `meanings` has them."""

    def told(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.table == "boxes" and node.name.startswith("points_"):
            return exp.column(node.name, table=f"meanings_{node.name.removeprefix('points_')}")
        return node

    return cover.transform(told)


# The points of all runs up to the end of a box, less those of all runs before its start.
MANY = """
    CASE WHEN boxes.start_{i} IS NULL THEN 0 ELSE
      COALESCE(upto_{hits}.before + LEAST(boxes.stop_{i}, upto_{hits}.high) - upto_{hits}.low + 1, 0)
      - COALESCE(under_{hits}.before + LEAST(boxes.start_{i} - 1, under_{hits}.high) - under_{hits}.low + 1, 0) END
"""
