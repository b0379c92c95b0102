"""A hierarchy of intervals for numbers: each level has a width, and each width is a multiple of the one before.

Interval i of a width begins at origin + i × width. All is counted exactly: floating-point numbers are taken as
the shortest decimals that stand for them, so that 0.3 lies in the interval that begins at 0.3.
Cost: one exact division per value, then one of whole numbers per level.
Claim: intervals_hold — every value lies between the low and the high of its node at every level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal

import numpy as np
import pyarrow as pa

from discreet.errors import InputError
from discreet.hierarchies.levels import ROOT, Levels, Nodes, numbered
from discreet.hierarchies.match import kind, texts
from discreet.hierarchies.taxonomy import quoted

NUMBERS = ("whole numbers", "numbers", "decimals")
EXACT = Context(prec=1_000)


@dataclass(frozen=True)
class Intervals:
    """Widths, the narrowest first, and where an interval begins."""

    source: str
    widths: tuple[Decimal, ...]
    origin: Decimal

    def levels(self, domain: pa.Array, column: str) -> Levels:
        """The intervals that hold values of the column. Whole numbers reach up to the high, others stay below it."""
        whole = kind(domain.type) == "whole numbers"
        scale = self._scale(domain, column)
        points = _points(domain, scale)
        origin, *widths = (int(number.scaleb(scale, EXACT)) for number in (self.origin, *self.widths))
        nodes, ends = [np.arange(len(points), dtype=np.int32)], [(domain, domain)]
        labels = [tuple(texts(domain))]
        bins = [(point - origin) // widths[0] for point in points]
        for width, narrower in zip(widths, [widths[0], *widths], strict=False):
            bins = [i // (width // narrower) for i in bins]
            numbers, used = numbered(bins)
            low = _array([origin + i * width for i in used], scale, domain.type)
            high = _array([origin + (i + 1) * width - whole for i in used], scale, domain.type)
            nodes.append(numbers)
            ends.append((low, high))
            close = "]" if whole else ")"
            labels.append(tuple(f"[{a}, {b}{close}" for a, b in zip(texts(low), texts(high), strict=True)))
        return ranged(nodes, labels, ends)

    def _scale(self, domain: pa.Array, column: str) -> int:
        """How many digits after the point make all numbers whole; raise if intervals do not suit the column."""
        holds = kind(domain.type)
        if holds not in NUMBERS:
            other = {"dates": "`dates`", "timestamps": "`dates`", "text": "`masks` or a tree"}.get(holds, "a tree")
            raise InputError(
                f"{self.source}: `intervals` are for numbers, but the column `{column}` holds {holds}",
                hint=f"use {other} instead",
            )
        if holds == "numbers":
            if not np.isfinite(domain.to_numpy(zero_copy_only=False)).all():
                raise InputError(
                    f"{self.source}: the column `{column}` holds infinite values, which lie in no interval",
                    hint="leave these rows out, or make the values missing",
                )
            numbers = [Decimal(text) for text in texts(domain)] + [self.origin, *self.widths]
            return max(0, *(-_exponent(number) for number in numbers))
        scale = domain.type.scale if holds == "decimals" else 0
        for number in (self.origin, *self.widths):
            if -_exponent(number) > scale:
                has = f"{scale} digits after the point" if scale else "whole numbers"
                raise InputError(
                    f"{self.source}: {quoted(str(number))} does not fit the column `{column}`, which has {has}",
                    hint="give widths and origin with no more digits than the column has",
                )
        return scale


def _exponent(number: Decimal) -> int:
    return int(number.as_tuple().exponent)


def _points(domain: pa.Array, scale: int) -> list[int]:
    """The values as exact whole numbers of the last digit."""
    if pa.types.is_integer(domain.type):
        points: list[int] = domain.to_pylist()
        return points
    numbers = map(Decimal, texts(domain)) if pa.types.is_floating(domain.type) else domain.to_pylist()
    return [int(number.scaleb(scale, EXACT)) for number in numbers]


def ranged(nodes: list[Nodes], labels: list[tuple[str, ...]], ends: list[tuple[pa.Array, pa.Array]]) -> Levels:
    """Levels of intervals, with the root above them."""
    values = ends[0][0]
    root = pa.nulls(min(len(values), 1), values.type)
    ends = [*ends, (root, root)]
    return Levels(
        np.vstack([*nodes, np.zeros(len(values), np.int32)]),
        (*labels, (ROOT,) * len(root)),
        lows=tuple(low for low, _ in ends),
        highs=tuple(high for _, high in ends),
    )


def clamped(numbers: Sequence[int], type_: pa.DataType) -> pa.Array:
    """Whole numbers as an array; those beyond what the type can hold are the last that it can."""
    about = np.iinfo(type_.to_pandas_dtype())
    return pa.array([max(about.min, min(about.max, number)) for number in numbers], type_)


def _array(points: Sequence[int], scale: int, type_: pa.DataType) -> pa.Array:
    """Whole numbers of the last digit as values of the type."""
    if pa.types.is_integer(type_):
        return clamped(points, type_)
    if pa.types.is_decimal(type_):
        most = 10**type_.precision - 1
        return pa.array([Decimal(max(-most, min(most, point))).scaleb(-scale, EXACT) for point in points], type_)
    most = int(np.finfo(type_.to_pandas_dtype()).max) * 10**scale
    return pa.array([max(-most, min(most, point)) / 10**scale for point in points], pa.float64()).cast(type_)
