"""Deal: sort the rows by sensitive value and deal them round-robin into as many groups as the guarantee allows.

Source: Li et al., "Permutation anonymization" (2015), Algorithm 1, with g = floor(n/l).
Cost: linear in the rows, on the histogram alone.
Claim: deal_makes_floor_n_over_l_groups — under `l`, floor(n/l) groups whose values are all distinct.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.guarantees import Guarantee
from discreet.partition.histogram.plan import carry_out
from discreet.partition.kernels import IntArray, deal_out
from discreet.values.capacity import capacity
from discreet.values.random import RandomSource
from discreet.values.rule import Rule


def assign(quasi: Sequence[IntArray], sensitive: IntArray, guarantee: Guarantee, secret: RandomSource) -> IntArray:
    """The group of every row; quasi-identifiers are not looked at."""
    counts = np.bincount(sensitive)
    return carry_out(plan(counts, guarantee.rule), sensitive, counts, secret)


def plan(counts: IntArray, rule: Rule) -> IntArray:
    """The group of the i-th row when rows are sorted by value."""
    out, held = np.empty(counts.sum(), np.int32), np.arange(counts.size, dtype=np.int32)
    deal_out(counts, held, rule, capacity(counts, held, rule), out, 0)
    return out
