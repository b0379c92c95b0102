"""What a point of the lattice loses, exactly, and what is known of it before its groups are counted.

`ncp`: a row costs, in each dimension, the share of the leaves under its node, nothing under a single
code; a suppressed row costs 1 in each. Source: Xu et al., "Utility-based anonymization using local
recoding", KDD 2006.
`discernibility`: a row costs the size of its group, a suppressed one the number of all rows. Source:
Bayardo and Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.
Claim: bounds_lie_below_losses — no point loses less than its bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import lcm
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.partition.spatial.full_domain.lattice import Groups, Lattice
from discreet.partition.spatial.full_domain.rollup import Counts
from discreet.partition.spatial.space import Codes

Amounts: TypeAlias = npt.NDArray[np.float64]


class Loss(Protocol):
    """A loss on one lattice, where `full` is what a suppressed row costs and `unit` the denominator of exact losses."""

    unit: int
    full: float

    def __init__(self, lattice: Lattice) -> None: ...

    def least(self) -> Amounts:
        """A bound for every point: at least this is lost, and would be even if nothing were suppressed."""
        ...

    def ranks(self) -> Amounts:
        """Which points to look at first, those that rank low."""
        ...

    def learn(self, groups: Groups, above: Amounts) -> None:
        """Raise the bounds of the points above, now that the groups of a point are known."""
        ...

    def prices(self, groups: Groups, which: Codes) -> Amounts:
        """What a row of each of these groups costs."""
        ...

    def added(self, groups: Groups, which: Codes, lost: Counts) -> float:
        """What so many lost rows of these groups cost on top of their price."""
        ...

    def exact(self, groups: Groups, suppressed: Codes) -> int:
        """What the point loses if these groups are suppressed, in units."""
        ...


class Ncp:
    """The normalised certainty penalty. Without suppression it is a sum over axes, so bounds are known at once."""

    def __init__(self, lattice: Lattice) -> None:
        self._axes, self._codes = lattice.axes, lattice.codes
        self.unit = lcm(*(axis.size for axis in self._axes))
        self.full = float(len(self._axes))
        held = _held(lattice)
        self._totals = [
            [int(counts @ leaves) for leaves in axis.leaves] for axis, counts in zip(self._axes, held, strict=True)
        ]
        shares = (np.array(totals) / axis.size for axis, totals in zip(self._axes, self._totals, strict=True))
        self._least = _outer(np.add, shares)

    def least(self) -> Amounts:
        return self._least

    def ranks(self) -> Amounts:
        return self._least

    def learn(self, groups: Groups, above: Amounts) -> None:
        """Nothing is new."""

    def prices(self, groups: Groups, which: Codes) -> Amounts:
        shares = (leaves / axis.size for axis, leaves in zip(self._axes, self._leaves(groups, which), strict=True))
        prices: Amounts = np.sum(list(shares), axis=0)
        return prices

    def added(self, groups: Groups, which: Codes, lost: Counts) -> float:
        return float(lost.astype(np.float64) @ (self.full - self.prices(groups, which)))  # mixed types are slow

    def exact(self, groups: Groups, suppressed: Codes) -> int:
        sizes = groups.sizes[suppressed]
        loss = len(self._axes) * self.unit * int(sizes.sum())
        for i, leaves in enumerate(self._leaves(groups, suppressed)):
            published = self._totals[i][groups.point[i]] - int(sizes @ leaves)
            loss += published * (self.unit // self._axes[i].size)
        return loss

    def _leaves(self, groups: Groups, which: Codes) -> Iterable[Counts]:
        """The leaves under the nodes of these groups, axis by axis."""
        codes = self._codes[groups.firsts[which]]
        return (axis.leaves[groups.point[i]][codes[:, i]] for i, axis in enumerate(self._axes))


class Discernibility:
    """The sum of the squared sizes. How much it is shows only when groups are counted; it bounds the points above."""

    unit = 1

    def __init__(self, lattice: Lattice) -> None:
        self._axes, self._held = lattice.axes, _held(lattice)
        self._rows = lattice.distinct.size
        self.full = float(self._rows)

    def least(self) -> Amounts:
        cells = _outer(np.multiply, (np.array(axis.kinds, np.float64) for axis in self._axes))
        return np.maximum(float(self._rows), float(self._rows) ** 2 / cells)

    def ranks(self) -> Amounts:
        """The share of pairs that would be alike if the axes were independent."""

        def alike(nodes: Counts, counts: Counts) -> float:
            return float(np.square(np.bincount(nodes, weights=counts) / self._rows).sum())

        axes = zip(self._axes, self._held, strict=True)
        return _outer(np.multiply, (np.array([alike(nodes, counts) for nodes in axis.nodes]) for axis, counts in axes))

    def learn(self, groups: Groups, above: Amounts) -> None:
        np.maximum(above, float(_squares(groups.sizes)), out=above)

    def prices(self, groups: Groups, which: Codes) -> Amounts:
        return groups.sizes[which].astype(np.float64)

    def added(self, groups: Groups, which: Codes, lost: Counts) -> float:
        return float(int(lost.sum()) * self._rows - int(lost @ groups.sizes[which]))

    def exact(self, groups: Groups, suppressed: Codes) -> int:
        sizes = groups.sizes[suppressed]
        return _squares(groups.sizes) - _squares(sizes) + int(sizes.sum()) * self._rows


LOSSES: dict[str, type[Loss]] = {"ncp": Ncp, "discernibility": Discernibility}


def _held(lattice: Lattice) -> list[Counts]:
    """How many rows hold each code, axis by axis."""
    rows = lattice.lowest.sizes
    return [
        np.bincount(lattice.codes[:, i], weights=rows, minlength=axis.size).astype(np.int64)
        for i, axis in enumerate(lattice.axes)
    ]


def _outer(operation: np.ufunc, vectors: Iterable[Amounts]) -> Amounts:
    """One number per point, made of one per level of each axis."""
    first, *others = vectors
    for vector in others:
        first = operation.outer(first, vector)
    return first


def _squares(sizes: Counts) -> int:
    return int(sizes @ sizes)
