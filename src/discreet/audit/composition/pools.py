"""People whom a release cannot tell apart, and the attacker can: each look that several kinds share is a *pool*.

All kinds of a pool may be in the same many groups. Instead of listing these once for each kind, a pool is a group of
its own after all real ones: what it holds is the mixture of its groups, by the rows that look so in each, and it is
mixed anew whenever the weights of these change (`jointly`). What people of a pool are expected to hold goes back to its
groups in the same parts, so that the outcome is that of the long list.
Cost: places of the pools x values in their groups, for each turn.
Claim: pools_are_long_lists — what is left of people is what it is if each kind has its own list of groups.
"""
# ruff: noqa: ANN001, ANN202 - compiled loops

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.audit.composition.people import Floats, Shown
from discreet.audit.sequence.groups import Numbers

ABSENT = 1e-6  # people: who is asked about, but not in the first release, hardly counts beside those who are


class Pools(NamedTuple):
    """The places of all pools, and the values of each, from `entries` on in `values`.

    `whole` says of which the release shows whole rows; `of` is the value of every entry of the groups.
    """

    starts: Numbers
    groups: Numbers
    rows: Floats
    entries: Numbers
    values: Numbers
    whole: npt.NDArray[np.bool_]
    of: Numbers


@dataclass(frozen=True)
class Listed:
    """One release: of each kind its places, those of pools numbered after all groups; and the places of the pools."""

    starts: Numbers
    groups: Numbers
    rows: Floats
    pool_starts: Numbers
    pool_groups: Numbers
    pool_rows: Floats


def kinds_weights(shown: Sequence[Shown]) -> Floats:
    """How many people of each kind there are, by the first release."""
    first = shown[0]
    rows = _sums(first.places.rows, first.places.starts)
    found = rows if first.looks is None else np.append(rows, 0)[first.looks]
    return np.asarray(np.where(found > 0, found, ABSENT), np.float64)


def listed(of: Shown, weights: Floats, groups: int, pools: int) -> Listed:
    """Where the kinds are in one release whose groups begin at `groups`, if pools are numbered from `pools` on."""
    starts, at, rows = of.places.starts, of.places.groups + groups, of.places.rows
    if of.looks is None:
        return Listed(starts, at, rows, np.zeros(1, np.int64), at[:0], rows[:0])
    many, there = np.diff(starts), of.looks >= 0
    pooled = np.flatnonzero((np.bincount(of.looks[there], minlength=many.size) > 1) & (many > 1))
    runs = _runs(starts[pooled], many[pooled])
    # where a look's places begin in one list of all places and then one for each pool, and how many it has there
    first, lengths = starts[:-1].copy(), many.copy()
    first[pooled], lengths[pooled] = at.size + np.arange(pooled.size), 1
    first, lengths = np.append(first, 0)[of.looks], np.append(lengths, 0)[of.looks]
    place = _runs(first, lengths)
    every = np.append(at, pools + np.arange(pooled.size)), np.append(rows, _sums(rows, starts)[pooled])
    # each kind has its part of the rows that look like it
    total = np.bincount(of.looks[there], weights=weights[there], minlength=many.size)
    part = np.where(there, weights / np.append(total, 1)[of.looks], 0)
    mine = every[1][place] * np.repeat(part, lengths)
    return Listed(_ends(lengths), every[0][place], mine, _ends(many[pooled]), at[runs], rows[runs])


def joined(parts: Sequence[Listed], whole: Sequence[bool], starts: Numbers, values: Numbers) -> Pools:
    """The pools of all releases, given all groups: the values of each are from `starts` on."""
    at = _ends(np.concatenate([np.diff(part.pool_starts) for part in parts]))
    groups = np.concatenate([part.pool_groups for part in parts])
    rows = np.concatenate([part.pool_rows for part in parts])
    many = int(values.max(initial=-1)) + 1
    found = _values(at, groups, starts, values, many) if groups.size else (groups, groups)
    entire = np.repeat(np.array(whole, np.bool_), [part.pool_starts.size - 1 for part in parts])
    return Pools(at, groups, rows, _ends(found[0]), found[1], entire, values)


