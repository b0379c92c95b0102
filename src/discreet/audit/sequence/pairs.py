r"""What two releases tell together: the six sets of Byun et al. (SDM 2006), figure 6, for any number of partners.

Let S be the values of an earlier group, and T those of a partner in the later release. All are multisets.

    in both    somebody known to be in both releases, in these two groups, has a value of S ∩ T; T without the values
               of all other earlier groups whose only partner it is, since their rows are nowhere else
    new        somebody known to be in the later release only, in this partner, has a value of (U \ S) ∩ T, where U
               is all that the partners of the earlier group hold: for one partner, T \ S
    together   the same, with all earlier groups that have this partner at once. Where the partners of some are all
               among those of another, they are all taken off these together: T loses what can only have gone to it.
               Such a channel is counted where no single group opens one.

A set that is empty is nobody's. One that is not diverse, by the promise of the releases themselves, is a channel.
Cost: links x values; to find groups to be taken off together, links x links of a group.
Claim: pairs_are_as_counted_by_hand — the same channels and rows as sets written down row by row.
"""
# ruff: noqa: ANN001, ANN201, ANN202, C901, PLR0912, SIM110 - compiled loops

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from discreet.audit.sequence.groups import Counts, Ranks
from discreet.audit.sequence.links import KINDS, Links

NEW, TOGETHER = len(KINDS), 2 * len(KINDS)  # where these kinds of channels start
CHANNELS = (*(f"{what}_{kind}" for what in ("both", "new") for kind in KINDS), "new_together")


class Rule(NamedTuple):
    """What must hold of a set: no value above 1/l of it, so many distinct ones, or so many rows; 1 asks nothing."""

    l: int
    distinct_l: int
    k: int = 1


class Found(NamedTuple):
    """What a pair of releases tells.

    `kinds`, `groups`, `partners` and `posteriors` are of each channel (the group of one `together` is -1), `exposed` is
    the most that any channel shows of each entry of the later release, `fresh` how many of it can be new,
    `unattributed` how many are of no group that can be nowhere else, `worst` the largest posterior of any set, and
    `vanished` how many earlier groups have rows that no partner has.
    """

    kinds: npt.NDArray[np.int8]
    groups: Ranks
    partners: Ranks
    posteriors: npt.NDArray[np.float64]
    exposed: Ranks
    fresh: Ranks
    unattributed: Ranks
    worst: float
    vanished: int


def compare(earlier: Counts, later: Counts, links: Links, rule: Rule, *, values: int, known: bool) -> Found:
    """Look for channels between two releases; `values` is how many different ones there are."""
    return Found(*_compare(earlier, later, links, rule, values, known))


@nb.njit(cache=True, nogil=True)
def posterior(size, top, distinct, rule):  # type: ignore[no-untyped-def]
    """How sure an attacker is of a value of a set, at most; if only `k` is promised, which row is somebody's."""
    if rule.l > 1:
        return top / size
    return 1 / distinct if rule.distinct_l > 1 else 1 / size


@nb.njit(cache=True, nogil=True)
def diverse(size, top, distinct, rule):  # type: ignore[no-untyped-def]
    """Whether a set keeps what is promised of a group."""
    return distinct >= rule.distinct_l and size // top >= rule.l and size >= rule.k


