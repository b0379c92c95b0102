"""What a whole chain of releases tells: who is in the last one, seen through all that came before.

The table grows, so somebody first published in release a is in every one from a on, and in none before. In each
of them the person is in one group, and all these groups' boxes have the person's point in common. What is
then known of the person is the intersection of what can be new since all releases before a (see `pairs`;
if a is the first, or nobody knows who is new, everything), over all these groups; and of what each two of them tell
of somebody in both: the values of the later one without the rows of other groups that can be nowhere else. So the set
of a line lies in that of each pair along it. Lines of groups are followed from the last release backwards, as long as
their boxes have a point in common and the set is diverse: an empty set is nobody's, and one that is not diverse is
a channel already.
A vault finds the same sets by other code, on purpose (`vault/safety/inference.py`): each is a second opinion.

Source: Byun et al. (SDM 2006), section 3.1, leave this open.
Cost: as many steps as there are lines, which can be many: there is a limit, and it is told when it is reached. A step
looks at one group of each release after it, at most.
Claim: chain_is_as_followed_by_hand — the same channels and rows as all lines written down one by one.
"""
# ruff: noqa: ANN001, ANN202, C901, PLR0912 - compiled loops

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.audit.sequence.groups import CodedBoxes, Counts, Flags, Groups, Numbers, Ranks, concatenated
from discreet.audit.sequence.links import Links
from discreet.audit.sequence.overlap import meets
from discreet.audit.sequence.pairs import Rule, diverse, posterior

LISTED = 1_000  # channels of one cohort whose lines are told


class Lines(NamedTuple):
    """What was found along lines: `exposed` of the last release as for a pair; groups and posteriors of some channels.

    Groups of all releases are counted through; those in `listed` start in the last release, and end with -1.
    """

    channels: int
    steps: int
    complete: bool
    worst: float
    exposed: Ranks
    listed: npt.NDArray[np.int32]
    posteriors: npt.NDArray[np.float64]


class Unattributed(NamedTuple):
    """Of two releases, counted from 0: which earlier groups have several partners, and what is left for them.

    `unattributed` has how many of each entry of the later release are of no group that can be nowhere else (see
    `pairs`).
    """

    earlier: int
    later: int
    several: Flags
    unattributed: Ranks


class _Chain(NamedTuple):
    """All releases in one: groups of release t start at `offsets[t]`; `back` and `earlier` lead one release back.

    What is unattributed between releases t and u: flags of the groups of t start at `several_at[t, u]`, or that is -1,
    and numbers of the entries of u at `unattributed_at[t, u]`.
    """

    offsets: Numbers
    entries: Numbers
    boxes: CodedBoxes
    counts: Counts
    back: Numbers
    earlier: Ranks
    several_at: Numbers
    unattributed_at: Numbers
    several: Flags
    unattributed: Ranks


def unattributed(i: int, j: int, later: Counts, links: Links, left: Ranks) -> Unattributed | None:
    """What `left`, the unattributed rows of release j, bounds for groups of release i; None if that is nothing."""
    several = np.diff(links.starts) > 1
    if not several.any() or np.array_equal(left, later.counts):
        return None
    return Unattributed(i, j, several, left)


