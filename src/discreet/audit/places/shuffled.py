"""Which groups of a full permutation can hold somebody: every quasi-identifier is among those of the group.

Cost: one sort of the rows for each column; then for different people the groups that hold their rarest value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numba as nb
import numpy as np
import pyarrow as pa

from discreet.audit.guessing.guesses import Floats, Ints
from discreet.audit.guessing.posterior import Places
from discreet.audit.metrics.truth import places
from discreet.values.coded import Coded


@dataclass(frozen=True, eq=False)
class Lists:
    """For every value of every column the groups that hold it, ascending, and how many of their rows do.

    Values are numbered through all columns: those of column j from `first[j]` on. The list of value i is from `ends[i]`
    to `ends[i + 1]`.
    """

    columns: tuple[pa.Array, ...]
    first: Ints
    ends: Ints
    group: Ints
    count: Ints
    sizes: Ints

    @classmethod
    def of(cls, starts: Ints, quasi: Sequence[Coded]) -> Lists:
        sizes = np.diff(starts)
        of = np.repeat(np.arange(sizes.size), sizes)
        first = np.cumsum([0, *(len(each.values) for each in quasi)])
        pairs, counts = zip(
            *(
                np.unique((each.codes + at) * sizes.size + of, return_counts=True)
                for each, at in zip(_long(quasi), first, strict=False)
            ),
            strict=True,
        )
        value, group = np.divmod(np.concatenate(pairs), sizes.size)
        ends = np.searchsorted(value, np.arange(first[-1] + 1))
        return cls(tuple(each.values for each in quasi), first, ends, group, np.concatenate(counts), sizes)

    def where(self, people: pa.Table, names: Sequence[str]) -> Places:
        """The groups that each of some people may be in, as likely as rows like them are expected there."""
        codes = [places(people[name], values) for name, values in zip(names, self.columns, strict=True)]
        slots = np.stack([np.where(each < 0, -1, each + at) for each, at in zip(codes, self.first, strict=False)], 1)
        return Places(*_where(slots, self.ends, self.group, self.count, self.sizes))


def _long(quasi: Sequence[Coded]) -> list[Coded]:
    return [Coded(each.codes.astype(np.int64), each.values) for each in quasi]


@nb.njit(cache=True, nogil=True)
def _where(  # noqa: C901 - a compiled loop
    slots: Ints, ends: Ints, group: Ints, count: Ints, sizes: Ints
) -> tuple[Ints, Ints, Floats]:
    people, columns = slots.shape
    starts, used = np.zeros(people + 1, np.int64), 0
    found, weight = np.empty(max(people, 1), np.int64), np.empty(max(people, 1))
    for i in range(people):
        rarest, known = 0, True
        for j in range(columns):
            known = known and slots[i, j] >= 0
            if (
                known
                and ends[slots[i, j] + 1] - ends[slots[i, j]] < ends[slots[i, rarest] + 1] - ends[slots[i, rarest]]
            ):
                rarest = j
        if known:
            for at in range(ends[slots[i, rarest]], ends[slots[i, rarest] + 1]):
                g = group[at]
                share = float(count[at])
                for j in range(columns):
                    if j != rarest:
                        a, b = ends[slots[i, j]], ends[slots[i, j] + 1]
                        line = a + np.searchsorted(group[a:b], g)
                        if line == b or group[line] != g:
                            share = 0.0
                            break
                        share *= count[line] / sizes[g]
                if share > 0:
                    if used == found.size:
                        found = np.concatenate((found, np.empty_like(found)))
                        weight = np.concatenate((weight, np.empty_like(weight)))
                    found[used], weight[used] = g, share
                    used += 1
        starts[i + 1] = used
    return starts, found[:used], weight[:used]