@nb.njit(cache=True, nogil=True)
def _compare(earlier, later, links, rule, values, known):  # type: ignore[no-untyped-def]
    partners = later.starts.size - 1
    room = 2 * links.later.size + partners + 1
    kinds, of, to, found = np.empty(room, np.int8), np.empty(room, np.int32), np.empty(room, np.int32), 0
    sure = np.empty(room)
    exposed, fresh = np.zeros_like(later.counts), later.counts.copy()
    held = np.zeros(values, np.int64)  # by the group itself
    left = np.zeros(values, np.int64)  # by all its partners, less what is taken off
    alone = np.zeros(partners, np.bool_)  # whether a channel of one group is known
    marked, seen = np.full(partners, -1, np.int32), np.full(earlier.starts.size - 1, -1, np.int32)
    worst, vanished = 0.0, 0
    unattributed = _without_sole(earlier, later, links)
    for i in range(earlier.starts.size - 1):
        mine = links.later[links.starts[i] : links.starts[i + 1]]
        for j in mine:
            marked[j] = i
            _add(later, j, left, 1)
        _add(earlier, i, held, 1)
        _add(earlier, i, left, -1)
        vanished += _short(earlier, i, left)
        for j in mine:
            for new in range(1 + known):
                bound = left if new else held
                room = later.counts if new or mine.size == 1 else unattributed
                size, top, distinct = _measure(later, j, room, bound)
                if size:
                    sure[found] = posterior(size, top, distinct, rule)
                    worst = max(worst, sure[found])
                if size and not diverse(size, top, distinct, rule):
                    _show(later, j, room, bound, exposed)
                    kinds[found], of[found], to[found] = new * NEW + links.kinds[i], i, j
                    alone[j] = alone[j] or new == 1
                    found += 1
        if known:
            _take_off_others(earlier, links, i, marked, seen, left)
            for j in mine:
                for entry in range(later.starts[j], later.starts[j + 1]):
                    fresh[entry] = min(fresh[entry], max(left[later.values[entry]], 0))
        _clear(earlier, i, held)
        _clear(earlier, i, left)
        for j in mine:
            _clear(later, j, left)
    for j in range(partners if known else 0):
        size, top, distinct = 0, 0, 0
        for entry in range(later.starts[j], later.starts[j + 1]):
            size, top, distinct = size + fresh[entry], max(top, fresh[entry]), distinct + (fresh[entry] > 0)
        if links.back[j] == links.back[j + 1] or not size:
            continue
        sure[found] = posterior(size, top, distinct, rule)
        worst = max(worst, sure[found])
        if not diverse(size, top, distinct, rule):
            for entry in range(later.starts[j], later.starts[j + 1]):
                exposed[entry] = max(exposed[entry], fresh[entry])
            if not alone[j]:
                kinds[found], of[found], to[found] = TOGETHER, -1, j
                found += 1
    listing = kinds[:found].copy(), of[:found].copy(), to[:found].copy(), sure[:found].copy()
    return *listing, exposed, fresh, unattributed, worst, vanished


@nb.njit(cache=True, nogil=True)
def _add(counts, group, sums, sign):  # type: ignore[no-untyped-def]
    for entry in range(counts.starts[group], counts.starts[group + 1]):
        sums[counts.values[entry]] += sign * counts.counts[entry]


@nb.njit(cache=True, nogil=True)
def _clear(counts, group, sums):  # type: ignore[no-untyped-def]
    for entry in range(counts.starts[group], counts.starts[group + 1]):
        sums[counts.values[entry]] = 0


@nb.njit(cache=True, nogil=True)
def _short(counts, group, left):  # type: ignore[no-untyped-def]
    """Whether the partners of a group lack a value of it."""
    for entry in range(counts.starts[group], counts.starts[group + 1]):
        if left[counts.values[entry]] < 0:
            return True
    return False


@nb.njit(cache=True, nogil=True)
def _without_sole(earlier, later, links):  # type: ignore[no-untyped-def]
    """The counts of all later groups without the rows of those earlier ones that have no other partner."""
    unattributed = later.counts.copy()
    for i in range(earlier.starts.size - 1):
        if links.starts[i + 1] - links.starts[i] != 1:
            continue
        j = links.later[links.starts[i]]
        at = later.starts[j]
        for entry in range(earlier.starts[i], earlier.starts[i + 1]):
            while at < later.starts[j + 1] and later.values[at] < earlier.values[entry]:
                at += 1
            if at < later.starts[j + 1] and later.values[at] == earlier.values[entry]:
                unattributed[at] -= min(unattributed[at], earlier.counts[entry])
    return unattributed


@nb.njit(cache=True, nogil=True)
def _measure(counts, group, room, bound):  # type: ignore[no-untyped-def]
    """A group's counts, each cut off at its value's bound: their sum, the largest, how many are not zero."""
    size, top, distinct = 0, 0, 0
    for entry in range(counts.starts[group], counts.starts[group + 1]):
        n = min(np.int64(room[entry]), bound[counts.values[entry]])
        if n > 0:
            size, top, distinct = size + n, max(top, n), distinct + 1
    return size, top, distinct


@nb.njit(cache=True, nogil=True)
def _show(counts, group, room, bound, exposed):  # type: ignore[no-untyped-def]
    for entry in range(counts.starts[group], counts.starts[group + 1]):
        exposed[entry] = max(exposed[entry], min(np.int64(room[entry]), bound[counts.values[entry]]))


@nb.njit(cache=True, nogil=True)
def _take_off_others(earlier, links, i, marked, seen, left):  # type: ignore[no-untyped-def]
    """Take off the values of all other groups whose partners are among those of group i, which are marked."""
    seen[i] = i
    first, last = links.starts[i], links.starts[i + 1]
    for at in range(first, last):
        j = links.later[at]
        for back in range(links.back[j], links.back[j + 1]):
            other = links.earlier[back]
            if seen[other] == i:
                continue
            seen[other] = i
            inside = links.starts[other + 1] - links.starts[other] <= last - first
            if inside:
                for place in range(links.starts[other], links.starts[other + 1]):
                    inside = inside and marked[links.later[place]] == i
            if inside:
                _add(earlier, other, left, -1)
