r"""Rule out more values by counting heads, where everybody in a release is known to be in every larger one too.

Let x be how many people of a bundle hold a value. Bounds of x are tightened until nothing changes:

    people   the x of a bundle sum to its people n:       x >= n - (the others at most),  x <= n - (the others at least)
    values   the x of a value in a group sum to its count there, less what rows of unknown people hold:
             x <= count - (others at least),  x >= count - (others at most) - min(count, rows of unknown people)

Known are the people of a bundle in a release in which it has no more rows than in the smallest one that it is in: they
are the same. Where a bundle of n people has r rows in a group, and others elsewhere, at least r - (n - x) and at most
min(r, x) of them hold the value.
Cost: rounds x candidates x releases; every round but the last tightens a bound, and after 100 it is left at that.
Claim: elimination_is_sound — no value is ruled out that somebody holds in any table that all releases could be of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.audit.composition.candidates import AllPlaces, Bundles, Candidates, Groups
from discreet.audit.composition.people import Floats
from discreet.audit.sequence.groups import Numbers

ROUNDS = 100


class _Entries(NamedTuple):
    """One release: a line for every candidate of a bundle and every group of it that holds the value.

    `at` is the candidate, `slot` the value in the group and `held` how often it occurs there; `rows` of the `people` of
    the bundle are in the group. At most `slack` holders of the value are people who are not known; `asked` are the
    candidates of people who are.
    """

    at: Numbers
    slot: Numbers
    rows: Floats
    people: Floats
    held: Floats
    slack: Floats
    asked: npt.NDArray[np.bool_]


def eliminate(
    candidates: Candidates, bundles: Bundles, places: AllPlaces, groups: Groups, rows: Sequence[Numbers | None]
) -> npt.NDArray[np.bool_] | None:
    """Which candidates are still left; None if no table fits all releases.

    `rows` are those of every kind of people in each release, None where they do not count.
    """
    held = [None if of is None else _summed(of, bundles) for of in rows]
    known = [of for of in held if of is not None]
    people = np.min([np.where(of > 0, of, np.inf) for of in known], axis=0)
    people = np.where(np.isfinite(people), people, 0)
    releases = [
        _entries(i, of, people, candidates, bundles, places, groups) for i, of in enumerate(held) if of is not None
    ]
    bundle = np.repeat(np.arange(people.size), np.diff(candidates.starts))
    most, least, n = people[bundle].copy(), np.zeros(bundle.size), people[bundle]
    for _ in range(ROUNDS):
        before = most.sum() - least.sum()
        least = np.maximum(least, n - (_sum(bundle, most, people.size)[bundle] - most))
        most = np.minimum(most, n - (_sum(bundle, least, people.size)[bundle] - least))
        for of in releases:
            _in_groups(of, most, least)
        if (least > most).any():
            return None
        if most.sum() - least.sum() == before:
            break
    return most > 0


def _in_groups(of: _Entries, most: Floats, least: Floats) -> None:
    """Tighten bounds by what the groups of one release hold."""
    slots = int(of.slot.max(initial=-1)) + 1
    high = np.minimum(of.rows, most[of.at])
    low = np.maximum(0, of.rows - (of.people - least[of.at]))
    highs, lows = _sum(of.slot, high, slots)[of.slot], _sum(of.slot, low, slots)[of.slot]
    high_now = np.minimum(high, of.held - (lows - low))
    low_now = np.maximum(low, of.held - (highs - high) - of.slack)
    most[of.asked] = np.minimum(most, _sum(of.at, high_now, most.size))[of.asked]
    least[of.asked] = np.maximum(least, _sum(of.at, low_now, most.size))[of.asked]


def _entries(
    i: int, held: Floats, people: Floats, candidates: Candidates, bundles: Bundles, places: AllPlaces, groups: Groups
) -> _Entries:
    same = (held == people) & (people > 0)
    first, last = places.starts[i, bundles.kinds], places.starts[i, bundles.kinds + 1]
    lengths = np.where(same, last - first, 0)
    bundle = np.repeat(np.arange(people.size), lengths)
    place = _runs(first, lengths)
    group, rows = places.groups[place], places.rows[place]
    rows = np.where(lengths[bundle] == 1, people[bundle], rows)  # a bundle may be several kinds in one group
    unknown = groups.sizes - _sum(group, rows, groups.sizes.size)
    wide = np.diff(candidates.starts)[bundle]
    entry = np.repeat(np.arange(bundle.size), wide)
    at = _runs(candidates.starts[:-1][bundle], wide)
    values = int(groups.values.max(initial=0)) + 1
    keys = np.repeat(np.arange(groups.sizes.size), np.diff(groups.starts)) * values + groups.values
    wanted = group[entry] * values + candidates.values[at]
    slot = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    there = keys[slot] == wanted
    at, slot, entry = at[there], slot[there], entry[there]
    count = groups.counts[slot].astype(np.float64)
    slack = np.minimum(count, unknown[group[entry]])
    asked = np.repeat(same, np.diff(candidates.starts))
    return _Entries(at, slot, rows[entry], people[bundle[entry]], count, slack, asked)


def _summed(rows: Numbers, bundles: Bundles) -> Floats:
    asked = bundles.of >= 0
    return _sum(bundles.of[asked], rows[asked].astype(np.float64), bundles.kinds.size)


def _runs(first: Numbers, lengths: Numbers) -> Numbers:
    """The numbers from each `first` on, so many of them, one run after the other."""
    return np.arange(lengths.sum()) + np.repeat(first - np.cumsum(lengths) + lengths, lengths)


def _sum(at: Numbers, weights: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(at, weights=weights, minlength=size), np.float64)
