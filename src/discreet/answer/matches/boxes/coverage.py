"""How far a condition covers a box: wholly, not at all, or which share of it.

Inside a box columns are independent: a value in one tells nothing of the others. So parts of a condition about
different columns multiply, joined by OR their complements do. All parts about one column are measured together:

    labels    value by value, once for all boxes that show the label
    ordered   by the intervals in which the condition holds; if they are many, or the condition does more than
              compare with constants, it is tried on all values that any box has, and counted up to either end
    the rest  (and what compares columns with each other) at all points of a box, if they are few

Where that does not tell, a condition is said to hold at some points and not at others, with no known share.
Cost: linear in the condition, times two for each leaf of a column that is taken out; a few joins per leaf.
Claim: shares_equal_counting_all_points — a share is what counting the points of a box one by one gives.
Claim: coverage_holds_at_every_point — a condition holds at every point of a box that is covered wholly, and at none of
one that is not covered at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from sqlglot import exp

from discreet.answer.matches.boxes.conditions import (
    Leaf,
    Tree,
    Word,
    about_values,
    as_leaf,
    cases,
    independent,
    part,
    tree,
)
from discreet.answer.matches.boxes.interval_sets import IntervalSet
from discreet.answer.matches.boxes.ordered import Axis, points_within
from discreet.answer.matches.boxes.points import all_values, number_of_points, points

FEW_RUNS = 8
MOST_TRIED = 100_000  # values of a column that a condition is tried on, one by one
MOST_POINTS = 400  # of one box that are looked at one by one: all ages, all days of a year


@dataclass(frozen=True)
class Coverage:
    """Whether a condition holds at every point of a box, whether at some, and in which share (NULL if unknown)."""

    every: exp.Expr
    some: exp.Expr
    share: exp.Expr


UNKNOWN = Coverage(exp.false(), exp.true(), exp.cast(exp.null(), "DOUBLE"))


class Measures:
    """Measures one condition; `relations` are what its coverage speaks of, from `boxes` and `meanings_i`."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self.relations: dict[str, exp.Query] = {}
        self.doubtful = False  # whether some share may be unknown
        self.by_label: exp.Expr = exp.false()  # whether it cuts through a label of a box
        self._axes = {axis.name: axis for axis in axes}
        self._measured = exp.select("boxes.*").from_("boxes")
        self._leaves: dict[Leaf, Coverage] = {}

    def covered(self, condition: exp.Expr) -> Coverage:
        """How far a condition covers the rows of `measured`."""
        found = self._cover(tree(condition))
        self.relations["measured"] = self._measured
        return found

    def _cover(self, part_: Tree) -> Coverage:
        if isinstance(part_, Leaf):
            if part_ not in self._leaves:
                self._leaves[part_] = self._leaf(part_)
            return self._leaves[part_]
        parts = independent(part_)
        if len(parts) > 1:
            return _combined(part_.word, [self._cover(each) for each in parts])
        found = cases(part_)
        if found is None:
            return self._at_points(as_leaf(part_))
        covers = ((self._cover(case), rest) for case, rest in found)
        possible = [(case, rest) for case, rest in covers if case.some != exp.false()]
        return _of_cases(
            [(case, _always(holds=rest) if isinstance(rest, bool) else self._cover(rest)) for case, rest in possible]
        )

    def _leaf(self, leaf: Leaf) -> Coverage:
        if not leaf.names:
            holds = part("COALESCE(:c, FALSE)", c=leaf.condition)
            return Coverage(holds, holds, part("CASE WHEN :c THEN 1 ELSE 0 END", c=leaf.condition))
        if len(leaf.names) > 1:
            return self._at_points(leaf)
        axis = self._axes[leaf.names[0]]
        if axis.ordered and axis.ends is None:
            self.doubtful = True
        if axis.form == "labels":
            return self._looked_up(leaf, axis)
        return {"whole": self._whole, "length": self._length, "ranked": self._ranked}[axis.form](leaf, axis)

    def _looked_up(self, leaf: Leaf, axis: Axis) -> Coverage:
        """The coverage of every label, found once and joined to the boxes that show it."""
        name, i = self._name("look"), axis.number
        holds = about_values(leaf.condition, {axis.name: exp.column("value")})
        counted = part("SUM(CASE WHEN :c THEN 1 ELSE 0 END)", c=holds)
        look = exp.select("label", exp.alias_(counted, "n"), "COUNT(*) AS total").from_(f"meanings_{i}")
        self.relations[name] = look.group_by("label")
        self._measured = self._measured.join(name, on=f"boxes.label_{i} = {name}.label", join_type="left")
        self.by_label = exp.or_(self.by_label, f"boxes.n_{name} > 0 AND boxes.n_{name} < boxes.total_{name}")
        return self._counted(name, UNKNOWN)

    def _counted(self, relation: str, otherwise: Coverage) -> Coverage:
        """The coverage where a joined relation has counted `n` of the `total` points; another where it has none."""
        n, total = f"n_{relation}", f"total_{relation}"
        self._measured = self._measured.select(f"{relation}.n AS {n}", f"{relation}.total AS {total}")
        return Coverage(
            part(f"COALESCE(boxes.{n} = boxes.{total}, :every)", every=otherwise.every),
            part(f"COALESCE(boxes.{n} > 0, :some)", some=otherwise.some),
            part(f"CAST(boxes.{n} AS DOUBLE) / boxes.{total}"),
        )

    def _whole(self, leaf: Leaf, axis: Axis) -> Coverage:
        solved = axis.solved(leaf.condition)
        tryable = axis.span is not None and axis.span < MOST_TRIED
        every, some = False, True  # of a box that may hold anything
        if solved is None:
            if not tryable:
                return self._at_points(leaf)
            n = self._tried(leaf, axis)
        else:
            found, runs = solved[0], solved[0].runs()
            every, some = found.missing and runs == [(None, None)], found.missing or bool(runs)
            if not some:
                return _always(holds=False)
            n = self._tried(leaf, axis) if len(runs) > FEW_RUNS and tryable else self._within(found, axis)
        return Coverage(
            axis.of_box(part(f"CASE WHEN missing IS NULL THEN {every} ELSE :n = width END", n=n)),
            axis.of_box(part(f"CASE WHEN missing IS NULL THEN {some} ELSE :n > 0 END", n=n)),
            axis.of_box(part(SHARE, n=n)),
        )

    def _length(self, leaf: Leaf, axis: Axis) -> Coverage:
        solved = axis.solved(leaf.condition)
        if solved is None:
            return self._at_points(leaf)
        if solved[0].nothing:
            return _always(holds=False)
        return Coverage(*axis.within(*solved), axis.share(solved[0]))

    def _ranked(self, leaf: Leaf, axis: Axis) -> Coverage:
        """The share by the ends that are known; bounds by the intervals, or where a box is one point."""
        solved = axis.solved(leaf.condition)
        if solved is not None and solved[0].nothing:
            return _always(holds=False)
        n = self._tried(leaf, axis)
        share = axis.of_box(part(SHARE, n=n))
        if solved is not None:
            return Coverage(*axis.within(*solved), share)
        one = "missing IS NULL OR low < high"
        return Coverage(
            axis.of_box(part(f"CASE WHEN {one} THEN FALSE ELSE :n = width END", n=n)),
            axis.of_box(part(f"CASE WHEN {one} THEN TRUE ELSE :n > 0 END", n=n)),
            share,
        )

    def _within(self, found: IntervalSet, axis: Axis) -> exp.Expr:
        """How many points of a box lie in a set of intervals: a column of `measured`."""
        name = self._name("n")
        counted = axis.of_box(points_within(found.runs()) + (" + gap" if found.missing else ""))
        self._measured = self._measured.select(exp.alias_(counted, name))
        return exp.column(name, table="boxes")

    def _tried(self, leaf: Leaf, axis: Axis) -> exp.Expr:
        """The same by trying a condition on every value, and counting those up to either end of a box."""
        name, i = self._name("tried"), axis.number
        self._write(all_values(axis))
        domain = f"known_{i}" if axis.form == "ranked" else f"domain_{i}"
        holds = about_values(leaf.condition, {axis.name: exp.column("value")})
        upto = part("SUM(CASE WHEN :c THEN 1 ELSE 0 END) OVER (ORDER BY place)", c=holds)
        self.relations[name] = exp.select("place", exp.alias_(upto, "n")).from_(domain)
        missing = exp.select("MIN(value) AS value").from_(domain).where(exp.false()).subquery("missing")
        at_missing = exp.alias_(part("CASE WHEN :c THEN 1 ELSE 0 END", c=holds.copy()), "holds")
        self.relations[f"{name}_missing"] = exp.select(at_missing).from_(missing)
        for alias, end in ((f"{name}_upto", f"boxes.stop_{i}"), (f"{name}_under", f"boxes.start_{i} - 1")):
            at = exp.to_table(name).as_(alias)
            self._measured = self._measured.join(at, on=f"{alias}.place = {end}", join_type="left")
        self._measured = self._measured.join(f"{name}_missing", join_type="cross")
        counted = f"COALESCE({name}_upto.n, 0) - COALESCE({name}_under.n, 0) + boxes.gap_{i} * {name}_missing.holds"
        self._measured = self._measured.select(f"{counted} AS n_{name}")
        return exp.column(f"n_{name}", table="boxes")

    def _at_points(self, leaf: Leaf) -> Coverage:
        """The coverage by all points of a box; where they are too many, what the parts of the condition tell."""
        self.doubtful = True
        axes = [self._axes[name] for name in leaf.names]
        if any(axis.form == "labels" for axis in axes):
            self.by_label = exp.true()
        for axis in axes:
            self._write(points(axis, MOST_POINTS))
        few = exp.select("boxes.box").from_("boxes")
        for axis in axes:
            if axis.form == "labels":
                few = few.join(f"sizes_{axis.number}", on=f"boxes.label_{axis.number} = sizes_{axis.number}.label")
        few = few.where(f"{' * '.join(map(number_of_points, axes))} <= {MOST_POINTS}")
        values = {axis.name: exp.column("value", table=f"points_{axis.number}") for axis in axes}
        counted = part("SUM(CASE WHEN :c THEN 1 ELSE 0 END)", c=about_values(leaf.condition, values))
        look = exp.select("few.box", exp.alias_(counted, "n"), "COUNT(*) AS total").from_(few.subquery("few"))
        for axis in axes:
            look = look.join(f"points_{axis.number}", on=f"points_{axis.number}.box = few.box")
        name = self._name("look")
        self.relations[name] = look.group_by("few.box")
        self._measured = self._measured.join(name, on=f"boxes.box = {name}.box", join_type="left")
        return self._counted(name, self._by_parts(leaf))

    def _by_parts(self, leaf: Leaf) -> Coverage:
        """What is certain of parts that are not independent: nothing of their share."""
        node = leaf.condition.unnest()
        if not isinstance(node, exp.And | exp.Or):
            return UNKNOWN
        parts = [self._cover(tree(each)) for each in node.flatten()]
        found = _combined("and" if isinstance(node, exp.And) else "or", parts)
        return Coverage(found.every, found.some, UNKNOWN.share)

    def _write(self, relations: Mapping[str, exp.Query]) -> None:
        self.relations |= {name: relation for name, relation in relations.items() if name not in self.relations}

    def _name(self, word: str) -> str:
        return f"{word}_{len(self.relations)}_{len(self._measured.expressions)}"


