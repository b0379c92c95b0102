"""Which values are left for people when releases are intersected, and how likely each of them is.

Source: Ganta, Kasiviswanathan and Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008.
In a release, somebody's value is among those of the groups that hold rows like theirs: by itself, the release gives
every value its share of these. Together only values of every release are left. If the groups of each were drawn
independently, a value has the probability

    share in the first x share in the second / share of the value among all people x …

scaled to a sum of 1: that is Bayes' rule, as each release shifts the odds by (share there / share among all people). A
release in which people are in the very same groups as in another (the same people, the same values) tells nothing
more and is left out. People with the same groups in every release are counted as one *bundle*.
Cost: bundles x values in their groups, twice.
Claim: intersection_never_excludes_the_truth — everybody's value is left where everybody is in all releases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from discreet.audit.composition import loops
from discreet.audit.composition.people import Floats, Shown
from discreet.audit.composition.pools import Listed, Pools, fingerprints, hand_back, joined, kinds_weights, listed, mix
from discreet.audit.sequence.groups import Numbers

MANY = 20_000_000  # candidates that are held at once
THREADS = 2  # whatever the machine has, so that sums are the same on every one
COARSE = 1 << 14  # kinds of people below which there is one thread
Found = TypeVar("Found")


class Groups(NamedTuple):
    """The groups of all releases in one row: which values each holds and how often, how many rows, its first twin."""

    starts: Numbers
    values: Numbers
    counts: Numbers | Floats  # how often, or another weight
    sizes: Numbers
    twins: Numbers


class AllPlaces(NamedTuple):
    """`Places` of all releases: those of kind u in release i are from `starts[i, u]` up to `starts[i, u + 1]`."""

    starts: Numbers
    groups: Numbers
    rows: Floats


class Candidates(NamedTuple):
    """The values that are left for each bundle, and their weights."""

    starts: Numbers
    values: Numbers
    weights: Floats


@dataclass(frozen=True)
class Bundles:
    """Kinds of people that are in the same groups everywhere.

    `of` is the bundle of every kind, -1 where it is not asked for; `kinds` is one kind of each bundle.
    """

    of: Numbers
    kinds: Numbers


class Told(NamedTuple):
    """Of each bundle: how many values are left, the lowest and the highest, the likeliest, and its probability."""

    distinct: Numbers
    low: Numbers
    high: Numbers
    guess: Numbers
    posterior: Floats

    def at(self, bundles: Numbers) -> Told:
        """The same of some bundles, one by one."""
        return Told(
            self.distinct[bundles], self.low[bundles], self.high[bundles], self.guess[bundles], self.posterior[bundles]
        )


class Composition:
    """Several releases, and the search for what is left of them."""

    def __init__(self, shown: Sequence[Shown], values: int) -> None:
        self.groups = _groups(shown)
        counts = np.bincount(self.groups.values, weights=self.groups.counts, minlength=values)
        self.base = counts / counts.sum()
        self.places, self.pools = _all_places(shown, self.groups)
        self.real = self.groups  # those that the releases show; pools come after them
        if self.pools.groups.size:
            self.groups = _with_pools(self.groups, self.pools)
        self.places = _by_twin(self.places, self.groups.twins)

    def bundles(self, asked: Numbers) -> Bundles:
        """Put together the kinds of people that are asked for and cannot be told apart."""
        starts, groups = self.places.starts, self.places.groups
        signature = np.zeros(asked.size, np.int64)
        for i in range(starts.shape[0]):
            first, last = starts[i, asked], starts[i, asked + 1]
            place = groups[np.minimum(first, groups.size - 1)] + 1
            own = np.where(last - first == 1, place, np.where(last == first, 0, self.groups.sizes.size + 1 + asked))
            _, own = np.unique(own, return_inverse=True)
            _, signature = np.unique(signature * (own.max(initial=0) + 1) + own, return_inverse=True)
        of = np.full(starts.shape[1] - 1, -1, np.int64)
        of[asked] = signature
        _, first = np.unique(signature, return_index=True)
        return Bundles(of, asked[first])

    def alone(self, kinds: Numbers) -> tuple[Floats, Numbers]:
        """How likely a value of people is by the one release that tells most, and the fewest values that one leaves."""
        posterior, fewest = loops.most_alone(kinds, self.places, self.groups, self.base.size)
        return posterior, fewest

    def count(self, kinds: Numbers) -> Numbers:
        """How many values are left."""
        parts = in_parts(kinds.size, lambda part: loops.count(kinds[part], self.places, self.groups, self.base))
        return np.concatenate(parts)

    def left(self, kinds: Numbers, distinct: Numbers, groups: Groups | None = None) -> Candidates:
        """The values that are left, as many as were counted; by other counts of the groups, if these are given."""
        starts, held = np.concatenate([[0], np.cumsum(distinct)]), groups or self.groups

        def some(part: slice) -> tuple[Numbers, Floats]:
            own = starts[part.start : part.stop + 1] - starts[part.start]
            found: tuple[Numbers, Floats] = loops.listed_values(kinds[part], own, self.places, held, self.base)
            return found

        return Candidates(starts, *map(np.concatenate, zip(*in_parts(kinds.size, some), strict=True)))

    def weighed(self, weights: Floats) -> Groups:
        """The groups with other weights in the place of their counts, and the pools mixed by these."""
        if not self.pools.groups.size:
            return self.groups._replace(counts=weights)
        mixed = mix(self.pools, self.real.starts, self.real.sizes, weights)
        return self.groups._replace(counts=np.concatenate([weights, mixed]))

    def handed_back(self, groups: Groups, expected: Floats) -> Floats:
        """How many people are expected to hold each entry of the groups that releases show, with those of pools."""
        if not self.pools.groups.size:
            return expected
        own, pooled = np.split(expected, [self.real.counts.size])
        weights = groups.counts[: own.size].astype(np.float64)
        return own + hand_back(self.pools, self.real.starts, self.real.sizes, weights, pooled)


def in_parts(size: int, act: Callable[[slice], Found]) -> list[Found]:
    """What an act comes to for each of as many stretches of so many things as there are threads, in their order."""
    if size < COARSE:
        return [act(slice(0, size))]
    ends = [size * at // THREADS for at in range(THREADS + 1)]
    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(lambda part: act(slice(*part)), pairwise(ends)))


def told(candidates: Candidates) -> Told:
    """Sum up what is left; values without weight are not."""
    return Told(*loops.summed_up(candidates))


def _groups(shown: Sequence[Shown]) -> Groups:
    """Number all groups through. Two are twins if they hold rows of the same kinds and the same values.

    That is seen by fingerprints of 64 bits: sums of random numbers, one for each kind and each value.
    """
    starts, values, counts, sizes, prints = [np.zeros(1, np.int64)], [], [], [], []
    most = max(int(of.held.values.max(initial=0)) for of in shown) + 1
    chance = np.random.default_rng(1)  # of no secret
    of_value = chance.integers(0, 2**63, most, np.int64).view(np.uint64)
    of_kinds = {}  # looks of other columns are others
    for of in shown:
        kinds = of.places.starts.size - 1
        if of.by not in of_kinds:
            of_kinds[of.by] = chance.integers(0, 2**63, kinds, np.int64).view(np.uint64)
        groups = of.held.starts.size - 1
        at = np.repeat(np.arange(groups), np.diff(of.held.starts))
        starts.append(of.held.starts[1:].astype(np.int64) + starts[-1][-1])
        values.append(of.held.values.astype(np.int64))
        counts.append(of.held.counts.astype(np.int64))
        sizes.append(np.bincount(at, weights=of.held.counts, minlength=groups).astype(np.int64))
        mark = np.zeros(groups, np.uint64)
        np.add.at(mark, at, of_value[of.held.values] * of.held.counts.astype(np.uint64))
        kind = np.repeat(np.arange(kinds), np.diff(of.places.starts))
        if of.whole:
            np.add.at(mark, of.places.groups, of_kinds[of.by][kind] * of.places.rows.astype(np.uint64))
        else:  # nobody can tell who is in it
            mark = chance.integers(0, 2**63, groups, np.int64).view(np.uint64)
        prints.append(mark)
    _, first, same = np.unique(np.concatenate(prints), return_index=True, return_inverse=True)
    flat = [np.concatenate(parts) for parts in (starts, values, counts, sizes)]
    return Groups(flat[0], flat[1], flat[2], flat[3], first[same])


def _all_places(shown: Sequence[Shown], groups: Groups) -> tuple[AllPlaces, Pools]:
    """Where the kinds are in every release, and the pools of kinds that are told apart only elsewhere."""
    parts: list[Listed] = []
    weights, pools, first = kinds_weights(shown), groups.sizes.size, 0
    for of in shown:
        parts.append(listed(of, weights, first, pools))
        pools += parts[-1].pool_starts.size - 1
        first += of.held.starts.size - 1
    entries = np.cumsum([0, *(part.groups.size for part in parts)])
    places = AllPlaces(
        np.stack([part.starts + at for part, at in zip(parts, entries, strict=False)]),
        np.concatenate([part.groups for part in parts]),
        np.concatenate([part.rows for part in parts]),
    )
    return places, joined(parts, [of.whole for of in shown], groups.starts, groups.values)


def _with_pools(groups: Groups, pools: Pools) -> Groups:
    """The pools after all groups, each of the size 1, since it holds shares."""
    return Groups(
        np.concatenate([groups.starts, groups.starts[-1] + pools.entries[1:]]),
        np.concatenate([groups.values, pools.values]),
        np.concatenate([groups.counts, mix(pools, groups.starts, groups.sizes, groups.counts)]),
        np.concatenate([groups.sizes, np.ones(pools.whole.size, np.int64)]),
        np.concatenate([groups.twins, fingerprints(pools, groups.twins)]),
    )


def _by_twin(places: AllPlaces, twins: Numbers) -> AllPlaces:
    """The same places, those of each kind in each release sorted by twin, so that the same ones can be seen to be."""
    releases, kinds = places.starts.shape[0], places.starts.shape[1] - 1
    lengths = np.diff(places.starts, axis=1).reshape(-1)
    run = np.repeat(np.arange(releases * kinds), lengths)
    order = np.lexsort((twins[places.groups], run))
    return AllPlaces(places.starts, places.groups[order], places.rows[order])
