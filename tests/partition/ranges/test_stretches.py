"""Laying out groups that are stretches of values."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.partition.ranges.stretches import lay_out


@st.composite
def stretches(draw):
    """Groups of at least two values each; the next starts after the last value, or at it if it has two rows."""
    firsts, lasts, counts, first = [], [], {}, 0
    for _ in range(draw(st.integers(1, 6))):
        last = first + draw(st.integers(1, 4))
        firsts.append(first)
        lasts.append(last)
        first = last + draw(st.booleans())
    for v in range(lasts[-1] + 1):
        shared = v in lasts and v in firsts
        counts[v] = draw(st.integers(2 if shared else 1, 9))
    return list(counts.values()), firsts, lasts


@settings(max_examples=300, deadline=None)
@given(case=stretches())
def test_cut_rows_stay_in_their_group(case):
    counts, firsts, lasts = case
    plan = lay_out(*map(np.array, case)).tolist()
    assert plan == sorted(plan)
    values = [v for v, count in enumerate(counts) for _ in range(count)]
    for group, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
        held = [v for v, g in zip(values, plan, strict=True) if g == group]
        assert sorted(set(held)) == list(range(first, last + 1))
    for v in set(firsts) & set(lasts):
        shares = [sum(w == v and g == group for w, g in zip(values, plan, strict=True)) for group in set(plan)]
        assert sorted(shares)[-2:] == [counts[v] // 2, counts[v] - counts[v] // 2]
