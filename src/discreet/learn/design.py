"""What a release teaches by its design: where chance alone brought rows to groups, a regression is unbiased.

In a group g of N_g rows, n_gs hold the value s, of n_s in all. Each row has a number y that its quasi-identifiers tell:
1 if it satisfies a condition, else 0; or a number if it does, else 0. Let m_s be its mean over the rows that hold s,
which nobody sees, and Y_g the total of a group, which everybody sees. Wanted is T = Σ_s t_s m_s, for any t: with
t_s = n_s for s in R, how many rows (or how much) there are with a value in R.

The places n_gs were decided without looking at y, and which row of the value s takes which of its n_s places is a
uniform permutation, one for each value, all independent (`dealt`; `cells`: the same inside each cell). So each row of s
is in g with probability n_gs / n_s, and E[Y_g] = Σ_s n_gs m_s. Let N be the matrix of n_gs, Z = diag(N_g), and

    A    = Nᵀ Z⁻¹ N                       values × values, one for each cell
    e    = Nᵀ Z⁻¹ Y                       what `even` expects: Y_g shared out among the values of g
    m̂    = A⁺ e
    T̂    = tᵀ A⁺ e = Σ_g w_g Y_g          w = Z⁻¹ N A⁺ t

Unbiased: E[e] = A m, so E[T̂] = tᵀ A⁺ A m = tᵀ m, if t is in the range of A; whatever y and the values are. Since
A 1 = n, with t = n every w_g is 1, and T̂ is the total, exactly: estimates of parts add up to it. To weight groups by
1 / N_g is best where all m_s are the same.

Variance: T̂ = Σ_s Σ_rows of s (w at its place) · y. For one s, that is a sum over a random permutation of a product of
two lists of n_s numbers; its variance is (Hoeffding) Σ(y - m_s)² · Σ(w - w̄_s)² / (n_s - 1), and w̄_s = t_s / n_s.
Permutations of different values are independent, so these add up:

    Var  = Σ_s c_s v_s        c_s = n_s / (n_s - 1) · Σ_places of s (w_g - t_s / n_s)²,  v_s = mean of y² - m_s²

Contrasts of values that every group has in the same proportions cannot be told apart: then t is not in the range. Two
values that one row each holds, both in one group, are such a contrast. A⁺ takes them as alike, and what a target is
off by if they are not is part of c: a variance of v for each unit of squared length, as for any rows.
Source: Goodman, "Ecological regressions and behavior of individuals" (1953); here the design makes its assumption true.
Cost: to open, the squares of the values of each group, and the cube of the values; to gather, the values of each group.
Claim: design_is_unbiased — the mean of T̂ over all deals of a plan is T, and its variance is Var.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.release.groups import Groups, Ints, Longs

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

# Eigenvalues of D^-½ A D^-½ (D = diag(n)) lie between 0 and 1; the variance of what is estimated along one has the
# factor 1 over it. One below this cannot be told from rounding, and would be of no use if it could.
NOTHING = 1e-9
APART = 1e-3  # of a target, what may lie where nothing is told: so far off it is at most, whatever the data
SLIGHT = 0.1  # the part of a variance, and of all values, that may be due to what is not told


@dataclass(frozen=True, eq=False)
class Design:
    """The places of values in groups; `cell` is the cell of every group, and values are numbered within each cell.

    Everything about values has cells × values columns, the values of the first cell first.
    """

    first: Longs  # where the values of each group start
    place: Ints  # of each value of a group, its column
    n: Ints  # how many rows of the group hold it
    size: Ints  # rows of each group
    cells: int
    values: int

    @classmethod
    def of(cls, groups: Groups, classes: Ints, cell: Ints) -> Design:
        """The design of groups whose values have a class each (by their codes), in cells from 0 on."""
        values, cells = int(classes.max(initial=0)) + 1, int(cell.max(initial=0)) + 1
        code = classes[groups.values.codes] + values * np.repeat(cell, np.diff(groups.held))
        n = groups.n if groups.n.size else np.ones(code.size, np.int32)
        size = np.diff(groups.rows).astype(np.int32)
        return cls(groups.held, code.astype(np.int32), n, size, cells, values)

    @property
    def columns(self) -> int:
        return self.cells * self.values

    @cached_property
    def totals(self) -> Floats:
        """How many rows hold each value."""
        return np.bincount(self.place, self.n, self.columns).astype(float)

    @cached_property
    def gram(self) -> Floats:
        """A of every cell."""
        found = np.zeros((self.cells, self.values, self.values))
        multiply(self.first, self.place, self.n, self.size, self.values, found)
        return found

    @cached_property
    def parts(self) -> tuple[Floats, Floats, Floats]:
        """Of every cell the eigenvalues and vectors of D^-½ A D^-½, and 1 / √n, 0 for values that it does not have."""
        root = np.sqrt(self.totals).reshape(self.cells, self.values)
        scale = np.divide(1, root, out=np.zeros_like(root), where=root > 0)
        found, vectors = np.linalg.eigh(self.gram * scale[:, :, None] * scale[:, None, :])
        return found, vectors, scale

    @property
    def eigenvalues(self) -> Floats:
        """What is told of each contrast, from 0 (nothing) to 1 (all), by cell; 0 for a value that a cell lacks."""
        return self.parts[0]

    @cached_property
    def full(self) -> bool:
        """Whether all values can be told apart, in every cell that has them."""
        return int((self.eigenvalues > NOTHING).sum()) == int((self.totals > 0).sum())

    @cached_property
    def inverse(self) -> Floats:
        """A generalized inverse of A, cell by cell."""
        found, vectors, scale = self.parts
        over = np.divide(1, found, out=np.zeros_like(found), where=found > NOTHING)
        inverse: Floats = np.einsum("cij,cj,ckj->cik", vectors, over, vectors, optimize=True)
        return inverse * scale[:, :, None] * scale[:, None, :]

    @cached_property
    def noise(self) -> Floats:
        """By how much the mean of each value is off, squared, if all values had the same mean and a variance of 1."""
        own: Floats = np.einsum("cii->ci", self.inverse).ravel()
        once = np.divide(1, self.totals, out=np.zeros_like(own), where=self.totals > 0)
        found: Floats = np.maximum(own - once, 0)
        return found

    def gather(self, offsets: Longs, keys: Ints, amounts: Floats, count: int) -> Floats:
        """`e` for each of `count` keys: the amounts of each group (several of them), shared out among its values."""
        found = np.zeros((amounts.shape[1], count, self.columns))
        share_out(offsets, keys, amounts, self.first, self.place, self.n, self.size, found)
        return found

    def means(self, expected: Floats) -> Floats:
        """m̂, from `e`; both have a last axis of values."""
        return self._solved(expected)

    @property
    def nearly_full(self) -> bool:
        """Whether all values can be told apart but for a few, such as two in one group that no other group has."""
        return int((self.eigenvalues > NOTHING).sum()) >= (1 - SLIGHT) * int((self.totals > 0).sum())

    def told(self, targets: Floats) -> Flags:
        """Whether each target is in the range of A, but for `APART`, so that it can be estimated."""
        lost, scale = self._lost(targets), self.parts[2]
        rows = np.divide(lost, scale, out=np.zeros_like(lost), where=scale > 0)
        return np.asarray(np.abs(rows).sum(axis=(1, 2)) <= APART * np.abs(targets).sum(axis=1))

    def nearly_told(self, targets: Floats, spreads: Floats) -> Flags:
        """The same, or but for a part that hardly matters beside the variance, which includes it: see `spreads`."""
        slight = (self._lost(targets) ** 2).sum(axis=(1, 2)) <= SLIGHT * spreads.sum(axis=1)
        return np.asarray(self.told(targets) | slight)

    def _lost(self, targets: Floats) -> Floats:
        """What of each target is not told, in units of D^-½."""
        found, vectors, scale = self.parts
        here = targets.reshape(-1, self.cells, self.values) * scale
        if self.full:
            return np.zeros_like(here)
        along = np.einsum("tci,cij->tcj", here, vectors) * (found > NOTHING)
        lost: Floats = here - np.einsum("tcj,cij->tci", along, vectors)
        return lost

    def weights(self, targets: Floats) -> Floats:
        """W of every target and group."""
        found = np.empty((len(targets), self.size.size))
        weigh(self._solved(targets), self.first, self.place, self.n, self.size, found)
        return found

    def spreads(self, targets: Floats) -> Floats:
        """The c of every target and value; of one not told, with the square of what it is off by if v is 1."""
        totals = self.totals
        mean = np.divide(targets, totals, out=np.zeros_like(targets), where=totals > 0)
        found = np.zeros_like(targets)
        spread(self._solved(targets), mean, self.first, self.place, self.n, self.size, found)
        return found * (totals / np.maximum(totals - 1, 1))

    def _solved(self, right: Floats) -> Floats:
        shaped = right.reshape(*right.shape[:-1], self.cells, self.values)
        found: Floats = np.einsum("...ci,cij->...cj", shaped, self.inverse, optimize=True)
        return found.reshape(right.shape)


@nb.njit(cache=True, nogil=True, error_model="numpy")
def multiply(first: Longs, place: Ints, n: Ints, size: Ints, values: int, gram: Floats) -> None:
    """A of every cell."""
    for g in range(size.size):
        for i in range(first[g], first[g + 1]):
            cell, s = divmod(place[i], values)
            share = n[i] / size[g]
            for j in range(first[g], first[g + 1]):
                gram[cell, s, place[j] % values] += share * n[j]


@nb.njit(cache=True, nogil=True, error_model="numpy")
def share_out(
    offsets: Longs, keys: Ints, amounts: Floats, first: Longs, place: Ints, n: Ints, size: Ints, found: Floats
) -> None:
    """What is in a group, by key, shared out among the places of its values."""
    for g in range(size.size):
        once = 1.0 / size[g]
        for i in range(offsets[g], offsets[g + 1]):
            for kind in range(amounts.shape[1]):
                share, row = amounts[i, kind] * once, found[kind, np.uint64(keys[i])]
                for e in range(first[g], first[g + 1]):
                    row[np.uint64(place[e])] += share * n[e]  # without a sign there is none to be looked at


@nb.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _weight(beta: Floats, first: int, last: int, place: Ints, n: Ints, size: int) -> float:
    """W of a group."""
    w = 0.0
    for e in range(first, last):
        w += beta[np.uint64(place[e])] * n[e]
    return w / size


@nb.njit(cache=True, nogil=True, error_model="numpy")
def weigh(beta: Floats, first: Longs, place: Ints, n: Ints, size: Ints, found: Floats) -> None:
    """W of each target and group."""
    for t in range(beta.shape[0]):
        for g in range(size.size):
            found[t, g] = _weight(beta[t], first[g], first[g + 1], place, n, size[g])


@nb.njit(cache=True, nogil=True, error_model="numpy")
def spread(beta: Floats, mean: Floats, first: Longs, place: Ints, n: Ints, size: Ints, found: Floats) -> None:
    """Per target and value, the squares of how far w is from its mean over the places of the value."""
    for t in range(beta.shape[0]):
        means, squares = mean[t], found[t]
        for g in range(size.size):
            w = _weight(beta[t], first[g], first[g + 1], place, n, size[g])
            for e in range(first[g], first[g + 1]):
                s = np.uint64(place[e])
                squares[s] += n[e] * (w - means[s]) * (w - means[s])
