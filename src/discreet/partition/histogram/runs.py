"""A plan as runs: from which place among the rows sorted by value on they go to which group.

Rows of one value are alike, so that each value's groups may be put in order: then rows that follow each other go to the
same group, or each to the next, and a plan for millions of rows has hardly more runs than there are values, unless
groups were mixed. Whoever holds the rows gives them their groups by these, without a number per row.
Cost: one sort of the rows' numbers.
Claim: runs_are_the_plan — the same number of rows of each value goes to each group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.partition.kernels import IntArray


@dataclass(frozen=True, slots=True)
class Runs:
    """Of every run its first place, from 0, the group of that place, and how much the group grows with each place."""

    firsts: IntArray
    groups: IntArray
    steps: IntArray

    @classmethod
    def of(cls, groups: IntArray, values: IntArray) -> Runs:
        """The runs of a plan: the group of every row, when rows are sorted by their values."""
        ordered = groups[np.lexsort((groups, values))]
        steps = np.diff(ordered, append=ordered[-1:])
        small = (steps == 0) | (steps == 1)
        starts = np.ones(ordered.size, np.bool_)
        starts[1:] = ~small[:-1]
        starts[2:] |= small[:-2] & (steps[1:-1] != steps[:-2])
        firsts = np.flatnonzero(starts)
        alone = np.append(starts[1:], True)[firsts]
        return cls(firsts, ordered[firsts], np.where(alone, 0, steps[firsts]))

    def expanded(self, rows: int) -> IntArray:
        """The group of every place."""
        run = np.searchsorted(self.firsts, np.arange(rows), side="right") - 1
        found: IntArray = self.groups[run] + self.steps[run] * (np.arange(rows) - self.firsts[run])
        return found
