"""An ordered column as a line: where its values lie, and how much of a box lies in a region of it.

    whole    whole numbers, and dates as days: a box has so many points
    ranked   anything else that has an order, by rank among the ends that boxes of the release have
    length   other numbers, and times in microseconds: a box has a length

Of a box, `start` and `stop` are the places of its ends (none if it holds a missing value only), `gap` is 1
if it holds a missing value and 0 if not, and `width` is the number of its points, or its length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf, isinf, isnan
from typing import Any, Literal, TypeAlias

from sqlglot import exp, parse_one

from discreet.answer.matches.boxes.covers import Cover
from discreet.answer.matches.boxes.regions import Interval, Place, Region
from discreet.answer.matches.boxes.truths import Kind, part, untyped, whole

Form: TypeAlias = Literal["whole", "ranked", "length"]

FARTHEST = 4e307  # a place beyond, infinity too, is put here: lengths stay finite
DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True)
class Line:
    """How the values of one ordered column are placed."""

    kind: Kind

    @property
    def form(self) -> Form:
        if whole(self.kind):
            return "whole"
        return "length" if re.match("DECIMAL|DOUBLE|FLOAT|TIME", self.kind.type) else "ranked"

    @property
    def timed(self) -> bool:
        return self.kind.type.startswith("TIME")

    @property
    def temporal(self) -> bool:
        return self.timed or self.kind.type == "DATE"

    def place(self, value: exp.Expr) -> exp.Expr:
        """Where a value lies, as SQL; a ranked one is looked up instead."""
        if self.kind.type == "DATE":
            return part("CAST(:v - DATE '1970-01-01' AS HUGEINT)", v=value)
        if self.form == "whole":
            return part("CAST(:v AS HUGEINT)", v=value)
        if self.timed:
            return part("CAST(EPOCH_US(:v) AS HUGEINT)", v=value)
        return part(f"LEAST(GREATEST(CAST(:v AS DOUBLE), -{FARTHEST!r}), {FARTHEST!r})", v=value)

    def value(self, place: exp.Expr) -> exp.Expr:
        """The value that lies at a place of a whole line, as SQL."""
        if self.kind.type == "DATE":
            return part("DATE '1970-01-01' + CAST(:p AS INTEGER)", p=place)
        return exp.cast(place, self.kind.type, dialect="duckdb")

    def number(self, constant: exp.Expr) -> exp.Expr:
        """What a constant comes to as a number, as SQL; `located` tells its place from it."""
        typed = exp.cast(constant, self.kind.type, dialect="duckdb") if untyped(constant) else constant
        if self.kind.type == "DATE":
            return part("EPOCH_US(CAST(:c AS TIMESTAMP))", c=typed)
        return part("EPOCH_US(:c)", c=exp.cast(typed, self.kind.type, dialect="duckdb")) if self.timed else typed

    def located(self, number: Any) -> Place | None:
        """The place of a number; None if it has none."""
        if isinstance(number, float | Decimal) and (isnan(number) or isinf(number)):
            return -inf if number == -inf else inf  # not a number comes after all others
        if not isinstance(number, int | float | Decimal | Fraction):
            return None
        return Fraction(number) / DAY if self.kind.type == "DATE" else Fraction(number)

    def cover(self, region: Region, hits: str, *, complete: bool) -> Cover:
        """How far a region covers a box, given how many points of the box lie in it, as SQL.

        Of a box that may hold anything, nothing is known unless the region is `complete`.
        """
        counted = f"{hits} + gap" if region.missing else hits
        texts = (
            f"CASE WHEN missing IS NULL THEN {complete and region.everything} ELSE {counted} = width END",
            f"CASE WHEN missing IS NULL THEN {not complete or not region.nothing} ELSE {counted} > 0 END",
            f"CAST({counted} AS DOUBLE) / NULLIF(width, 0)",
        )
        return Cover(*(parse_one(text, dialect="duckdb") for text in texts))

    def share(self, region: Region) -> exp.Expr:
        """The share of the length of a box that lies in a region; of a single point, whether it does."""
        finite = [each for each in region.intervals if each.low < inf and each.high > -inf]
        spans = [each for each in finite if each.low != each.high]
        points = ", ".join(repr(self._end(each.low)) for each in finite if each.low == each.high)
        inside = [*map(self._inside, spans), *([f"CASE WHEN start IN ({points}) THEN 1 ELSE 0 END"] if points else [])]
        overlaps = _sum([_overlap(self._end(each.low), self._end(each.high)) for each in spans])
        counted = f"CASE WHEN start IS NULL THEN 0 ELSE {_sum(inside)} END{' + gap' if region.missing else ''}"
        text = f"""
            CASE WHEN stop > start THEN CAST({overlaps} AS DOUBLE) / width
                 ELSE CAST({counted} AS DOUBLE) / NULLIF(CASE WHEN start IS NULL THEN 0 ELSE 1 END + gap, 0) END
        """
        return parse_one(text, dialect="duckdb")

    def _inside(self, interval: Interval) -> str:
        """1 if the start of a box lies in an interval, else 0."""
        low, high = self._end(interval.low), self._end(interval.high)
        tests = [] if low is None else [f"start {'>=' if interval.low_closed else '>'} {low}"]
        tests += [] if high is None else [f"start {'<=' if interval.high_closed else '<'} {high}"]
        return f"CASE WHEN {' AND '.join(tests) or 'TRUE'} THEN 1 ELSE 0 END"

    def _end(self, place: Place) -> int | float | None:
        """The end of an interval as a number; None if it has no end."""
        if isinf(place):
            return None
        return round(place) if self.timed else float(max(-Fraction(FARTHEST), min(Fraction(place), Fraction(FARTHEST))))


def hits_of(runs: Sequence[tuple[int | None, int | None]]) -> str:
    """How many points of a box lie in runs of whole numbers, as SQL."""
    return f"CASE WHEN start IS NULL THEN 0 ELSE {_sum([_overlap(*run, more=' + 1') for run in runs])} END"


def _overlap(low: float | None, high: float | None, more: str = "") -> str:
    """How much of a box lies between two places."""
    stop = "stop" if high is None else f"LEAST(stop, {high!r})"
    start = "start" if low is None else f"GREATEST(start, {low!r})"
    return f"GREATEST({stop} - {start}{more}, 0)"


def _sum(terms: Sequence[str]) -> str:
    if not terms:
        return "0"
    return terms[0] if len(terms) == 1 else f"LIST_SUM([{', '.join(terms)}])"
