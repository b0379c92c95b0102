"""In how many groups rows may be dealt out, so that all of them keep what is promised.

Cost: linear in the values that occur, times the logarithm of the groups.
"""

from __future__ import annotations

import numpy as np

from discreet.values.kernel import kernel
from discreet.values.rule import has_shares, is_harmless, rows_for


@kernel
def capacity(counts, values, rule):  # type: ignore[no-untyped-def]
    """How many groups dealing may make so that every group keeps all promises.

    Values are given in ascending order, with how many rows hold each.
    Dealing g groups gives each floor(n/g) rows or more, at most ceil(c/g) of a value that c rows hold,
    floor(sum of min(c, g) / g) distinct values or more, and one of the g smallest and one of the g
    largest rows that are laid down first. So groups keep to the shares of all values if floor(n/g) rows are enough for
    ceil(c/g) of each. What g groups need in rows, fewer groups need too, so the next to try is n over it.
    It is the most that work for `l` alone and for `k` with `distinct_l`; for others the most for which
    rounding cannot break a promise. 0 when even one group breaks one. The m rows without a harmless value are dealt
    first, as if they were alone.
    """
    n, m, top, g = 0, 0, 0, 0
    for i in range(counts.size):
        n += counts[i]
        if not is_harmless(values[i], rule):
            m += counts[i]
            top = max(top, counts[i])
    g = min(n // max(rule.k, 1), m // max(rule.l, 1))
    if rule.marks.size:
        g = min(g, _wide_enough(counts, values, g, rule))
    while g > 0:
        need = -(-top // g) * rule.l if rule.l > 1 else 0
        if need > m // g:
            g = m // need
            continue
        need = _rows_needed(counts, values, g, rule) if has_shares(rule) else 0
        if need > n // g:
            g = n // need
            continue
        spread = 0
        for i in range(counts.size):
            if not is_harmless(values[i], rule):
                spread += min(counts[i], g)
        if spread >= g * max(rule.distinct_l, 1):
            return g
        # concave in g, zero at zero: what fails here holds only further down
        g = min(g - 1, spread // max(rule.distinct_l, 1))
    return 0


@kernel
def _rows_needed(counts, values, g, rule):  # type: ignore[no-untyped-def]
    """The rows that a group needs if the rows of each value are dealt to so many groups."""
    need = np.int64(0)
    for i in range(counts.size):
        need = max(need, rows_for(values[i], -(-counts[i] // g), rule))
    return need


@kernel
def _wide_enough(counts, values, most, rule):  # type: ignore[no-untyped-def]
    """The most groups, up to `most`, for which the g-th smallest and the g-th largest row lie `e` apart."""
    fit, high = 0, most  # what fails for some number fails for every larger one
    while fit < high:
        g = fit + (high - fit + 1) // 2
        low, last, rows = 0, -1, 0
        while rows < g and low < counts.size:
            if not is_harmless(values[low], rule):
                rows += min(counts[low], g)
                last = low
            low += 1
        top, first, rows = counts.size, counts.size, 0
        while rows < g and top > 0:
            top -= 1
            if not is_harmless(values[top], rule):
                rows += min(counts[top], g)
                first = top
        if 0 <= last <= first < counts.size and rule.marks[values[first]] - rule.marks[values[last]] >= rule.e:
            fit = g
        else:
            high = g - 1
    return fit
