"""Count the values of every group: two counting sorts, by value and then by group.

Cost: linear in the rows; twelve bytes each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.values.kernel import kernel

Counted = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int64]]


@kernel
def _add_up(counts: npt.NDArray[np.int64]) -> None:
    for i in range(1, counts.size):
        counts[i] += counts[i - 1]


@kernel
def tally(groups: npt.NDArray[np.int32], values: npt.NDArray[Any]) -> Counted:
    """The (group, value, count) that occur, ordered by group and value; and the size of every group."""
    n, most, last = groups.size, 0, 0
    for row in range(n):
        most, last = max(most, int(values[row])), max(last, int(groups[row]))
    next_of_value, next_of_group = np.zeros(most + 2, np.int64), np.zeros(last + 2, np.int64)
    for row in range(n):
        next_of_value[values[row] + 1] += 1
        next_of_group[groups[row] + 1] += 1
    _add_up(next_of_value)
    sizes = next_of_group[1:].copy()
    _add_up(next_of_group)
    by_value = np.empty(n, np.int32)
    for row in range(n):
        by_value[next_of_value[values[row]]] = groups[row]
        next_of_value[values[row]] += 1
    # next_of_value[v] is now the end of v's run
    value_at = np.empty(n, np.int32)
    v = 0
    for place in range(n):
        while place >= next_of_value[v]:
            v += 1
        group = by_value[place]
        value_at[next_of_group[group]] = v
        next_of_group[group] += 1
    # next_of_group[g] is now the end of g's run
    entries = 0
    group, new = 0, True
    out_group, out_count = by_value, np.empty(n, np.int32)
    for place in range(n):
        while place >= next_of_group[group]:
            group += 1
            new = True
        if new or value_at[place] != value_at[entries - 1]:
            value_at[entries] = value_at[place]
            out_group[entries] = group
            out_count[entries] = 0
            entries += 1
            new = False
        out_count[entries - 1] += 1
    return out_group[:entries], value_at[:entries], out_count[:entries], sizes
