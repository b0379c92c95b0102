"""Compiled steps of the pass, second half: add up over the groups of a block what the rows that match can hold.

What is added up has a place for every pair of a key of the drawn side and one of the candidates' side (`keys` of
them). The formulas are those of `plan.draws` and `plan.aggregates`. Cost: for each pair that occurs in a group the
logarithm of its values, for `runs` all of them. None subtracts what it added before: a small value beside a huge one
is not lost.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from discreet.answer.accelerate.kernels import Candidates, Counts, Floats, Ints, Longs


@nb.njit(cache=True, nogil=True, error_model="numpy")
def counted(size: Ints, drawn: Counts, totals: Counts, keys: int, found: Floats, rows: Longs) -> None:
    """Of the candidates, how many are drawn: expected and the variance, and in `rows` at least and at most."""
    for g in range(size.size):
        once, twice = 1 / size[g], 1 / max(size[g] - 1, 1)
        for i in range(drawn.offsets[g], drawn.offsets[g + 1]):
            picks = drawn.n[i]
            draw = picks * float(size[g] - picks) * twice
            for j in range(totals.offsets[g], totals.offsets[g + 1]):
                total = totals.n[j]
                cell = drawn.keys[i] * keys + totals.keys[j]
                found[cell, 0] += float(picks) * total / size[g]
                if total < size[g]:
                    found[cell, 1] += draw * (total * once) * (float(size[g] - total) * once)
                rows[cell, 0] += max(picks + total - size[g], 0)
                rows[cell, 1] += min(picks, total)


@nb.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _entry(upto: Ints, start: int, end: int, count: int) -> int:
    """The first entry up to which there are `count` candidates."""
    if end - start == upto[end - 1]:  # one each
        return start + count - 1
    low, high = start, end - 1
    while low < high:
        middle = (low + high) // 2
        if upto[middle] >= count:
            high = middle
        else:
            low = middle + 1
    return low


@nb.njit(cache=True, nogil=True, error_model="numpy")
def summed(size: Ints, drawn: Counts, held: Candidates, numbers: Floats, keys: int, found: Floats) -> None:
    """Of the candidates that are drawn, the sum: expected, low, high, and the parts of variances.

    Column 3 is what the choice among candidates adds, 4 what their number adds to the variance of the sum; 5 to 7 are a
    number near the mean of the key (at first none), and the weighted first and second moments of means about it.
    """
    upto, value, smallest, largest = held.upto, held.value, held.smallest, held.largest
    for g in range(size.size):
        rows = float(size[g])
        once, twice = 1 / rows, 1 / max(rows - 1, 1.0)
        for i in range(drawn.offsets[g], drawn.offsets[g + 1]):
            picks = drawn.n[i]
            draw = picks * (rows - picks) * twice
            for j in range(held.offsets[g], held.offsets[g + 1]):
                cell = drawn.keys[i] * keys + held.keys[j]
                start, end = held.first[j], held.first[j + 1]
                total = upto[end - 1]
                fewest, most = max(picks + total - size[g], 0), min(picks, total)
                low, high = max(fewest, min(most, held.negative[j])), max(fewest, min(most, held.positive[j]))
                found[cell, 0] += picks * smallest[end - 1] / rows
                found[cell, 3] += draw * once * held.spread[j]
                if low > 0:
                    at = _entry(upto, start, end, low)
                    if upto[at] == low:
                        found[cell, 1] += smallest[at]
                    elif at == start:
                        found[cell, 1] += low * numbers[value[at]]
                    else:
                        found[cell, 1] += smallest[at - 1] + (low - upto[at - 1]) * numbers[value[at]]
                if high == total and high > 0:
                    found[cell, 2] += largest[start]
                elif high > 0:
                    rest = total - high
                    at = _entry(upto, start, end, rest)
                    beyond = largest[at + 1] if at + 1 < end else 0.0
                    found[cell, 2] += beyond + (upto[at] - rest) * numbers[value[at]]
                around, mean = draw * (total * once) * ((rows - total) * once), held.mean[j]
                if around > 0:
                    if np.isnan(found[cell, 5]):
                        found[cell, 5] = mean
                    found[cell, 4] += around * mean * mean
                    found[cell, 6] += around * (mean - found[cell, 5])
                    found[cell, 7] += around * (mean - found[cell, 5]) * (mean - found[cell, 5])


@nb.njit(cache=True, nogil=True, error_model="numpy")
def runs(size: Ints, drawn: Counts, held: Candidates, keys: int, weight: Floats, ends: Longs) -> None:
    """Per cell and value, how many are expected; and among the smallest and largest, how many forced and free."""
    for g in range(size.size):
        for i in range(drawn.offsets[g], drawn.offsets[g + 1]):
            picks = drawn.n[i]
            chance = picks / float(size[g])
            for j in range(held.offsets[g], held.offsets[g + 1]):
                cell = drawn.keys[i] * keys + held.keys[j]
                start, end = held.first[j], held.first[j + 1]
                total = held.upto[end - 1]
                fewest, most = max(picks + total - size[g], 0), min(picks, total)
                before = 0
                for e in range(start, end):
                    n, value = held.upto[e] - before, held.value[e]
                    weight[cell, value] += chance * n
                    if before < most:
                        forced = min(max(fewest - before, 0), n)
                        ends[cell, value, 0] += forced
                        ends[cell, value, 1] += min(most - before, n) - forced
                    above = total - held.upto[e]
                    if above < most:
                        forced = min(max(fewest - above, 0), n)
                        ends[cell, value, 2] += forced
                        ends[cell, value, 3] += min(most - above, n) - forced
                    before = held.upto[e]
