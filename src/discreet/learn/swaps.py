"""Who in a group holds which value, given how likely each row is to hold each: expected, and drawn by swaps.

Both take log-probabilities `chances[c, v]` of value v for rows of combination c. The rows of group g are `starts[g]` to
`starts[g + 1]`; its distinct values are `first[g]` to `first[g + 1]` of `value`, each held `count` times.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]


FAST = {"nnan", "ninf", "nsz", "arcp", "contract", "reassoc"}


@nb.njit(cache=True, nogil=True, fastmath=FAST)
def expect(
    starts: Longs,
    combination: Ints,
    first: Longs,
    value: Ints,
    count: Floats,
    weight: Floats,
    chances: Floats,
    rounds: int,
    held: Floats,
    rows: Floats,
) -> None:
    """Add up for each combination of each value how many of its rows are expected to hold it, and its rows.

    The chance that row i holds value k, over all assignments of a group, is near the matrix of chances scaled until
    rows sum to 1 and columns to the values' counts (Sinkhorn), if it is raised to the power n / (n - 1) first: exactly
    so for two rows, and to first order in the differences between rows for any number.
    Cost: rows x distinct values of the group x rounds.
    """
    held[:] = 0
    rows[:] = 0
    most, widest = np.diff(starts).max(), np.diff(first).max()
    matrix = np.empty((most, widest), np.float32)
    across, down = np.empty(most, np.float32), np.empty(widest, np.float32)
    for g in range(starts.size - 1):
        mine, values = combination[starts[g] : starts[g + 1]], value[first[g] : first[g + 1]]
        _weigh(mine, values, chances, down, matrix)
        _scale(mine.size, count[first[g] : first[g + 1]], rounds, across, down, matrix)
        for i in range(mine.size):
            rows[mine[i]] += weight[g]
            for k in range(values.size):
                held[mine[i], values[k]] += weight[g] * matrix[i, k] * across[i] * down[k]


@nb.njit(cache=True, nogil=True, fastmath=FAST)
def _weigh(mine: Ints, values: Ints, chances: Floats, mean: Floats, matrix: Floats) -> None:
    """The chances of rows for values to the power n / (n - 1), beside their means, so that none becomes nothing."""
    power = np.float32(mine.size / max(mine.size - 1, 1))
    for k in range(values.size):
        total = np.float32(0)
        for i in range(mine.size):
            total += chances[mine[i], values[k]]
        mean[k] = total / mine.size
    for i in range(mine.size):
        top = np.float32(-1e30)
        for k in range(values.size):
            matrix[i, k] = power * (chances[mine[i], values[k]] - mean[k])
            top = max(top, matrix[i, k])
        for k in range(values.size):
            matrix[i, k] = np.exp(matrix[i, k] - top) + np.float32(1e-12)


@nb.njit(cache=True, nogil=True, fastmath=FAST)
def _scale(n: int, count: Floats, rounds: int, across: Floats, down: Floats, matrix: Floats) -> None:
    """Factors of rows and columns in turn, those of rows last: each row holds exactly one value."""
    down[: count.size] = count
    for turn in range(rounds):
        for i in range(n):
            total = np.float32(0)
            for k in range(count.size):
                total += matrix[i, k] * down[k]
            across[i] = 1 / total
        if turn < rounds - 1:
            for k in range(count.size):
                total = np.float32(0)
                for i in range(n):
                    total += matrix[i, k] * across[i]
                down[k] = count[k] / total


@nb.njit(cache=True, nogil=True)
def swap(
    starts: Longs, combination: Ints, kind: Ints, chances: Floats, seed: np.uint64, sweeps: int, table: npt.NDArray[Any]
) -> None:
    """Let rows of a group swap their values, so often that the table is a draw from all assignments.

    Each row in turn meets a random other of its group; they swap with the probability min(1, r), r the ratio of the
    chances after and before. That keeps the law in which an assignment is as likely as the product of its chances
    (Metropolis et al. 1953). `kind` is for every value the one whose chance it has.
    Cost: rows x sweeps.
    """
    state = np.uint64(seed)
    for g in range(starts.size - 1):
        a, n = starts[g], starts[g + 1] - starts[g]
        for turn in range(sweeps * n if n > 1 else 0):
            state += np.uint64(0x9E3779B97F4A7C15)  # splitmix64
            word = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word ^= word >> np.uint64(31)
            i = a + turn % n
            j = a + np.int64(((word & np.uint64(0xFFFFFFFF)) * np.uint64(n)) >> np.uint64(32))
            here, there = kind[table[i]], kind[table[j]]
            one, other = combination[i], combination[j]
            gain = chances[one, there] + chances[other, here] - chances[one, here] - chances[other, there]
            if gain >= 0 or np.float32(word >> np.uint64(40)) * np.float32(2.0**-24) < np.exp(gain):
                table[i], table[j] = table[j], table[i]