def fingerprints(pools: Pools, twins: Numbers) -> Numbers:
    """A number for each pool, the same for those of the same rows in twin groups; of blocks each has its own."""
    chance = np.random.default_rng(2)  # of no secret
    of_group = chance.integers(0, 2**63, twins.size, np.int64).view(np.uint64)
    marks = np.zeros(pools.starts.size - 1, np.uint64)
    pool = np.repeat(np.arange(marks.size), np.diff(pools.starts))
    np.add.at(marks, pool, of_group[twins[pools.groups]] * pools.rows.astype(np.uint64))
    marks[~pools.whole] = chance.integers(0, 2**63, int((~pools.whole).sum()), np.int64).view(np.uint64)
    _, first, same = np.unique(marks, return_index=True, return_inverse=True)
    return np.asarray(twins.size + first[same], np.int64)


def mix(pools: Pools, starts: Numbers, sizes: Numbers, weights: Numbers | Floats) -> Floats:
    """The share of each value in each pool, by the weights of all groups' entries."""
    found: Floats = _mix(pools, starts, sizes, weights.astype(np.float64))
    return found


def hand_back(pools: Pools, starts: Numbers, sizes: Numbers, weights: Floats, expected: Floats) -> Floats:
    """How many people of pools are expected to hold each entry of the groups, of those expected in each pool's."""
    found: Floats = _hand_back(pools, starts, sizes, weights, expected)
    return found


def _sums(rows: Floats, starts: Numbers) -> Floats:
    return np.diff(np.concatenate([[0.0], np.cumsum(rows)])[starts])


def _ends(lengths: Numbers) -> Numbers:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _runs(first: Numbers, lengths: Numbers) -> Numbers:
    """The numbers from each `first` on, so many of them, one run after the other."""
    return np.arange(lengths.sum()) + np.repeat(first - np.cumsum(lengths) + lengths, lengths)


@nb.njit(cache=True, nogil=True)
def _values(places, groups, starts, values, many):  # type: ignore[no-untyped-def]
    """How many different values each pool has, and which, ascending in each."""
    distinct, found = np.zeros(places.size - 1, np.int64), np.zeros(1024, np.int64)
    mark, seen, end = np.full(many, -1, np.int64), np.zeros(many, np.int64), 0
    for pool in range(distinct.size):
        for place in range(places[pool], places[pool + 1]):
            for entry in range(starts[groups[place]], starts[groups[place] + 1]):
                value = values[entry]
                if mark[value] != pool:
                    mark[value] = pool
                    seen[distinct[pool]] = value
                    distinct[pool] += 1
        if end + distinct[pool] > found.size:
            longer = np.zeros(2 * (end + distinct[pool]), np.int64)
            longer[:end] = found[:end]
            found = longer
        found[end : end + distinct[pool]] = np.sort(seen[: distinct[pool]])
        end += distinct[pool]
    return distinct, found[:end].copy()


@nb.njit(cache=True, nogil=True)
def _mix(pools, starts, sizes, weights):  # type: ignore[no-untyped-def]
    share, found = np.zeros(pools.values.max() + 1), np.zeros(pools.values.size)
    for pool in range(pools.starts.size - 1):
        first, last = pools.starts[pool], pools.starts[pool + 1]
        total = pools.rows[first:last].sum()
        for place in range(first, last):
            group = pools.groups[place]
            for entry in range(starts[group], starts[group + 1]):
                share[pools.of[entry]] += pools.rows[place] / total / sizes[group] * weights[entry]
        for at in range(pools.entries[pool], pools.entries[pool + 1]):
            found[at], share[pools.values[at]] = share[pools.values[at]], 0.0
    return found


@nb.njit(cache=True, nogil=True)
def _hand_back(pools, starts, sizes, weights, expected):  # type: ignore[no-untyped-def]
    found, per_share = np.zeros(weights.size), np.zeros(pools.values.max() + 1)
    shares = _mix(pools, starts, sizes, weights)
    for pool in range(pools.starts.size - 1):
        first, last = pools.starts[pool], pools.starts[pool + 1]
        total = pools.rows[first:last].sum()
        for at in range(pools.entries[pool], pools.entries[pool + 1]):
            per_share[pools.values[at]] = expected[at] / shares[at] if shares[at] > 0 else 0.0
        for place in range(first, last):
            group = pools.groups[place]
            for entry in range(starts[group], starts[group + 1]):
                part = pools.rows[place] / total / sizes[group] * weights[entry]
                found[entry] += per_share[pools.of[entry]] * part
    return found
