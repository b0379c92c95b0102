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
                cell = np.uint64(drawn.keys[i] * keys + totals.keys[j])
                found[cell, 0] += float(picks) * total / size[g]
                if total < size[g]:
                    found[cell, 1] += draw * (total * once) * (float(size[g] - total) * once)
                rows[cell, 0] += max(picks + total - size[g], 0)
                rows[cell, 1] += min(picks, total)


@nb.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _entry(upto: Ints, start: int, end: int, count: int) -> int:
    """The first entry up to which there are `count` candidates."""
    low, high = start, end - 1
    while low < high:
        middle = (low + high) // 2
        if upto[middle] >= count:
            high = middle
        else:
            low = middle + 1
    return low


@nb.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _smallest(upto: Ints, value: Ints, smallest: Floats, numbers: Floats, start: int, end: int, count: int) -> float:
    """The sum of the smallest `count` candidates from `start` to `end`."""
    if count == 0:
        return 0.0
    at = _entry(upto, start, end, count)
    if upto[at] == count:
        return float(smallest[at])
    before = upto[at - 1] if at > start else 0
    return float((smallest[at - 1] if at > start else 0.0) + (count - before) * numbers[value[at]])


@nb.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _largest(upto: Ints, value: Ints, largest: Floats, numbers: Floats, start: int, end: int, count: int) -> float:
    """The sum of the largest `count` candidates from `start` to `end`."""
    rest = upto[end - 1] - count
    if count == 0 or rest == 0:
        return float(largest[start]) if count else 0.0
    at = _entry(upto, start, end, rest)
    return float((largest[at + 1] if at + 1 < end else 0.0) + (upto[at] - rest) * numbers[value[at]])


@nb.njit(cache=True, nogil=True, error_model="numpy")
def summed_all(size: Ints, drawn: Counts, held: Candidates, numbers: Floats, found: Floats, rows: Longs) -> None:
    """The same as `counted` and `summed`, where every row of a group is a candidate: so many are drawn for sure."""
    upto, value, smallest, largest = held.upto, held.value, held.smallest, held.largest
    for g in range(size.size):
        j, every = held.offsets[g], float(size[g])
        start, end = held.first[j], held.first[j + 1]
        mean, variance = smallest[end - 1] / every, held.spread[j] / (every * max(every - 1, 1.0))
        one_each = end - start == size[g]
        for i in range(drawn.offsets[g], drawn.offsets[g + 1]):
            picks, cell = drawn.n[i], np.uint64(drawn.keys[i])
            rows[cell, 0] += picks
            found[cell, 0] += picks * mean
            if one_each:
                found[cell, 1] += smallest[start + picks - 1]
                found[cell, 2] += largest[end - picks]
            else:
                found[cell, 1] += _smallest(upto, value, smallest, numbers, start, end, picks)
                found[cell, 2] += _largest(upto, value, largest, numbers, start, end, picks)
            found[cell, 3] += picks * (every - picks) * variance


@nb.njit(cache=True, nogil=True, error_model="numpy")
def summed(
    size: Ints, drawn: Counts, held: Candidates, numbers: Floats, keys: int, counts: Floats, rows: Longs, found: Floats
) -> None:
    """The same as `counted`, and of the candidates that are drawn the sum: expected, low, high, parts of variances.

    Column 3 is what the choice among candidates adds, 4 what their number adds to the variance of the sum; 5 to 7 are a
    number near the mean of the key (at first none), and the weighted first and second moments of means about it.
    """
    upto, value, smallest, largest = held.upto, held.value, held.smallest, held.largest
    for g in range(size.size):
        every = float(size[g])
        once, twice = 1 / every, 1 / max(every - 1, 1.0)
        for j in range(held.offsets[g], held.offsets[g + 1]):
            start, end, total, mean = held.first[j], held.first[j + 1], held.total[j], held.mean[j]
            share, spread = (total * once) * ((every - total) * once), once * held.spread[j]
            rest, negative, positive = size[g] - total, held.negative[j], held.positive[j]
            one_each = end - start == total
            for i in range(drawn.offsets[g], drawn.offsets[g + 1]):
                picks, cell = drawn.n[i], np.uint64(drawn.keys[i] * keys + held.keys[j])
                fewest, most = max(picks - rest, 0), min(picks, total)
                low, high = max(fewest, min(most, negative)), max(fewest, min(most, positive))
                rows[cell, 0] += fewest
                rows[cell, 1] += most
                expected, draw = float(picks) * total / every, picks * (every - picks) * twice
                counts[cell, 0] += expected
                found[cell, 0] += expected * mean
                if one_each:  # of none the sum is 0, without a branch to be guessed
                    found[cell, 1] += smallest[start + max(low, 1) - 1] * (low > 0)
                    found[cell, 2] += largest[end - max(high, 1)] * (high > 0)
                else:
                    found[cell, 1] += _smallest(upto, value, smallest, numbers, start, end, low)
                    found[cell, 2] += _largest(upto, value, largest, numbers, start, end, high)
                found[cell, 3] += draw * spread
                around = draw * share
                if around > 0:
                    if np.isnan(found[cell, 5]):
                        found[cell, 5] = mean
                    off = mean - found[cell, 5]
                    counts[cell, 1] += around
                    found[cell, 4] += around * mean * mean
                    found[cell, 6] += around * off
                    found[cell, 7] += around * off * off


