"""Make what is left for everybody agree with the counts of every group: who holds a value leaves less of it to others.

One person at a time, Bayes' rule does not know that a group holds a value so often and no more. The weight of each
value in a group is scaled until as many people are expected to hold it there as do, in all releases at once, while each
release still multiplies the odds (generalized iterative scaling, Darroch and Ratcliff 1972). Where everybody is in
every release this finds most of what counting heads does (`elimination`); where somebody is not, it supposes nothing.
Cost: turns x people x values in their groups.
Claim: joint_weights_keep_the_counts — after the turns, every group is expected to hold what it does.
"""
# ruff: noqa: ANN001, ANN201, ANN202 - compiled loops

from __future__ import annotations

import numba as nb
import numpy as np

from discreet.audit.composition.candidates import Candidates, Composition, Groups, in_parts
from discreet.audit.composition.loops import nothing_new, room, shares_of
from discreet.audit.composition.people import Floats
from discreet.audit.sequence.groups import Numbers

TURNS = 25
NEAR = 0.01  # people, in the group that fits worst


def jointly(search: Composition, kinds: Numbers, *, turns: int = TURNS) -> Candidates:
    """What is left of all kinds of people, weighted so that groups hold what they do."""
    counts = search.real.counts.astype(np.float64)
    distinct = search.count(kinds)
    weights, groups = counts.copy(), search.weighed(counts)
    left = search.left(kinds, distinct, groups)
    for _ in range(turns):
        expected = _expected(search, kinds, left, groups)
        held = expected > 0
        if np.abs(expected - counts)[held].max(initial=0) < NEAR:
            break
        missed = np.divide(counts, expected, out=np.ones_like(counts), where=held)
        weights = weights * missed ** (1 / search.places.starts.shape[0])
        groups = search.weighed(weights)
        left = search.left(kinds, distinct, groups)
    return left


def _expected(search: Composition, kinds: Numbers, left: Candidates, groups: Groups) -> Floats:
    def some(part: slice) -> Floats:
        mine = left._replace(starts=left.starts[part.start : part.stop + 1])
        found: Floats = expected_counts(kinds[part], mine, search.places, groups, search.base.size)
        return found

    return search.handed_back(groups, np.sum(in_parts(kinds.size, some), axis=0))


@nb.njit(cache=True, nogil=True)
def expected_counts(kinds, left, places, groups, values):  # type: ignore[no-untyped-def]
    """How many people are expected to hold each value of each group; 0 where a release tells nothing new of them."""
    expected, part, scratch, stamp = np.zeros(groups.counts.size), np.zeros(values), room(values), 0
    for n in range(kinds.size):
        held, own = left.values[left.starts[n] : left.starts[n + 1]], left.weights[left.starts[n] : left.starts[n + 1]]
        if own.sum() <= 0:
            continue
        part[held] = own / own.sum()
        for i in range(places.starts.shape[0]):
            if not nothing_new(i, kinds[n], places, groups.twins):
                stamp += 1
                _spread(i, kinds[n], part, places, groups, scratch, stamp, expected)
        part[held] = 0.0
    return expected


@nb.njit(cache=True, nogil=True)
def _spread(i, kind, part, places, groups, scratch, stamp, expected):  # type: ignore[no-untyped-def]
    """Add the people of a kind to the groups of a release, each value by its weight in each of them."""
    share, mark, seen = scratch
    shares_of(i, kind, places, groups, share, mark, stamp, seen)
    for place in range(places.starts[i, kind], places.starts[i, kind + 1]):
        group = places.groups[place]
        weight = places.rows[place] / groups.sizes[group]  # how many rows there are in all cancels out
        for entry in range(groups.starts[group], groups.starts[group + 1]):
            value = groups.values[entry]
            if part[value] > 0:
                expected[entry] += part[value] * weight * groups.counts[entry] / share[value]
