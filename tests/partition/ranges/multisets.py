"""Random multisets of numbers for the (k,e) partitions, and the plain dynamic programme over items that judges them."""

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from discreet.guarantees import Scale

KINDS = {
    "few integers": st.integers(-4, 5),
    "integers": st.integers(-60, 60),
    "far integers": st.integers(-(2**61), 2**61),
    "quarters": st.integers(-40, 40).map(lambda n: n / 4),
    "floats": st.floats(-1e6, 1e6, allow_nan=False),
    "floats of any size": st.floats(-1e300, 1e300, allow_nan=False),
}


@st.composite
def multisets(draw, kinds=tuple(KINDS), most=16):
    """Counts and marks of the distinct values of a multiset, and (k,e) that it keeps as one group."""
    values = KINDS[draw(st.sampled_from(kinds))]
    items = draw(st.lists(values, min_size=2, max_size=most).filter(lambda items: len(set(items)) > 1))
    items += draw(st.lists(st.sampled_from(items), max_size=most // 2))  # more ties
    domain, counts = np.unique(items, return_counts=True)
    scale = Scale.of(pa.array(domain), "s")
    k = draw(st.integers(2, min(domain.size, 5)))
    low, high = sorted(draw(st.tuples(*[st.integers(0, domain.size - 1)] * 2)))
    e = draw(st.sampled_from([0 * scale.marks[0], scale.marks[high] - scale.marks[low]]))
    return counts, scale.marks, k, e.item()


def items_of(counts, marks):
    return [mark for mark, count in zip(marks.tolist(), counts.tolist(), strict=True) for _ in range(count)]


def groups_of(plan, counts, marks):
    """The items of every group, as a plan says; every group must be there."""
    groups = [[] for _ in range(max(plan.tolist()) + 1)]
    for item, group in zip(items_of(counts, marks), plan.tolist(), strict=True):
        groups[group].append(item)
    return groups


def keeps(group, k, e):
    return len(set(group)) >= k and group[-1] - group[0] >= e


def reach(group):
    return group[-1] - group[0]


def deviation(group):
    return sum(abs(item - group[(len(group) - 1) // 2]) for item in group)


def least(counts, marks, k, e, cost, join):
    """Equation 1 of Koudas et al. (2007): f(i) = min over d of join(f(d), cost of the items d..i), if they keep (k,e)."""
    items = items_of(counts, marks)
    f = [0] + [None] * len(items)
    for i in range(1, len(items) + 1):
        ways = [join(f[d], cost(items[d:i])) for d in range(i) if f[d] is not None and keeps(items[d:i], k, e)]
        f[i] = min(ways, default=None)
    return f[-1]
