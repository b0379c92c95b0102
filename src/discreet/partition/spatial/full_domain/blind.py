"""Go down the lattice of levels as far as no group can break the guarantee, however values lie in the groups above.

From the root, where all rows are one group, one level of one quasi-identifier is lowered at a time: of the steps that
are *sure* the one that loses least then, while loss falls. A step is sure if every new group has so many rows that
any such number of rows of the group it comes from keep the guarantee (`values/rule.py`: `surely`). Groups with fewer
rows are left out, if these are not more rows than the limit.

Every step follows from sizes of groups, which quasi-identifiers tell, and from the values of the groups that it starts
from. Exchange values inside a published group: those above it hold the same values as before, so all steps are the
same, and so is the release. Searching for the best point would not do: what rules out a point that is not above the
chosen one depends on values that its groups do not show.
Cost: at each step, the distinct rows for every quasi-identifier, and the values of its groups, which are sorted.
Claim: blind_cuts_tell_nothing — every table with the groups' values is raised to the same levels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.partition.spatial.full_domain.lattice import Groups, Lattice, Point
from discreet.partition.spatial.full_domain.losses import Loss
from discreet.partition.spatial.full_domain.rollup import Counts
from discreet.values.kernel import kernel
from discreet.values.rule import Rule, surely_held

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Step:
    """A point that is reached: its groups, which of them are left out, and what it loses."""

    groups: Groups
    out: Flags
    loss: int

    @property
    def suppressed(self) -> int:
        return int(self.groups.sizes[self.out].sum())


def descend(lattice: Lattice, rule: Rule, loss: Loss, limit: int) -> tuple[Step, int]:
    """The last point of the way down, and how many points were counted."""
    top = lattice.at(tuple(levels - 1 for levels in lattice.shape))
    here, counted = Step(top, np.zeros(1, np.bool_), loss.exact(top, np.zeros(0, np.int32))), 1
    while True:
        above, sure = lattice.of_distinct(here.groups.point), _sure(here.groups, rule)
        steps = []
        for point in _below(here.groups.point):
            groups = lattice.at(point)
            parents = above[groups.firsts]
            out = here.out[parents] | (groups.sizes < sure[parents])
            if groups.sizes[out].sum() <= limit:
                steps.append(Step(groups, out, loss.exact(groups, np.flatnonzero(out).astype(np.int32))))
            counted += 1
        best = min(steps, key=lambda step: (step.loss, step.groups.point), default=here)
        if best.loss >= here.loss:
            return here, counted
        here = best


def _below(point: Point) -> list[Point]:
    return [(*point[:i], point[i] - 1, *point[i + 1 :]) for i in range(len(point)) if point[i] > 0]


def _sure(groups: Groups, rule: Rule) -> Counts:
    """Of each group how many of its rows keep the guarantee, whichever they are."""
    order = np.lexsort((groups.entry_values, groups.entry_groups))
    entries = np.bincount(groups.entry_groups, minlength=groups.sizes.size)
    sure: Counts = _each(entries, groups.entry_values[order], groups.entry_counts[order].astype(np.int64), rule)
    return sure


@kernel
def _each(entries, values, times, rule):  # type: ignore[no-untyped-def]
    sure, at = np.empty(entries.size, np.int64), 0
    for group in range(entries.size):
        end = at + entries[group]
        sure[group] = surely_held(values[at:end], times[at:end], rule)
        at = end
    return sure