def _always(*, holds: bool) -> Coverage:
    """The coverage of what holds everywhere, or nowhere."""
    return Coverage(exp.convert(holds), exp.convert(holds), exp.Literal.number(int(holds)))


def _combined(word: Word, covers: Sequence[Coverage]) -> Coverage:
    """Independent parts: shares multiply, or for OR their complements."""
    join = exp.and_ if word == "and" else exp.or_
    every, some = join(*(each.every for each in covers)), join(*(each.some for each in covers))
    if word == "and":
        return Coverage(every, some, _product([each.share for each in covers]))
    left_over = _product([part("1 - (:s)", s=each.share) for each in covers])
    return Coverage(every, some, part("1 - :p", p=left_over))


def _of_cases(cases: Sequence[tuple[Coverage, Coverage]]) -> Coverage:
    """Of cases of which exactly one is so, with what remains in each."""
    shares = [_product([case.share, rest.share]) for case, rest in cases]
    return Coverage(
        exp.and_(*(exp.or_(exp.not_(case.some), rest.every) for case, rest in cases)),
        exp.or_(*(exp.and_(case.some, rest.some) for case, rest in cases)),
        reduce(lambda one, other: part(":a + :b", a=one, b=other), shares),
    )


def _product(shares: Sequence[exp.Expr]) -> exp.Expr:
    return reduce(lambda one, other: part("(:a) * (:b)", a=one, b=other), shares)


SHARE = "CAST(:n AS DOUBLE) / NULLIF(width, 0)"
