"""Which groups stand as they were: of them, releases together tell what each tells alone, so they need no comparing.

A group *stands* if every release after the first that shows it shows it again, with the same box and values, it is
diverse, and its box meets that of no group that ever goes or changes. Rows of a group that is shown again are taken to
be there and nowhere else (see `links`), and rows of one that is gone are where boxes meet its own. So a group that
stands is linked to itself alone, and every set that it is part of is the whole group, or empty: it opens no channel,
and it changes nothing for others. An auditor can leave it out of all releases and look at the rest.

Cost: linear in the groups of all releases; then a search for those near groups that go.
Claim: standing_groups_change_nothing — channels and rows are the same whether they are left out or compared with all.
"""
# ruff: noqa: ANN001, ANN202, SIM110 - compiled loops

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numba as nb
import numpy as np

from discreet.audit.sequence.groups import Flags, Groups, Numbers, concatenated, some
from discreet.audit.sequence.links import closeness
from discreet.audit.sequence.overlap import plant, search
from discreet.audit.sequence.pairs import Rule, diverse

SAME = 2  # of `closeness`: the same box and the same values


@dataclass(frozen=True)
class Standing:
    """Of each release: which groups stand, and the kinds of these, where groups with equal box and values are one."""

    flags: list[Flags]
    kinds: list[Numbers]

    def links(self, i: int, j: int) -> int:
        """How many links there are between groups of two releases that stand."""
        later = np.bincount(self.kinds[j], minlength=int(self.kinds[i].max(initial=-1)) + 1)
        return int(later[self.kinds[i]].sum())


def standing(releases: Sequence[Groups], rule: Rule) -> Standing:
    """Find the groups that stand."""
    every, ends = concatenated(releases), np.cumsum([of.numbers.size for of in releases])[:-1]
    found, first, kind = np.unique(_hashes(every.boxes, every.counts), return_index=True, return_inverse=True)
    if not _alike(every.boxes, every.counts, first, kind):  # two hashes are equal by chance: compare all
        return nothing_stands(releases)
    goes, before = np.zeros(found.size, np.bool_), np.zeros(found.size, np.int64)
    for kinds in np.split(kind, ends):
        here = np.bincount(kinds, minlength=found.size)
        goes |= here < before
        before = here
    stands = ~goes & _all_diverse(every.counts, rule)[first]
    if goes.any() and stands.any():
        near = some(every, first[stands]).boxes
        _, met = search(some(every, first[goes]).boxes, plant(near), near)
        stands[np.flatnonzero(stands)[met]] = False
    parts = list(zip(np.split(stands[kind], ends), np.split(kind, ends), strict=True))
    return Standing([flags for flags, _ in parts], [kinds[flags] for flags, kinds in parts])


def nothing_stands(releases: Sequence[Groups]) -> Standing:
    """As if every group went: then all are compared."""
    return Standing([np.zeros(of.numbers.size, np.bool_) for of in releases], [np.zeros(0, np.int64)] * len(releases))


@nb.njit(cache=True, nogil=True)
def _mixed(state, word):  # type: ignore[no-untyped-def]
    """A hash with one number more (the finalizer of splitmix64)."""
    state = (state ^ np.uint64(word)) + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@nb.njit(cache=True, nogil=True)
def _hashes(boxes, counts):  # type: ignore[no-untyped-def]
    found = np.empty(counts.starts.size - 1, np.uint64)
    for i in range(found.size):
        state = np.uint64(0)
        for c in range(boxes.low.shape[1]):
            state = _mixed(state, np.int64(boxes.low[i, c]))
            state = _mixed(state, np.int64(boxes.high[i, c]) * 2 + boxes.missing[i, c])
        for w in range(boxes.bits.shape[1]):
            state = _mixed(state, boxes.bits[i, w])
        for entry in range(counts.starts[i], counts.starts[i + 1]):
            state = _mixed(state, np.int64(counts.values[entry]))
            state = _mixed(state, np.int64(counts.counts[entry]))
        found[i] = state
    return found


@nb.njit(cache=True, nogil=True)
def _alike(boxes, counts, first, kind):  # type: ignore[no-untyped-def]
    """Whether every group is the same as the first one of its kind."""
    for i in range(kind.size):
        if closeness(boxes, counts, first[kind[i]], boxes, counts, i) != SAME:
            return False
    return True


@nb.njit(cache=True, nogil=True)
def _all_diverse(counts, rule):  # type: ignore[no-untyped-def]
    found = np.empty(counts.starts.size - 1, np.bool_)
    for i in range(found.size):
        size, top = 0, 0
        for entry in range(counts.starts[i], counts.starts[i + 1]):
            size, top = size + counts.counts[entry], max(top, counts.counts[entry])
        found[i] = diverse(size, top, counts.starts[i + 1] - counts.starts[i], rule)
    return found
