"""What a point of the lattice loses, exactly, and what is known of it before its groups are counted.

`ncp`: a row costs, in each dimension, the share of the leaves under its node, nothing under a single
code; a suppressed row costs 1 in each. Source: Xu et al., "Utility-based anonymization using local
recoding", KDD 2006.
`lm`: the same with one leaf less above and below, so that a node costs how many other values a value under it might be
instead, as a share of all others. Source: Iyengar, "Transforming data to satisfy privacy constraints", KDD 2002.
`geometric`: what columns lose by `lm`, a row on average, each added to 1, multiplied, less 1. The smaller it is, the
smaller is the geometric mean over columns, which is how ARX sums up its "loss" unless told otherwise.
`discernibility`: a row costs the size of its group, a suppressed one the number of all rows. Source:
Bayardo and Agrawal, "Data privacy through optimal k-anonymization", ICDE 2005.
Claim: bounds_lie_below_losses — no point loses less than its bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import lcm, prod
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

    one_less = 0  # leaves that are not counted, under a node and of all

    def __init__(self, lattice: Lattice) -> None:
        self._axes, self._codes = lattice.axes, lattice.codes
        self._wholes = [max(axis.size - self.one_less, 1) for axis in self._axes]
        self._costs = [[np.maximum(leaves - self.one_less, 0) for leaves in axis.leaves] for axis in self._axes]
        self.unit = lcm(*self._wholes)
        self.full = float(len(self._axes))
        held = zip(self._costs, _held(lattice), strict=True)
        self._totals = [[int(counts @ costs) for costs in levels] for levels, counts in held]
        shares = (np.array(totals) / whole for whole, totals in zip(self._wholes, self._totals, strict=True))
        self._least = _outer(np.add, shares)

    def least(self) -> Amounts:
        return self._least

    def ranks(self) -> Amounts:
        return self._least

    def learn(self, groups: Groups, above: Amounts) -> None:
        """Nothing is new."""

    def prices(self, groups: Groups, which: Codes) -> Amounts:
        shares = (costs / whole for whole, costs in zip(self._wholes, self._of(groups, which), strict=True))
        prices: Amounts = np.sum(list(shares), axis=0)
        return prices

    def added(self, groups: Groups, which: Codes, lost: Counts) -> float:
        return float(lost.astype(np.float64) @ (self.full - self.prices(groups, which)))  # mixed types are slow

    def exact(self, groups: Groups, suppressed: Codes) -> int:
        sizes = groups.sizes[suppressed]
        loss = len(self._axes) * self.unit * int(sizes.sum())
        for i, costs in enumerate(self._of(groups, suppressed)):
            published = self._totals[i][groups.point[i]] - int(sizes @ costs)
            loss += published * (self.unit // self._wholes[i])
        return loss

    def _of(self, groups: Groups, which: Codes) -> Iterable[Counts]:
        """What the nodes of these groups cost, in parts of the whole, axis by axis."""
        codes = self._codes[groups.firsts[which]]
        return (costs[groups.point[i]][codes[:, i]] for i, costs in enumerate(self._costs))


class Lm(Ncp):
    """The loss metric: what a value is told from, and not what it is told with."""

    one_less = 1


class Geometric(Lm):
    """The product over columns of 1 and what a row loses on average: no sum over rows, so what is added bounds it."""

    def __init__(self, lattice: Lattice) -> None:
        super().__init__(lattice)
        self._rows = lattice.rows
        self.unit = prod(self._rows * whole for whole in self._wholes)
        columns = zip(self._wholes, self._totals, strict=True)
        self._least = (
            _outer(np.multiply, (1 + np.array(totals) / (whole * self._rows) for whole, totals in columns)) - 1
        )

    def added(self, groups: Groups, which: Codes, lost: Counts) -> float:
        return super().added(groups, which, lost) / self._rows  # no factor is below 1, so that products grow by more

    def exact(self, groups: Groups, suppressed: Codes) -> int:
        sizes, product = groups.sizes[suppressed], 1
        for i, costs in enumerate(self._of(groups, suppressed)):
            published = self._totals[i][groups.point[i]] - int(sizes @ costs)
            product *= (self._rows + int(sizes.sum())) * self._wholes[i] + published
        return product - self.unit


class Discernibility:
    """The sum of the squared sizes. How much it is shows only when groups are counted; it bounds the points above."""

    unit = 1

    def __init__(self, lattice: Lattice) -> None:
        self._axes, self._held = lattice.axes, _held(lattice)
        self._rows = lattice.rows
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


LOSSES: dict[str, type[Loss]] = {"ncp": Ncp, "lm": Lm, "geometric": Geometric, "discernibility": Discernibility}


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
