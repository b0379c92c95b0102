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
from discreet.partition.histogram.runs import Runs
from discreet.partition.kernels import IntArray, deal_out
from discreet.values.capacity import capacity
from discreet.values.random import RandomSource
from discreet.values.rule import Rule, is_harmless


def assign(quasi: Sequence[IntArray], sensitive: IntArray, guarantee: Guarantee, secret: RandomSource) -> IntArray:
    """The group of every row; quasi-identifiers are not looked at."""
    counts = np.bincount(sensitive)
    return carry_out(plan(counts, guarantee.rule), sensitive, counts, secret)


def plan(counts: IntArray, rule: Rule) -> IntArray:
    """The group of the i-th row when rows are sorted by value."""
    out, held = np.empty(counts.sum(), np.int32), np.arange(counts.size, dtype=np.int32)
    deal_out(counts, held, rule, capacity(counts, held, rule), out, 0)
    return out


def groups_of(counts: IntArray, rule: Rule) -> int:
    """How many groups there will be, each of about as many rows."""
    return int(capacity(counts, np.arange(counts.size, dtype=np.int32), rule))


def longest(counts: IntArray, rule: Rule) -> int:
    """How many runs there are at most."""
    return 4 * counts.size + int(counts.sum()) // groups_of(counts, rule) + 1


def runs(counts: IntArray, rule: Rule) -> Runs:
    """The same plan by its runs, without a number per row: a few for each value, and one more for each turn."""
    held, groups = np.arange(counts.size, dtype=np.int32), groups_of(counts, rule)
    starts, turn, found = np.cumsum(counts) - counts, 0, []
    for harmless in (False, True):
        for again in (False, True):
            for v in held.tolist():
                if is_harmless(v, rule) != harmless:
                    continue
                c = int(counts[v])
                at, end = (min(c, groups), c) if again else (0, min(c, groups))
                while at < end:
                    length = min(end - at, groups - turn)
                    found.append((int(starts[v]) + at, turn, int(length > 1)))
                    at, turn = at + length, (turn + length) % groups
    firsts, of, steps = np.array(sorted(found), np.int64).reshape(-1, 3).T
    return Runs(firsts, of, steps)
