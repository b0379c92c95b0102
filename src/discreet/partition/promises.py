"""Compiled checks of the promises: whether a run of rows keeps them, and where a run may be cut in two.

Both look at the sensitive values alone and count them in `counts`, which is all zero before and after.
Cost: linear in the rows of the run, however many sensitive values there are.
Claim: sweep_marks_every_cut — a position is marked if and only if both parts of a cut there keep all promises.
"""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def fewest_rows(rule):  # type: ignore[no-untyped-def]
    """No fewer rows than these can keep all promises."""
    return max(rule.k, rule.l, rule.distinct_l, 1)


@nb.njit(cache=True, nogil=True)
def only_counts(rule):  # type: ignore[no-untyped-def]
    """Whether enough rows are all that is promised."""
    return rule.l <= 1 and rule.distinct_l <= 1 and rule.marks.size == 0


@nb.njit(cache=True, nogil=True)
def keeps(values, rule, counts):  # type: ignore[no-untyped-def]
    """Whether the rows with these sensitive values keep all promises as one group."""
    n = values.size
    if n < fewest_rows(rule):
        return False
    if only_counts(rule):
        return True
    top, distinct = np.int32(0), 0
    low, high = values[0], values[0]
    for i in range(n):
        v = values[i]
        counts[v] += np.int32(1)
        top = max(top, counts[v])
        distinct += counts[v] == 1
        low, high = min(low, v), max(high, v)
    for i in range(n):
        counts[values[i]] = 0
    if rule.marks.size and rule.marks[high] - rule.marks[low] < rule.e:
        return False
    return top * rule.l <= n and distinct >= rule.distinct_l


@nb.njit(cache=True, nogil=True)
def sweep(values, rule, counts, works):  # type: ignore[no-untyped-def]
    """Set works[i] for every i: whether the first i rows keep all promises, and so do the rows from i on."""
    n = values.size
    top, distinct = np.int32(0), 0
    low, high = values[0], values[0]
    works[0] = False
    for i in range(n):
        v = values[i]
        counts[v] += np.int32(1)
        top = max(top, counts[v])
        distinct += counts[v] == 1
        low, high = min(low, v), max(high, v)
        kept = i + 1 >= rule.k and top * rule.l <= i + 1 and distinct >= rule.distinct_l
        if kept and rule.marks.size:
            kept = rule.marks[high] - rule.marks[low] >= rule.e
        works[i + 1] = kept
    for i in range(n):
        counts[values[i]] = 0
    top, distinct = np.int32(0), 0
    low, high = values[n - 1], values[n - 1]
    works[n] = False
    for i in range(n - 1, -1, -1):
        v = values[i]
        counts[v] += np.int32(1)
        top = max(top, counts[v])
        distinct += counts[v] == 1
        low, high = min(low, v), max(high, v)
        kept = n - i >= rule.k and top * rule.l <= n - i and distinct >= rule.distinct_l
        if kept and rule.marks.size:
            kept = rule.marks[high] - rule.marks[low] >= rule.e
        works[i] = works[i] and kept
    for i in range(n):
        counts[values[i]] = 0
