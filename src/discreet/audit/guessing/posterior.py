"""What each person of a group holds, by a model of values given quasi-identifiers and by the values that the group has.

If a group's rows hold its values in any order, an assignment is as likely as the product of its rows' chances. The
chance that a row holds a value, over all assignments, is near the matrix of chances scaled until rows sum to 1 and
columns to the values' counts (Sinkhorn), if it is raised to the power n / (n - 1) first (see `learn/swaps.py`). The
factors of a group's values that scaling finds are kept; whoever may be in the group holds value v with a chance
proportional to the factor times the model's chance. Where somebody may be in several places, chances are mixed.
Cost: rows x distinct values of a group x rounds; then places of different people x the same.
Claim: posterior_is_that_of_all_assignments — nearly, and exactly in groups of two.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.audit.guessing.guesses import Flags, Floats, Ints

Singles = npt.NDArray[np.float32]
ROUNDS = 25
SAME = 1e-6  # of a chance, for rounding


class Histograms(NamedTuple):
    """The values of group g are `value[first[g]:first[g + 1]]`, each held by `several` of its `sizes[g]` rows."""

    first: Ints
    value: Ints
    several: Floats
    sizes: Ints

    @classmethod
    def of(cls, starts: Ints, held: npt.NDArray[np.integer]) -> Histograms:
        """Those of groups whose places, each with the code of a value, are from each start to the next."""
        sizes, many = np.diff(starts), int(held.max(initial=0)) + 1
        group = np.repeat(np.arange(sizes.size), sizes)
        pairs, counts = np.unique(group * many + held, return_counts=True)
        first = np.searchsorted(pairs, np.arange(sizes.size + 1) * many)
        return cls(first, pairs % many, counts.astype(np.float64), sizes)


class Places(NamedTuple):
    """Where somebody of look i may be: in the groups from `ends[i]` to `ends[i + 1]`, as likely as the `weight`."""

    ends: Ints
    group: Ints
    weight: Floats


class Likely(NamedTuple):
    """The likeliest values of every look, from `starts[i]` to `starts[i + 1]` of `codes`, and the chance of each."""

    starts: Ints
    codes: Ints
    sure: Floats


@nb.njit(cache=True, nogil=True)
def factors(  # noqa: C901 - a compiled loop
    rows: Ints, look: Ints, held: Histograms, kind: npt.NDArray[np.int32], chances: Singles, rounds: int
) -> Floats:
    """The logarithm of the factor of every value of every group; `look` is the row of `chances` of each row.

    The rows of group g are from `rows[g]` to `rows[g + 1]`, and may be fewer or more than its values.
    """
    found = np.zeros(held.value.size)
    most, widest = max(np.diff(rows).max(), 1), np.diff(held.first).max()
    matrix, across, down = np.empty((most, widest)), np.empty(most), np.empty(widest)
    for g in range(rows.size - 1):
        n, start, many = rows[g + 1] - rows[g], held.first[g], held.first[g + 1] - held.first[g]
        if n == 0:
            found[start : start + many] = np.log(held.several[start : start + many])
            continue
        power = _power(held.sizes[g])
        each = held.sizes[g] / n
        for i in range(n):
            top = -np.inf
            for k in range(many):
                matrix[i, k] = power * chances[look[rows[g] + i], kind[held.value[start + k]]]
                top = max(top, matrix[i, k])
            for k in range(many):
                matrix[i, k] = np.exp(matrix[i, k] - top) + 1e-12
        down[:many] = held.several[start : start + many]
        for _ in range(rounds):
            for i in range(n):
                total = 0.0
                for k in range(many):
                    total += matrix[i, k] * down[k]
                across[i] = each / total
            for k in range(many):
                total = 0.0
                for i in range(n):
                    total += matrix[i, k] * across[i]
                down[k] = held.several[start + k] / total
        found[start : start + many] = np.log(down[:many])
    return found


@nb.njit(cache=True, nogil=True)
def _power(size: int) -> float:
    return size / max(size - 1, 1)


@nb.njit(cache=True, nogil=True)
def likely(  # noqa: C901 - a compiled loop
    places: Places,
    held: Histograms,
    factor: Floats,
    look: Ints,
    kind: npt.NDArray[np.int32],
    chances: Singles,
    may: Flags,
) -> Likely:
    """The likeliest values of every look, of which `look` says the row of `chances`."""
    looks = places.ends.size - 1
    starts, sure = np.zeros(looks + 1, np.int64), np.zeros(looks)
    codes, used = np.empty(max(looks, 1), np.int64), 0
    weight = np.zeros(may.size)
    here = np.empty(np.diff(held.first).max())
    for i in range(looks):
        most, all_of = 0.0, 0.0
        for at in range(places.ends[i], places.ends[i + 1]):
            g = places.group[at]
            a, b, power = held.first[g], held.first[g + 1], _power(held.sizes[g])
            top, total = -np.inf, 0.0
            for k in range(a, b):
                here[k - a] = power * chances[look[i], kind[held.value[k]]] + factor[k]
                top = max(top, here[k - a])
            for k in range(a, b):
                here[k - a] = np.exp(here[k - a] - top)
                total += here[k - a]
            all_of += places.weight[at]
            for k in range(a, b):
                if may[held.value[k]]:
                    weight[held.value[k]] += places.weight[at] * here[k - a] / total
                    most = max(most, weight[held.value[k]])
        for at in range(places.ends[i], places.ends[i + 1]):
            for k in range(held.first[places.group[at]], held.first[places.group[at] + 1]):
                value = held.value[k]
                if most > 0 and weight[value] > most * (1 - SAME):
                    if used == codes.size:
                        codes = np.concatenate((codes, np.empty_like(codes)))
                    codes[used] = value
                    used += 1
                weight[value] = 0
        starts[i + 1] = used
        sure[i] = most / all_of if all_of > 0 else 0.0
    return Likely(starts, codes[:used], sure)


@nb.njit(cache=True, nogil=True)
def drawn_place(places: Places, held: Histograms, look: Ints, value: Ints, chance: Floats) -> Ints:
    """For everybody of a look a group that they may be in, drawn from those that hold their value; -1 for none."""
    found = np.full(look.size, -1, np.int64)
    for i in range(look.size):
        first, last, total = places.ends[look[i]], places.ends[look[i] + 1], 0.0
        for turn in range(2):
            left = chance[i] * total
            for at in range(first, last):
                g = places.group[at]
                a, b = held.first[g], held.first[g + 1]
                line = a + np.searchsorted(held.value[a:b], value[i])
                share = held.several[line] / held.sizes[g] if line < b and held.value[line] == value[i] else 0.0
                if turn == 0:
                    total += share * places.weight[at]
                elif share > 0:
                    found[i] = g
                    left -= share * places.weight[at]
                    if left < 0:
                        break
    return found
