"""Swap: the table with sensitive values swapped between rows of near rank, and how far each may come from.

It carries no guarantee: `windows` follows from the values that are shown and from what windows are sized
to, as it is written here again, from its meaning and value by value.
Source: Koudas et al. (ICDE 2007), section 7.1 (6). Cost: v log n for v distinct values of n rows.
Claim: windows_follow_from_what_is_shown — whoever holds the swapped table can compute its windows.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.release.layouts.file import File, column, named, quoted
from discreet.release.manifest import Manifest, Promise, Window

DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
MOST = 2**63 - 1


class Swap:
    """The files `swapped` and `windows`; all rows are one group."""

    def files(self, promise: Promise) -> dict[str, File]:
        ends = (promise.count, *ends_of(promise))
        return {
            "swapped": File((*promise.quasi, promise.sensitive_column), ()),
            "windows": File((promise.sensitive_column, *ends), ends),
        }

    def orders(self, promise: Promise) -> list[tuple[tuple[str, ...], tuple[str, ...], bool]]:
        return [
            (("swapped",), (*promise.quasi, promise.sensitive_column), False),
            (("windows",), (promise.sensitive_column,), True),
        ]

    def tables(self, promise: Promise) -> dict[str, exp.Select]:
        quasi = [column(name) for name in promise.quasi]
        one = exp.cast(exp.Literal.number(1), "INTEGER")
        counts = {"value": promise.sensitive_column, "n": promise.count}
        columns = [exp.alias_(column(name), alias) for alias, name in counts.items()]
        group = exp.alias_(one.copy(), promise.group, quoted=True)
        return {
            "qit": exp.select(*quasi, group).from_(named("swapped file")),
            "st": exp.select(exp.alias_(one, "grp"), *columns).from_(named("windows file")),
        }

    def readme(self, manifest: Manifest) -> str:
        promise, window = manifest.discreet, manifest.discreet.window
        swapped, windows = manifest.resource("swapped").path, manifest.resource("windows").path
        sensitive, count, low, high = map(quoted, (promise.sensitive_column, promise.count, *ends_of(promise)))
        sized = "" if window is None else f"k = {window.k}, e = {window.e}"
        return f"""A swapped table of {promise.rows} people. **It promises nothing**: swapping is a baseline for comparison, and some
people's own values may stand beside them. Do not publish it where a guarantee is wanted.

- `{swapped}`: one row per person, with the quasi-identifiers as they are and a value of {sensitive} that
  belongs to somebody near in rank: rows swapped values, two and two.
- `{windows}`: for each value how many rows show it, and between which ranks, counted from 1 in ascending
  order, the value lies that such a row really holds. Windows are sized to {sized}, which is no guarantee.

For any condition on the quasi-identifiers, bounds of the smallest value, in DuckDB: give the rows the least and the
largest different ranks that their windows allow, and look up the values of these. Other aggregates likewise.

```sql
WITH ranked AS (
  SELECT {sensitive} AS val, {low} AS low, {high} AS high, SUM({count}) OVER (ORDER BY {sensitive}) AS upto FROM '{windows}'
), shown AS (
  SELECT ranked.low, ranked.high, ROW_NUMBER() OVER (ORDER BY ranked.val) AS place
  FROM '{swapped}' AS swapped JOIN ranked ON swapped.{sensitive} = ranked.val WHERE TRUE
), bounds AS (
  SELECT place + MAX(low - place) OVER (ORDER BY place) AS least,
         place + MIN(high - place) OVER (ORDER BY place DESC) AS most
  FROM shown
)
SELECT MIN(below.val) AS low, MIN(above.val) AS high
FROM bounds ASOF JOIN ranked AS below ON bounds.least <= below.upto ASOF JOIN ranked AS above ON bounds.most <= above.upto;
```
"""  # noqa: E501, S608 - a text to read; names are quoted


def ends_of(promise: Promise) -> tuple[str, str]:
    """The columns that hold the ends of windows."""
    return ("", "") if promise.window is None else (promise.window.low, promise.window.high)


def windows(values: pa.Array, counts: npt.NDArray[np.int64], window: Window) -> npt.NDArray[np.int64] | None:
    """The first and the last rank of every value's window, given the values in ascending order; None if it has none."""
    marks = _marks(values)
    if marks is None:
        return None
    exact, unit = marks
    e = float(window.e) if exact.dtype == np.float64 else min(ceil(Fraction(repr(window.e)) * unit), MOST)
    if counts.size < window.k or exact[-1] - exact[0] < e:
        return None
    first = _first_ranks(counts, exact, window.k, e)
    last = counts.sum() + 1 - _first_ranks(counts[::-1], -exact[::-1], window.k, e)[::-1]
    return np.stack([first, last], axis=1)


def _marks(values: pa.Array) -> tuple[npt.NDArray[Any], int] | None:
    """Numbers that lie as far apart as the values, and how many make one of a range; None if there are none."""
    kind = values.type
    if values.null_count or not len(values):
        return None
    if pa.types.is_floating(kind):
        floats = values.cast(pa.float64()).to_numpy()
        return (floats, 1) if np.isfinite(floats).all() else None
    if pa.types.is_decimal(kind):
        numbers, unit = [int(Fraction(value) * 10**kind.scale) for value in values.to_pylist()], 10**kind.scale
    elif pa.types.is_date(kind):
        numbers, unit = values.cast(pa.date32()).cast(pa.int32()).to_pylist(), 1
    elif pa.types.is_timestamp(kind):
        numbers, unit = values.cast(pa.int64()).to_pylist(), DAY[kind.unit]
    elif pa.types.is_integer(kind):
        numbers, unit = values.to_pylist(), 1
    else:
        return None
    if numbers[-1] - numbers[0] > MOST:
        return None
    return np.array([number - numbers[0] for number in numbers], np.int64), unit


def _first_ranks(counts: npt.NDArray[np.int64], marks: npt.NDArray[Any], k: int, e: float) -> npt.NDArray[np.int64]:
    """For each value the first rank that its first rank may have been swapped with: the one that reached the other."""
    upto, places = np.cumsum(counts), np.arange(counts.size)
    n, first = int(upto[-1]), upto - counts + 1

    def enough(start: npt.NDArray[np.int64], end: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether the values from one place to another are k distinct ones that span e."""
        return np.asarray((end - start + 1 >= k) & (marks[end] - marks[start] >= e))

    def does(l: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        ends = np.maximum(first - l, 1), np.minimum(first + l, n)
        return enough(*(np.searchsorted(upto, end) for end in ends))

    reached = np.maximum(first - _least(np.zeros_like(first), np.full_like(first, n), does), 1)
    # A rank r before `first` reaches it unless the ranks from 2r - first + 1 to first - 1 do already: unless
    # the former is at most `enough_from`, the last rank from which those up to first - 1 are enough.
    too_late = _least(np.zeros_like(places), places, lambda start: ~enough(start, places - 1))
    enough_from = np.where(too_late > 0, upto[too_late - 1], 0)
    reaching = np.where(enough_from > 0, (enough_from + first - 1) // 2 + 1, 1)
    return np.asarray(np.minimum(reached, reaching))


def _least(
    low: npt.NDArray[np.int64],
    high: npt.NDArray[np.int64],
    does: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.bool_]],
) -> npt.NDArray[np.int64]:
    """Place by place the least number that does, and with it all above; the highest if none below it does."""
    while (low < high).any():
        middle = (low + high) // 2
        found = does(middle)
        low, high = np.where(found | (low == high), low, middle + 1), np.where(found, middle, high)
    return low