@nb.njit(cache=True, nogil=True, error_model="numpy")
def weighed(size: Ints, drawn: Counts, held: Candidates, keys: int, weight: Floats) -> None:
    """Per cell and value, how many are expected to be drawn."""
    for g in range(size.size):
        for j in range(held.offsets[g], held.offsets[g + 1]):
            for i in range(drawn.offsets[g], drawn.offsets[g + 1]):
                chance, before = drawn.n[i] / float(size[g]), 0
                cell = np.uint64(drawn.keys[i] * keys + held.keys[j])
                for e in range(held.first[j], held.first[j + 1]):
                    weight[cell, np.uint64(held.value[e])] += chance * (held.upto[e] - before)
                    before = held.upto[e]


@nb.njit(cache=True, nogil=True, error_model="numpy")
def nearest(size: Ints, drawn: Counts, held: Candidates, keys: int, step: int, bound: Ints, weight: Floats) -> None:
    """The same from the smallest value on (or the largest, if `step` is -1), up to one that is expected once for sure.

    There is a `bound` for each cell, at first the last value; none beyond it is looked at.
    """
    for g in range(size.size):
        for j in range(held.offsets[g], held.offsets[g + 1]):
            start, end = held.first[j], held.first[j + 1]
            one_each = end - start == held.total[j]
            for i in range(drawn.offsets[g], drawn.offsets[g + 1]):
                chance, cell = drawn.n[i] / float(size[g]), np.uint64(drawn.keys[i] * keys + held.keys[j])
                e = start if step > 0 else end - 1
                while start <= e < end and (held.value[e] - bound[cell]) * step <= 0:
                    value = np.uint64(held.value[e])
                    n = 1 if one_each else held.upto[e] - (held.upto[e - 1] if e > start else 0)
                    weight[cell, value] += chance * n
                    if weight[cell, value] >= 1:
                        bound[cell] = value
                    e += step


@nb.njit(cache=True, nogil=True, error_model="numpy")
def edges(size: Ints, drawn: Counts, held: Candidates, keys: int, ends: Longs) -> None:
    """Of what `runs` says as much as MIN and MAX ask.

    That is the smallest and the largest of all, the largest of the forced smallest and the smallest of the largest.
    """
    for g in range(size.size):
        for j in range(held.offsets[g], held.offsets[g + 1]):
            start, end, total = held.first[j], held.first[j + 1], held.total[j]
            one_each = end - start == total
            for i in range(drawn.offsets[g], drawn.offsets[g + 1]):
                fewest, cell = drawn.n[i] + total - size[g], np.uint64(drawn.keys[i] * keys + held.keys[j])
                ends[cell, held.value[start], 1] += 1
                ends[cell, held.value[end - 1], 3] += 1
                if fewest > 0:
                    last = start + fewest - 1 if one_each else _entry(held.upto, start, end, fewest)
                    first = end - fewest if one_each else _entry(held.upto, start, end, total - fewest + 1)
                    ends[cell, held.value[last], 0] += 1
                    ends[cell, held.value[first], 2] += 1


@nb.njit(cache=True, nogil=True, error_model="numpy")
def runs(size: Ints, drawn: Counts, held: Candidates, keys: int, ends: Longs) -> None:
    """Per cell and value, how many are among the smallest that are drawn, forced and free, and among the largest."""
    for g in range(size.size):
        for j in range(held.offsets[g], held.offsets[g + 1]):
            start, end, total = held.first[j], held.first[j + 1], held.total[j]
            one_each = end - start == total
            for i in range(drawn.offsets[g], drawn.offsets[g + 1]):
                picks, cell = drawn.n[i], np.uint64(drawn.keys[i] * keys + held.keys[j])
                fewest, most = max(picks + total - size[g], 0), min(picks, total)
                if one_each:
                    for k in range(most):
                        free = np.uint64(k >= fewest)
                        ends[cell, np.uint64(held.value[start + k]), free] += 1
                        ends[cell, np.uint64(held.value[end - 1 - k]), np.uint64(2) + free] += 1
                    continue
                e, before = start, 0
                while before < most:
                    n, value = held.upto[e] - before, held.value[e]
                    forced = min(max(fewest - before, 0), n)
                    ends[cell, value, 0] += forced
                    ends[cell, value, 1] += min(most - before, n) - forced
                    before += n
                    e += 1
                e, above = end - 1, 0
                while above < most:
                    n, value = held.upto[e] - (held.upto[e - 1] if e > start else 0), held.value[e]
                    forced = min(max(fewest - above, 0), n)
                    ends[cell, value, 2] += forced
                    ends[cell, value, 3] += min(most - above, n) - forced
                    above += n
                    e -= 1
