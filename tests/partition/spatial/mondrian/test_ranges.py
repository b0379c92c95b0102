"""Cuts of one dimension: the nearest to the middle, whatever codes there are."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.partition.spatial.mondrian.ranges import cut_range
from partition.spatial.spaces import cases, guarantee, keeps


@settings(max_examples=300, deadline=None)
@given(
    case=cases(forms=("set",)),
    size=st.sampled_from([2, 5, 200, 60_000]),
    relaxed=st.booleans(),
    random=st.randoms(use_true_random=False),
)
def test_range_cuts_are_nearest(case, size, relaxed, random):
    _, sensitive, promised = case
    n, values = sensitive.size, sensitive.tolist()
    codes = np.array([0, size - 1] + [random.randrange(size) for _ in range(n - 2)], np.uint16)
    spare = np.zeros(8, np.int32), np.empty(size + 1, np.int64), np.empty(n, np.int32), np.empty(n + 1, np.bool_)
    rule = guarantee(promised).rule
    if n < 2 * max(rule.k, rule.l, rule.distinct_l):
        return  # parts of so few rows are never looked at
    code, take, left = cut_range(codes, sensitive, 0, size - 1, rule, relaxed, *spare)
    order = np.argsort(codes, kind="stable").tolist()
    works = [
        i
        for i in range(1, n)
        if (relaxed or codes[order[i - 1]] != codes[order[i]])
        and keeps([values[row] for row in order[:i]], promised)
        and keeps([values[row] for row in order[i:]], promised)
    ]
    assert left == min(works, key=lambda i: (abs(2 * i - n), i), default=0)
    if left:
        first = [row for row in range(n) if codes[row] < code]
        first += [row for row in range(n) if codes[row] == code][:take]
        assert sorted(first) == sorted(order[:left])