class Chain:
    """Releases whose lines can be followed; `links` of each to the next, and what is unattributed between two."""

    def __init__(self, releases: Sequence[Groups], links: Sequence[Links], between: Sequence[Unattributed]) -> None:
        offsets = np.cumsum([0, *(of.numbers.size for of in releases)], dtype=np.int64)
        entries = np.cumsum([0, *(of.counts.values.size for of in releases)], dtype=np.int64)
        backs, earlier, total = [np.zeros(releases[0].numbers.size, np.int64)], [], 0
        for link, offset in zip(links, offsets[: len(links)], strict=True):
            backs.append(link.back[:-1] + total)
            earlier.append(link.earlier + np.int32(offset))
            total += link.earlier.size
        several_at, unattributed_at = np.full((2, len(releases), len(releases)), -1, np.int64)
        flags, numbers = 0, 0
        for of in between:
            several_at[of.earlier, of.later], unattributed_at[of.earlier, of.later] = flags, numbers
            flags, numbers = flags + of.several.size, numbers + of.unattributed.size
        every = concatenated(releases)
        self._all = _Chain(
            offsets,
            entries,
            every.boxes,
            every.counts,
            np.append(np.concatenate(backs), total),
            np.concatenate(earlier).astype(np.int32),
            several_at,
            unattributed_at,
            np.concatenate([np.zeros(0, np.bool_), *(of.several for of in between)]),
            np.concatenate([np.zeros(0, np.int32), *(of.unattributed for of in between)]),
        )

    def follow(self, cohort: int, fresh: Sequence[Ranks], rule: Rule, limit: int) -> Lines:
        """Follow the lines of those first published in release number `cohort`, counted from 0.

        `fresh` tells of each release how many of each entry can be theirs.
        """
        chain = self._all
        counts = chain.counts._replace(counts=np.concatenate(fresh))
        width = int(np.diff(chain.counts.starts[chain.offsets[-2] :]).max(initial=1))
        found = _follow(chain._replace(counts=counts), cohort, rule, limit, width)
        return Lines(*found)

    def left(self, groups: Sequence[int], fresh: Sequence[Ranks]) -> Counter[int]:
        """The values that a line leaves, as `follow` finds them; its groups are those of one in `listed`."""
        chain, last = self._all, self._all.offsets.size - 2
        left = self._held(groups[0], fresh[last], last)
        for at, group in enumerate(groups[1:], 1):
            left &= self._held(group, fresh[last - at], last - at)
            for u in range(last - at + 1, last + 1):
                first = chain.several_at[last - at, u]
                if first >= 0 and chain.several[first + group - chain.offsets[last - at]]:
                    left &= self._held(groups[last - u], chain.unattributed[chain.unattributed_at[last - at, u] :], u)
        return left

    def _held(self, group: int, numbers: Ranks, t: int) -> Counter[int]:
        """The values of a group of release t; as many of each as `numbers` says of the entries of that release."""
        counts, first = self._all.counts, self._all.entries[t]
        at = slice(counts.starts[group], counts.starts[group + 1])
        here = numbers[at.start - first : at.stop - first]
        return Counter(dict(zip(counts.values[at].tolist(), here.tolist(), strict=True)))


@nb.njit(cache=True, nogil=True)
def _follow(chain, cohort, rule, limit, width):  # type: ignore[no-untyped-def]
    releases = chain.offsets.size - 1
    depths, counts, boxes = releases - cohort, chain.counts, chain.boxes
    ranges, words = boxes.low.shape[1], boxes.bits.shape[1]
    low, high = np.empty((depths, ranges), np.int32), np.empty((depths, ranges), np.int32)
    missing, bits = np.empty((depths, ranges), np.bool_), np.empty((depths, words), np.uint64)
    values, number = np.empty((depths, width), np.int32), np.empty((depths, width), np.int32)
    places, lengths = np.empty((depths, width), np.int64), np.empty(depths, np.int64)
    line, turn = np.empty(depths, np.int32), np.empty(depths, np.int64)
    base = counts.starts[chain.offsets[releases - 1]]
    exposed = np.zeros(counts.starts[chain.offsets[releases]] - base, np.int32)
    listed, sure = np.full((LISTED, depths), -1, np.int32), np.zeros(LISTED)
    channels, steps, worst = 0, 0, 0.0
    for last in range(chain.offsets[releases - 1], chain.offsets[releases]):
        depth, group = -1, last
        while True:
            # step onto `group`, one release before that of `depth`
            entered, at = False, depth + 1
            if steps == limit:
                listing = min(channels, LISTED)
                return channels, steps, False, worst, exposed, listed[:listing], sure[:listing]
            steps += 1
            if depth < 0 or meets(low, high, missing, bits, depth, boxes, group):
                line[at] = group
                size, top = _meet(counts, group, depth, base, values, number, places, lengths)
                if size and depth >= 0:
                    size, top = _without_others(chain, line, at, values, number, places, lengths)
                if size:
                    worst = max(worst, posterior(size, top, lengths[at], rule))
                    if diverse(size, top, lengths[at], rule):
                        entered = True
                    else:
                        for k in range(lengths[at]):
                            exposed[places[at, k]] = max(exposed[places[at, k]], number[at, k])
                        if channels < LISTED:
                            listed[channels, : at + 1] = line[: at + 1]
                            sure[channels] = posterior(size, top, lengths[at], rule)
                        channels += 1
            if entered:
                _narrow(boxes, group, depth, low, high, missing, bits)
                depth = at
                turn[depth] = chain.back[group]
            # the next group to step onto
            while depth >= 0 and (depth == depths - 1 or turn[depth] == chain.back[line[depth] + 1]):
                depth -= 1
            if depth < 0:
                break
            group = chain.earlier[turn[depth]]
            turn[depth] += 1
    listing = min(channels, LISTED)
    return channels, steps, True, worst, exposed, listed[:listing], sure[:listing]


