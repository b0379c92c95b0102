"""Rows of the table that a release does not show: what they leave of its bounds, and what an answer says of them.

If a policy lets a share s of the rows be suppressed, a release of R rows is of a table of R + u rows, u ≤ s·(R + u).
So u is at most R·s / (1 − s), rounded down; every number up to it is possible, and nothing is known of those rows.
Added to the rows shown they can only raise a COUNT, of rows or of different values, by u at most; only lower a MIN and
raise a MAX; and carry a sum, a mean, a spread or a quantile anywhere.
Bounds that remain are the exact extremes; the others are left empty.
Claim: bounds_include_rows_left_out — low and high hold for every table that suppression could have made the release of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from discreet.answer.question.question import COUNTS, Function, Question
from discreet.release.manifest import Promise

LARGEST = 2**62  # a count beyond it says nothing


@dataclass(frozen=True)
class LeftOut:
    """How many rows may be missing from a release beside those shown: at `most` so many, or any number (None)."""

    most: int | None = 0

    SURE: ClassVar[dict[Function, str]] = {"min": "high", "max": "low"}  # the end that holds if some shown row matches

    @classmethod
    def of(cls, promise: Promise) -> LeftOut:
        """Read from the share that the policy allowed, as the decimal that it is written as."""
        share = Fraction(str(promise.suppression or 0))
        if share >= 1:
            return cls(None)
        most = int(promise.rows * share / (1 - share))
        return cls(most if most < LARGEST else None)

    def in_sql(self, value: exp.Expr, function: Function, part: str, least: exp.Expr) -> exp.Expr:
        """A part of an answer once such rows are thought of; `least` is how many shown rows match for certain."""
        if self.most == 0 or part not in {"low", "high"} or (function in COUNTS and part == "low"):
            return value
        if function in COUNTS and part == "high" and self.most is not None:
            return exp.Add(this=value, expression=exp.Literal.number(self.most))
        holds = least > 0 if self.SURE.get(function) == part else exp.false()
        return exp.Case(ifs=[exp.If(this=holds, true=value)])

    def in_arrays(self, value: pa.ChunkedArray, function: Function, part: str, least: pa.ChunkedArray) -> pa.Array:
        """The same of a column."""
        if self.most == 0 or part not in {"low", "high"} or (function in COUNTS and part == "low"):
            return value
        if function in COUNTS and part == "high" and self.most is not None:
            return pc.add(value, pa.scalar(self.most, value.type))
        if self.SURE.get(function) == part:
            return pc.if_else(pc.greater(least, 0), value, pa.scalar(None, value.type))
        return pa.nulls(len(value), value.type)

    def notes(self, question: Question) -> Iterator[str]:
        """What the bounds of each aggregate leave open."""
        for aggregate in question.aggregates if self.most != 0 else ():
            sure = self.SURE.get(aggregate.function)
            if sure is not None:
                other = "low" if sure == "high" else "high"
                yield (
                    f"{aggregate.name}: no {other}, since the rows left out may hold any value; "
                    f"{sure} where a row that is shown is certain to match"
                )
            elif aggregate.function not in COUNTS:
                yield f"{aggregate.name}: no bounds, since the rows left out may hold any value"


NOBODY = LeftOut()


def about(promise: Promise, left_out: LeftOut, question: Question | None) -> Iterator[str]:
    """Which rows an answer is about, where not all of the table are in the release."""
    if left_out.most != 0:
        many = "any number" if left_out.most is None else f"up to {left_out.most:,}"
        counts = "a count has no high" if left_out.most is None else "the high of a count includes them"
        keys = "; keys that only they have are not listed" if question is None or question.keys else ""
        yield f"{many} of the table's rows may have been left out; estimates are about the others, {counts}{keys}"
    if promise.missing_sensitive == "withhold":
        yield f"rows without a `{promise.sensitive}` were left out; the answer and its bounds are about the others"
    if promise.sequence is not None:
        yield "rows that wait for a later release, if any, are not in this one; answer and bounds are about the others"
