"""A plan carried out block by block, where rows lie in many files and nobody holds them all.

A block is so many groups that follow each other. The plan says how many rows of each value every block takes, and
counting says how many rows of each value every file has. How many of a file's rows go to each block is drawn as if all
rows of the value had been shuffled: files are halved again and again, and of each block's places so many fall to the
first half as a hypergeometric draw says. So the share of any file follows from counts and from a key, without looking
at another file. Which of its rows go there is drawn beside its rows, and which of a block's groups they join, in the
block.
Cost: for each halving, one draw for each block of each value that is in several; no number for each row.
Claim: shares_are_shuffles — shares fill every block exactly, and are distributed as those of a shuffle of all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.errors import InputError
from discreet.partition.histogram.runs import Runs
from discreet.partition.kernels import IntArray

MOST = 10**9  # rows of one value: more cannot be drawn from


@dataclass(frozen=True)
class Shares:
    """Stretches of places, by block and value: so many, of which the first has this group, and each next one step more.

    `values` are how many different values there are.
    """

    values: int
    block: IntArray
    value: IntArray
    group: IntArray
    step: IntArray
    size: IntArray

    @classmethod
    def of(cls, runs: Runs, counts: IntArray, per: int) -> Shares:
        """The stretches of a plan, in blocks of so many groups."""
        if int(counts.max(initial=0)) >= MOST:
            raise InputError(
                f"a value that {MOST:,} rows or more hold cannot be dealt on Spark", hint='set partition = "local"'
            )
        held = np.flatnonzero(counts)
        starts = (np.cumsum(counts) - counts)[held]
        firsts = np.union1d(runs.firsts, starts)  # no stretch has two values
        run = np.searchsorted(runs.firsts, firsts, side="right") - 1
        step = runs.steps[run]
        low = runs.groups[run] + step * (firsts - runs.firsts[run])
        length = np.diff(firsts, append=int(counts.sum()))
        high = low + step * (length - 1)
        times = high // per - low // per + 1  # blocks that each lies in
        which = np.repeat(np.arange(firsts.size), times)
        block = low[which] // per + np.arange(which.size) - np.repeat(np.cumsum(times) - times, times)
        group = np.maximum(low[which], block * per)
        last = np.minimum(high[which], (block + 1) * per - 1)
        size = np.where(step[which] == 0, length[which], last - group + 1)
        value = held[np.searchsorted(starts, firsts, side="right") - 1][which]
        by = np.lexsort((group, value, block))
        return cls(counts.size, *(each[by] for each in (block, value, group, step[which], size)))

    @cached_property
    def _pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """Of each value, sorted, the blocks that it is in, sorted, and its places there."""
        by = np.lexsort((self.block, self.value))
        value, block = self.value[by], self.block[by]
        new = np.flatnonzero(np.diff(value, prepend=-1) | np.diff(block, prepend=-1))
        return value[new], block[new], np.add.reduceat(self.size[by], new)

    @property
    def largest(self) -> int:
        """The rows of the largest block."""
        return int(np.bincount(self.block, self.size).max())

    @cached_property
    def spread(self) -> IntArray:
        """The values that are in several blocks: how often each file has these has to be known."""
        values, times = np.unique(self._pairs[0], return_counts=True)
        found: IntArray = values[times > 1]
        return found

    def of_file(
        self, file: int, own: IntArray, before: IntArray, chance: Callable[[int], np.random.Generator]
    ) -> IntArray:
        """To which blocks a file's rows go, when they are sorted by value.

        It has so many rows of each value (`own`). The files `before` each have so many of each value that is `spread`:
        a row for each file, and a last one for all. `chance` is that of a halving, which has a number.
        """
        values, blocks, places = self._pairs
        many = np.isin(values, self.spread)
        shares = np.where(many, 0, own[values])
        shares[many] = _share(file, before, places[many], np.searchsorted(self.spread, values[many]), chance)
        found: IntArray = np.repeat(blocks, shares)
        return found

    def of_block(self, block: int) -> tuple[IntArray, IntArray]:
        """Of every place in a block, sorted by value, its value and its group."""
        start, end = np.searchsorted(self.block, [block, block + 1])
        value, group, step, size = (each[start:end] for each in (self.value, self.group, self.step, self.size))
        of = np.repeat(np.arange(size.size), size)
        along = np.arange(of.size) - np.repeat(np.cumsum(size) - size, size)
        return value[of], group[of] + step[of] * along


def _share(
    file: int, before: IntArray, places: IntArray, of: IntArray, chance: Callable[[int], np.random.Generator]
) -> IntArray:
    """How many of a file's rows each of the places takes, which are `of` a value each, sorted."""
    low, high, node = 0, len(before) - 1, 1
    while high - low > 1:
        middle = (low + high) // 2
        first = _drawn(places, of, before[middle] - before[low], chance(node))
        if file < middle:
            places, high, node = first, middle, 2 * node
        else:
            places, low, node = places - first, middle, 2 * node + 1
    return places


def _drawn(places: IntArray, of: IntArray, rows: IntArray, chance: np.random.Generator) -> IntArray:
    """How many of the places get one of so many rows of their value, if all are as likely: block by block."""
    sizes = np.bincount(of, minlength=rows.size)
    starts = np.cumsum(sizes) - sizes
    left = np.bincount(of, places, rows.size).astype(np.int64)
    waiting, found = rows.astype(np.int64), np.zeros_like(places)
    for k in range(int(sizes.max(initial=0))):
        still = np.flatnonzero(sizes > k)
        at = starts[still] + k
        left[still] -= places[at]
        found[at] = chance.hypergeometric(places[at], left[still], waiting[still])
        waiting[still] -= found[at]
    return found