@nb.njit(cache=True, nogil=True)
def _narrow(boxes, group, depth, low, high, missing, bits):  # type: ignore[no-untyped-def]
    """Write at the next depth what a box has in common with that of a group."""
    at = depth + 1
    low[at], high[at] = boxes.low[group], boxes.high[group]
    missing[at], bits[at] = boxes.missing[group], boxes.bits[group]
    if depth >= 0:
        for c in range(low.shape[1]):
            low[at, c], high[at, c] = max(low[at, c], low[depth, c]), min(high[at, c], high[depth, c])
            missing[at, c] = missing[at, c] and missing[depth, c]
        for w in range(bits.shape[1]):
            bits[at, w] &= bits[depth, w]


@nb.njit(cache=True, nogil=True)
def _meet(counts, group, depth, base, values, number, places, lengths):  # type: ignore[no-untyped-def]
    """Write at the next depth what a set has in common with a group; how much that is, and how much of one value."""
    size, top, kept, at = 0, 0, 0, depth + 1
    first, last = counts.starts[group], counts.starts[group + 1]
    if depth < 0:
        for entry in range(first, last):
            n = counts.counts[entry]
            if n > 0:
                values[at, kept], number[at, kept], places[at, kept] = counts.values[entry], n, entry - base
                size, top, kept = size + n, max(top, n), kept + 1
    else:
        entry = first
        for k in range(lengths[depth]):
            while entry < last and counts.values[entry] < values[depth, k]:
                entry += 1
            if entry == last:
                break
            if counts.values[entry] == values[depth, k]:
                n = min(counts.counts[entry], number[depth, k])
                if n > 0:
                    values[at, kept], number[at, kept], places[at, kept] = values[depth, k], n, places[depth, k]
                    size, top, kept = size + n, max(top, n), kept + 1
    lengths[at] = kept
    return size, top


@nb.njit(cache=True, nogil=True)
def _without_others(chain, line, at, values, number, places, lengths):  # type: ignore[no-untyped-def]
    """Bound the set at a depth by what later groups of the line hold of no other group; its size and largest count."""
    counts, last, group = chain.counts, chain.offsets.size - 2, line[at]
    t = last - at
    for d in range(at):
        u = last - d
        first = chain.several_at[t, u]
        if first < 0 or not chain.several[first + group - chain.offsets[t]]:
            continue
        base, entry = chain.unattributed_at[t, u] - chain.entries[u], counts.starts[line[d]]
        for k in range(lengths[at]):
            while counts.values[entry] < values[at, k]:  # what is left of a line is in all its groups
                entry += 1
            number[at, k] = min(number[at, k], chain.unattributed[base + entry])
    size, top, kept = 0, 0, 0
    for k in range(lengths[at]):
        n = number[at, k]
        if n > 0:
            values[at, kept], number[at, kept], places[at, kept] = values[at, k], n, places[at, k]
            size, top, kept = size + n, max(top, n), kept + 1
    lengths[at] = kept
    return size, top
