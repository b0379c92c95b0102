"""Where to cut a part of the rows in a range: at the median, or as near to it as the promises allow.

It takes time linear in the rows, if codes are not many times more than rows; arrays that are written to are the
caller's, so that nothing is allocated for the many small parts.
What a part must keep is told by the `rule` (see `values.rule`).
Claim: range_cuts_are_nearest — of all cuts that keep the promises, the one nearest to the middle is found.
"""

from __future__ import annotations

import numpy as np

from discreet.partition.kernels import FINE, median
from discreet.values.kernel import kernel
from discreet.values.ordered import order_of
from discreet.values.rule import fewest_rows, only_counts, sweep


@kernel
def cut_range(codes, values, low, high, rule, relaxed, counts, histogram, order, works):  # type: ignore[no-untyped-def]
    """The code that starts the right part, how many of its rows are left of it, and all rows left of it; 0 if none.

    Codes lie between `low` and `high`, which differ. If `relaxed`, the rows of one code may fall on both sides,
    the first of them to the left.
    """
    n, fewest = codes.size, fewest_rows(rule)
    half = n // 2
    none = np.int64(0), np.int64(0), np.int64(0)
    if only_counts(rule):
        code, under, at = median(codes, low, high, histogram)
        upto = under + at
        if relaxed:
            return code, half - under, half
        if n - 2 * under <= 2 * upto - n:
            size = under
        else:
            code, size = code + 1, upto
        return none if min(size, n - size) < fewest else (code, np.int64(0), size)
    _arrange(codes, low, high, histogram, order)
    ordered = np.empty(n, np.int32)
    for i in range(n):
        ordered[i] = values[order[i]]
    sweep(ordered, rule, counts, works)
    for far in range(half - fewest + 1):
        for size in (half - far, n - half + far):
            if works[size] and (relaxed or codes[order[size - 1]] != codes[order[size]]):
                code, take = codes[order[size]], 0
                while take < size and codes[order[size - take - 1]] == code:
                    take += 1
                return np.int64(code), np.int64(take), np.int64(size)
    return none


@kernel
def _arrange(codes, low, high, histogram, order):  # type: ignore[no-untyped-def]
    """Write the rows in the order of their codes, those of one code as they stand."""
    n = codes.size
    if high - low > FINE * n:
        by_code = order_of(codes)
        for i in range(n):
            order[i] = by_code[i]
        return
    for i in range(high - low + 2):
        histogram[i] = 0
    for i in range(n):
        histogram[codes[i] - low + 1] += 1
    for c in range(high - low + 1):
        histogram[c + 1] += histogram[c]
    for i in range(n):
        at = codes[i] - low
        order[histogram[at]] = i
        histogram[at] += 1
