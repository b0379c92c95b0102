"""Strata: people with alike many rows, so that the cap on rows of one person is close to what most of a group have.

The rule of a group (`rule.py`) costs most where one person has many rows and the others few. So people are ordered by
how many rows they have, and cut into as many strata as keep the rule each under its own cap: the largest number of rows
in it. Of all ways to cut, one with most strata is found by dynamic programming over the different numbers of rows, of
which those above `STEPS` are taken together if they are near each other (`STEPS` per doubling), so there are few.
Cost: the square of those few, times the sensitive values.
Claim: strata_are_most — no other cuts between those numbers of rows give more strata that keep the rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.partition.people.rule import PeopleRule

STEPS = 16
Numbers = npt.NDArray[np.int64]


def levels(rows: Numbers) -> Numbers:
    """The level of each number of rows: alike below STEPS, then within 1/STEPS of each other."""
    steps = np.where(rows <= STEPS, rows, STEPS + np.ceil(STEPS * np.log2(np.maximum(rows, STEPS) / STEPS)))
    found: Numbers = np.unique(steps, return_inverse=True)[1]
    return found


@dataclass(frozen=True, slots=True)
class Strata:
    """Cuts between levels: of the first so many, the `best` number of strata (-1: none), and the last's `start`."""

    rows: Numbers  # how many each person has
    most: Numbers  # the most rows that somebody of each level has
    best: Numbers
    start: Numbers
    k: int
    l: int

    @classmethod
    def of(cls, rows: Numbers, counts: Numbers, k: int, l: int) -> Strata:
        """Find them; `counts` is how many rows of each level hold each value."""
        level, number = levels(rows), len(counts)
        most = np.zeros(number, np.int64)
        np.maximum.at(most, level, rows)
        people = np.concatenate([[0], np.cumsum(np.bincount(level, minlength=number))])
        held = np.concatenate([np.zeros((1, counts.shape[1]), np.int64), np.cumsum(counts, axis=0)])
        best, start = np.full(number + 1, -1), np.zeros(number + 1, np.int64)
        best[0] = 0
        for end in range(1, number + 1):
            for begin in np.flatnonzero(best[:end] >= 0):
                inside = held[end] - held[begin]
                enough = people[end] - people[begin] >= k
                if enough and best[begin] >= best[end] and inside.max() * _weight(l, most[end - 1]) <= inside.sum():
                    best[end], start[end] = best[begin] + 1, begin
        return cls(rows, most, best, start, k, l)

    @property
    def found(self) -> bool:
        """Whether everybody is in a stratum that keeps the rule."""
        return bool(self.best[-1] >= 0)

    @property
    def reach(self) -> int:
        """So many rows somebody may have at most, for the people with no more to be in strata that keep the rule."""
        levels_ = int(np.flatnonzero(self.best >= 0)[-1])
        return int(self.most[levels_ - 1]) if levels_ else 0

    def each(self) -> Iterator[tuple[npt.NDArray[np.bool_], PeopleRule]]:
        """Who is in each stratum, and the rule of it."""
        level, end = levels(self.rows), len(self.most)
        while end > 0:
            begin = int(self.start[end])
            yield (level >= begin) & (level < end), PeopleRule(self.k, int(_weight(self.l, self.most[end - 1])))
            end = begin


def _weight(l: int, most: np.int64) -> int:
    return int(l * most) if l > 1 else 0
