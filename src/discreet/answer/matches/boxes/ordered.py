"""A column of boxes: the line on which its values lie, and how much of a box lies in a set of intervals.

    whole    whole numbers, and dates as days: a box has so many points
    length   other numbers, and times in microseconds: a box has a length
    ranked   anything else that has an order, by rank among the ends that boxes of the release have
    labels   no order: a box shows a label, and `meanings` has the values that it stands for

Of an ordered column a box has `low`, `high` and whether a value is `missing` (NULL: it may hold anything); `start`
and `stop` are the positions of its ends (none if it holds a missing value only), `gap` is 1 if it holds a missing value
and 0 if not, and `width` is the number of its points, or its length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from math import inf
from typing import Any, Literal, TypeAlias

import pyarrow as pa
from sqlglot import exp

from discreet.answer.matches.boxes.conditions import part
from discreet.answer.matches.boxes.constants import Position, UnreadableError, position
from discreet.answer.matches.boxes.interval_sets import Interval, IntervalSet, Run, interval_set
from discreet.answer.plan.sql import piece
from discreet.engines.dialect import sql_type, wide_integer
from discreet.values.columns import kind_of

Form: TypeAlias = Literal["whole", "length", "ranked", "labels"]
Constants: TypeAlias = dict[Position, exp.Expr]

FARTHEST = 4e307  # a position beyond, infinity too, is put here: lengths stay finite
FORMS: dict[str, Form] = {
    **dict.fromkeys(("integer", "date"), "whole"),
    **dict.fromkeys(("float", "decimal", "timestamp", "time"), "length"),
}


@dataclass(frozen=True)
class Axis:
    """One column of boxes: its number among them, the type of its values, whether boxes have ends in it.

    `ends` are the smallest and the largest end that any box has; None if none has any.
    """

    number: int
    name: str
    type: pa.DataType
    ordered: bool
    ends: tuple[Any, Any] | None = None

    @property
    def form(self) -> Form:
        return FORMS.get(kind_of(self.type) or "", "ranked") if self.ordered else "labels"

    @property
    def sql_type(self) -> exp.DataType:
        return wide_integer() if kind_of(self.type) == "integer" else sql_type(self.type)

    @property
    def span(self) -> int | None:
        """How far the largest end of all boxes lies from the smallest, where they are whole."""
        if self.ends is None or self.form != "whole":
            return None
        low, high = (each.toordinal() if isinstance(each, date) else int(each) for each in self.ends)
        return high - low

    def of_box(self, of: exp.Expr | str) -> exp.Expr:
        """A piece that names `low`, `start` and the like, about this column of `boxes`."""
        node = piece(of) if isinstance(of, str) else of
        return node.transform(
            lambda each: (
                exp.column(f"{each.name}_{self.number}", table="boxes")
                if isinstance(each, exp.Column) and not each.table
                else each
            )
        )

    def place(self, value: exp.Expr) -> exp.Expr:
        """The position of a value, as SQL; a ranked one is looked up instead."""
        match kind_of(self.type):
            case "date":
                return part("CAST(:v - DATE '1970-01-01' AS INT128)", v=value)
            case "integer":
                return part("CAST(:v AS INT128)", v=value)
            case "timestamp" | "time":
                return part("CAST(EPOCH_US(:v) AS INT128)", v=value)
        return part(f"LEAST(GREATEST(CAST(:v AS DOUBLE), -{FARTHEST!r}), {FARTHEST!r})", v=value)

    def solved(self, condition: exp.Expr) -> tuple[IntervalSet, Constants] | None:
        """Where a condition on this column holds, and the constants at the ends; None if that cannot be read."""
        constants: Constants = {}

        def positioned(constant: exp.Expr) -> Position | None:
            at = position(constant, self.type)
            if at is not None:
                constants.setdefault(at, constant)
            return at

        try:
            return interval_set(condition, positioned), constants
        except UnreadableError:
            return None

    def within(self, found: IntervalSet, constants: Constants) -> tuple[exp.Expr, exp.Expr]:
        """Whether all and whether any of the values of a box lie in a set of intervals, by comparing its ends."""
        inside = [self._tests(each, constants, ("low", "high")) for each in _finite(found)]
        touched = [self._tests(each, constants, ("high", "low")) for each in _finite(found)]
        every = part(
            f"CASE WHEN missing IS NULL THEN {found.everything}"
            f" ELSE (low IS NULL OR (:inside)) AND (NOT missing OR {found.missing}) END",
            inside=exp.or_(*inside) if inside else exp.false(),
        )
        some = part(
            f"CASE WHEN missing IS NULL THEN {not found.nothing}"
            f" ELSE (NOT low IS NULL AND (:touched)) OR (missing AND {found.missing}) END",
            touched=exp.or_(*touched) if touched else exp.false(),
        )
        return self.of_box(every), self.of_box(some)

    def _tests(self, interval: Interval, constants: Constants, ends: tuple[str, str]) -> exp.Expr:
        tests = []
        for end, at, closed, sign in (
            (ends[0], interval.low, interval.low_closed, ">"),
            (ends[1], interval.high, interval.high_closed, "<"),
        ):
            if at not in {-inf, inf}:
                tests.append(part(f"{end} {sign}{'=' if closed else ''} :c", c=constants[at]))
        return exp.and_(*tests) if tests else exp.true()

    def share(self, found: IntervalSet) -> exp.Expr:
        """The share of the length of a box that lies in a set of intervals; of a single point, whether it does."""
        spans = [each for each in _finite(found) if each.low != each.high]
        points = ", ".join(repr(self._end(each.low)) for each in _finite(found) if each.low == each.high)
        inside = [*map(self._inside, spans), *([f"CASE WHEN start IN ({points}) THEN 1 ELSE 0 END"] if points else [])]
        overlaps = total([_overlap(self._end(each.low), self._end(each.high)) for each in spans])
        counted = f"CASE WHEN start IS NULL THEN 0 ELSE {total(inside)} END{' + gap' if found.missing else ''}"
        return self.of_box(f"""
            CASE WHEN stop > start THEN CAST({overlaps} AS DOUBLE) / width
                 ELSE CAST({counted} AS DOUBLE) / NULLIF(CASE WHEN start IS NULL THEN 0 ELSE 1 END + gap, 0) END
        """)

    def _inside(self, interval: Interval) -> str:
        """1 if the start of a box lies in an interval, else 0."""
        low, high = self._end(interval.low), self._end(interval.high)
        tests = [] if low is None else [f"start {'>=' if interval.low_closed else '>'} {low}"]
        tests += [] if high is None else [f"start {'<=' if interval.high_closed else '<'} {high}"]
        return f"CASE WHEN {' AND '.join(tests) or 'TRUE'} THEN 1 ELSE 0 END"

    def _end(self, at: Position) -> int | float | None:
        """The end of an interval as a number; None if it has no end."""
        if isinstance(at, str) or at in {-inf, inf}:
            return None
        if kind_of(self.type) in {"timestamp", "time"}:
            return round(at)
        return float(max(-Fraction(FARTHEST), min(Fraction(at), Fraction(FARTHEST))))


def points_within(runs: Sequence[Run]) -> str:
    """How many points of a box lie in runs of whole numbers, as SQL."""
    return f"CASE WHEN start IS NULL THEN 0 ELSE {total([_overlap(*run, more=' + 1') for run in runs])} END"


def spread(axes: Sequence[Axis], raw: exp.Select) -> exp.Select:
    """`boxes` with positions and widths, from a query that has `low`, `high` and `absent`, or `label`, per column."""
    placed = exp.select("grp", "people", "box").from_(raw.subquery("raw"))
    boxes = exp.select("*")
    for axis in axes:
        i = axis.number
        if axis.form == "labels":
            placed = placed.select(f"label_{i}")
            continue
        if axis.form == "ranked":
            for end in ("low", "high"):
                known = exp.to_table(f"known_{i}").as_(f"known_{end}_{i}")
                placed = placed.join(known, on=f"raw.{end}_{i} = known_{end}_{i}.value", join_type="left")
        placed = placed.select(*_positions(axis))
        width = LENGTH if axis.form == "length" else POINTS
        boxes = boxes.select(exp.alias_(part(width.format(i=i)), f"width_{i}"))
    return boxes.from_(placed.subquery("placed"))


def _positions(axis: Axis) -> Iterator[exp.Expr]:
    i = axis.number
    for text, alias in ((f"low_{i}", "low"), (f"high_{i}", "high"), (MISSING, "missing"), (GAP, "gap")):
        yield exp.alias_(part(text.format(i=i)), f"{alias}_{i}")
    for end, alias, widest in (("low", "start", "MIN"), ("high", "stop", "MAX")):
        value = exp.column(f"{end}_{i}")
        at = exp.column("place", f"known_{end}_{i}") if axis.form == "ranked" else axis.place(value)
        yield exp.alias_(part(PLACE.format(i=i, widest=widest), at=at), f"{alias}_{i}")


def _finite(found: IntervalSet) -> list[Interval]:
    """The intervals in which a finite value can lie."""
    return [each for each in found.intervals if each.low != inf and each.high != -inf]


def _overlap(low: float | None, high: float | None, more: str = "") -> str:
    """How much of a box lies between two positions."""
    stop = "stop" if high is None else f"LEAST(stop, {high!r})"
    start = "start" if low is None else f"GREATEST(start, {low!r})"
    return f"GREATEST({stop} - {start}{more}, 0)"


def total(terms: Sequence[str]) -> str:
    """A sum of any number of terms, in halves: engines limit how deep an expression may be."""
    if len(terms) < 2:
        return terms[0] if terms else "0"
    half = len(terms) // 2
    return f"({total(terms[:half])} + {total(terms[half:])})"


MISSING = "CASE WHEN low_{i} IS NULL AND NOT COALESCE(absent_{i}, FALSE) THEN NULL ELSE absent_{i} END"
GAP = "COALESCE(CAST(absent_{i} AS INTEGER), MAX(CAST(absent_{i} AS INTEGER)) OVER (), 0)"
# Nowhere if only a missing value is meant; and where anything is, as far as any box of the release.
PLACE = "CASE WHEN low_{i} IS NULL AND absent_{i} THEN NULL ELSE COALESCE(:at, {widest}(:at) OVER ()) END"
POINTS = "CASE WHEN start_{i} IS NULL THEN 0 ELSE stop_{i} - start_{i} + 1 END + gap_{i}"
LENGTH = "CAST(stop_{i} - start_{i} AS DOUBLE)"
