"""What groups tell of sensitive values, as measured: l, distinct l, entropy l, t and beta, from counts alone.

    l           the largest whole number so that in every group no value has more than 1 in l of the rows; those that
                hold harmless values do not count
    distinct_l  the fewest distinct values of a group
    entropy_l   exp of the least entropy of a group (Machanavajjhala et al. 2007)
    t           the largest distance between a group's values and the table's (Li et al. 2007): the earth mover's, by
                places among the distinct values where these have an order (`ordered`), else all equally far (`equal`)
    beta        the largest gain of a value: its share of a group, relative to its share of the table, minus 1
                (Cao and Karras 2012)
Cost: a few passes over the counts, and for t, where values have an order, groups x distinct values, some at a time.
Claim: what_groups_tell_is_measured — the same as by the definitions, group by group, and as pycanon has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.risk.sizes import Floats, Sizes

AT_ONCE = 1 << 22  # numbers
Distance = Literal["ordered", "equal"]


@dataclass(frozen=True, slots=True)
class Held:
    """How many rows (`counts`) of a group hold a value, a line each, sorted by group; both are numbered from 0 on."""

    groups: Sizes
    values: Sizes
    counts: Sizes

    @classmethod
    def of_rows(cls, groups: Sizes, values: Sizes) -> Held:
        """Counted from the group and the value of every row."""
        width = int(values.max(initial=0)) + 1
        pairs, counts = np.unique(groups.astype(np.int64) * width + values, return_counts=True)
        return cls(pairs // width, pairs % width, counts)

    def without(self, spared: npt.NDArray[np.bool_]) -> Held:
        """The same without some values."""
        kept = ~spared[self.values]
        return Held(self.groups[kept], self.values[kept], self.counts[kept])


@dataclass(frozen=True, slots=True)
class Told:
    """What groups tell; see the module's docstring. `shares` is the largest share of each group."""

    l: int
    distinct_l: int
    entropy_l: float
    t: float
    distance: Distance
    beta: float
    shares: Floats


def told(held: Held, *, ordered: bool, spared: npt.NDArray[np.bool_] | None = None) -> Told | None:
    """Measure groups; None if there are none. `spared` values are harmless: they count for t and beta alone."""
    if not held.groups.size:
        return None
    groups = int(held.groups.max()) + 1
    exposed = held if spared is None else held.without(spared)
    sizes = np.bincount(exposed.groups, exposed.counts, groups)
    top = np.zeros(groups)
    np.maximum.at(top, exposed.groups, exposed.counts)
    some = top > 0
    distinct = np.bincount(exposed.groups, minlength=groups)
    part = exposed.counts / sizes[exposed.groups]
    entropy = np.bincount(exposed.groups, -part * np.log(part), groups)
    return Told(
        int((sizes[some] // top[some]).min(initial=np.inf)) if some.any() else 0,
        int(distinct[some].min()) if some.any() else 0,
        float(np.exp(entropy[some].min())) if some.any() else 0.0,
        _t(held, ordered=ordered),
        "ordered" if ordered else "equal",
        _beta(held),
        np.divide(top, sizes, out=np.zeros(groups), where=some),
    )


def _shares(held: Held) -> tuple[Floats, Floats]:
    """The share of each line in its group, and of each value in the table."""
    part = held.counts / np.bincount(held.groups, held.counts)[held.groups]
    whole = np.bincount(held.values, held.counts)
    return part, whole / whole.sum()


def _beta(held: Held) -> float:
    part, whole = _shares(held)
    return float(np.max(part / whole[held.values]) - 1)


def _t(held: Held, *, ordered: bool) -> float:
    part, whole = _shares(held)
    if not ordered:
        # what a group has beyond the table's share it lacks elsewhere
        return float(np.bincount(held.groups, np.maximum(part - whole[held.values], 0)).max())
    values, groups = whole.size, int(held.groups.max()) + 1
    if values == 1:
        return 0.0
    step, furthest = max(AT_ONCE // values, 1), 0.0
    for start in range(0, groups, step):
        at = slice(*np.searchsorted(held.groups, (start, start + step)))
        shares = np.zeros((min(step, groups - start), values))
        shares[held.groups[at] - start, held.values[at]] = part[at]
        distance = np.abs(np.cumsum(shares - whole, axis=1)).sum(axis=1) / (values - 1)
        furthest = max(furthest, float(distance.max()))
    return furthest
