"""The groups of a later release in which the rows of an earlier group can be: its partners.

Rows of a group lie in its box, now and later, so they can only be in later groups whose boxes meet it. Three
kinds of links, after Byun et al. (SDM 2006), definition 6:

    same      a later group has the same box and all its values: the rows are taken to be there and nowhere else,
              whatever other boxes overlap
    inside    one later box meets it, and holds it whole
    overlap   any number of later boxes meet it

Cost: per earlier group the later ones whose boxes meet its own, and their values.
"""
# ruff: noqa: ANN001, ANN201, ANN202, SIM110 - compiled loops

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.audit.sequence.groups import Groups, Numbers, Ranks
from discreet.audit.sequence.overlap import Tree, search, turned

KINDS = ("same", "inside", "overlap")
SAME, INSIDE, OVERLAP = range(3)


class Links(NamedTuple):
    """The partners of earlier group i are `later[starts[i]:starts[i + 1]]`, and back by `back` and `earlier`."""

    starts: Numbers
    later: Ranks
    kinds: npt.NDArray[np.int8]
    back: Numbers
    earlier: Ranks


def link(earlier: Groups, later: Groups, tree: Tree) -> Links:
    """Link the groups of two releases; `tree` holds the boxes of the later one."""
    starts, found = search(earlier.boxes, tree, later.boxes)
    starts, found, kinds = _chosen(starts, found, earlier.boxes, later.boxes, earlier.counts, later.counts)
    return Links(starts, found, kinds, *turned(starts, found, later.numbers.size))


@nb.njit(cache=True, nogil=True)
def _chosen(starts, found, boxes, others, counts, more):  # type: ignore[no-untyped-def]
    """Keep of each list those with the same box and all values, if there are any, and say of which kind a list is."""
    kept = np.zeros_like(starts)
    kinds = np.full(starts.size - 1, OVERLAP, np.int8)
    close = np.empty(others.low.shape[0], np.int8)
    at = 0
    for i in range(starts.size - 1):
        first, last, closest = starts[i], starts[i + 1], 0
        for place in range(first, last):
            close[place - first] = closeness(boxes, counts, i, others, more, found[place])
            closest = max(closest, close[place - first])
        if closest:
            kinds[i] = SAME
        elif last - first == 1 and _within(boxes, i, others, found[first]):
            kinds[i] = INSIDE
        for place in range(first, last):
            if close[place - first] == closest:
                found[at] = found[place]  # `at` never overtakes `place`
                at += 1
        kept[i + 1] = at
    return kept, found[:at].copy(), kinds


@nb.njit(cache=True, nogil=True)
def closeness(boxes, counts, i, others, more, j):  # type: ignore[no-untyped-def]
    """2 if both have the same box and values, 1 if the same box and the other has all values and more, else 0."""
    for c in range(boxes.low.shape[1]):
        if boxes.low[i, c] != others.low[j, c] or boxes.high[i, c] != others.high[j, c]:
            return 0
        if boxes.missing[i, c] != others.missing[j, c]:
            return 0
    for w in range(boxes.bits.shape[1]):
        if boxes.bits[i, w] != others.bits[j, w]:
            return 0
    same = True
    at, end = more.starts[j], more.starts[j + 1]
    for entry in range(counts.starts[i], counts.starts[i + 1]):
        while at < end and more.values[at] < counts.values[entry]:
            at += 1
            same = False
        if at == end or more.values[at] != counts.values[entry] or more.counts[at] < counts.counts[entry]:
            return 0
        same = same and more.counts[at] == counts.counts[entry]
        at += 1
    return 2 if same and at == end else 1


@nb.njit(cache=True, nogil=True)
def _within(boxes, i, others, j):  # type: ignore[no-untyped-def]
    """Whether a box lies in another."""
    for c in range(boxes.low.shape[1]):
        present = boxes.low[i, c] <= boxes.high[i, c]
        if present and (boxes.low[i, c] < others.low[j, c] or boxes.high[i, c] > others.high[j, c]):
            return False
        if boxes.missing[i, c] and not others.missing[j, c]:
            return False
    for w in range(boxes.bits.shape[1]):
        if boxes.bits[i, w] & ~others.bits[j, w]:
            return False
    return True
