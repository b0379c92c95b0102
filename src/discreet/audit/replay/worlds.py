"""Play a partition again on tables that a release permits, and believe those in which a group comes about again.

A *world* gives the values of each group to its rows in random order, so that before anything is played each value of a
group is as likely for each of its rows. The partition is run on it as published; where it makes the group again, the
world agrees with the release there. What rows held in the worlds that agree is what the release tells (approximate
Bayesian computation, by rejection). If every group comes about again in enough of the worlds, only these are believed,
which is exact; else those are, for each group, that make this one again: less than there is to be learned, and never
more. Chance inside the partition only makes fewer worlds agree. Of a group nothing is believed unless its rows and
values go together in these worlds more than chance would have it at 1 % (a test of independence, in which rows hold
values in random order): else noise would be taken for knowledge.

Cuts are made in one part of the table after another, so a large release is played in neighbourhoods: groups that lie
near one another, as a table of their own. Coarser cuts than theirs are left out. Only so many rows are played, in
neighbourhoods drawn at random; a partition that decides about the whole table at once is played whole or not at all.
Source: Wong, Fu, Wang and Pei, VLDB 2007, for the question; Pritchard et al., Mol. Biol. Evol. 1999, for the rejection.
Cost: worlds x rows that are played, each what the partition takes: up to `WORLDS` x `PLAYED` rows.
Claim: worlds_agree_with_all_tables — on tables so small that all worlds can be tried, the same but for chance.
Claim: nothing_is_learned_where_nothing_is_told — of blind cuts, of as few groups as chance has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from discreet.audit.replay.played import Player
from discreet.learn.view import View
from discreet.values.random import RandomSource

WORLDS = 500
NEAR = 512  # rows of a neighbourhood, about
PLAYED = 4_096  # rows that are played in so many worlds
BUDGET = 4 << 20  # worlds x rows, where all are played at once
FEWEST = 50  # worlds, below which nothing can be told
ENOUGH = 10  # worlds that agree
DOUBT = NormalDist().inv_cdf(0.99)
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Believed:
    """What worlds tell of the rows of some groups: row rows[i] held values[ends[i]:ends[i + 1]] where they agree.

    `played` rows were looked at, in so many `worlds`, and `again` of their groups came about in one of them.
    """

    rows: Ints
    ends: Ints
    values: Ints
    played: int
    worlds: int
    again: int


def believe(player: Player, view: View, seed: int, worlds: int = WORLDS) -> Believed | None:
    """Play worlds of a release; None if there are too many rows to play enough of them."""
    random, sizes = np.random.default_rng(seed), np.diff(view.starts)
    if player.at_once:
        worlds = min(worlds, BUDGET // view.rows)
        if worlds < FEWEST:
            return None
        parts = [np.arange(sizes.size)]
    else:
        parts = neighbourhoods(player.places, view, NEAR)
    rows, votes, played, again = [], [], 0, 0
    for at in random.permutation(len(parts)):
        if played and played + sizes[parts[at]].sum() > PLAYED:
            continue
        here = _Part.of(view, parts[at])
        held, made = here.played(player, worlds, random)
        played, again = played + here.rows.size, again + int(np.count_nonzero(made.any(axis=0)))
        for row, values in here.told(held, made):
            rows.append(row)
            votes.append(values)
    ends = np.cumsum([0, *(each.size for each in votes)])
    values = np.concatenate([np.zeros(0, np.int64), *votes])
    return Believed(np.array(rows, np.int64), ends, values, played, worlds, again)


def neighbourhoods(places: Floats, view: View, size: int) -> list[Ints]:
    """Groups that lie near one another, with about so many rows: halved where they lie farthest apart."""
    sizes = np.diff(view.starts)
    middle = np.add.reduceat(places, view.starts[:-1], axis=1) / sizes
    found, waiting = [], [np.arange(sizes.size)]
    while waiting:
        groups = waiting.pop()
        if sizes[groups].sum() <= size or groups.size < 2 or not len(places):
            found.append(np.sort(groups))
            continue
        axis = int(np.ptp(middle[:, groups], axis=1).argmax())
        groups = groups[np.argsort(middle[axis, groups], kind="stable")]
        below = np.cumsum(sizes[groups])
        half = min(max(int(np.searchsorted(below, below[-1] / 2)), 1), groups.size - 1)
        waiting += [groups[half:], groups[:half]]
    return found


@dataclass(frozen=True, eq=False)
class _Part:
    """Some groups as a table of their own: their rows, the group of each from 0 on, and the values, group by group."""

    rows: Ints
    group: Ints
    held: npt.NDArray[np.int32]

    @classmethod
    def of(cls, view: View, groups: Ints) -> _Part:
        rows = np.concatenate([np.arange(view.starts[g], view.starts[g + 1]) for g in groups])
        group = np.repeat(np.arange(groups.size), np.diff(view.starts)[groups])
        return cls(rows, group, view.held[rows])

    def played(self, player: Player, worlds: int, random: np.random.Generator) -> tuple[npt.NDArray[np.int32], Flags]:
        """What every row held in each world, and which groups came about again in it."""
        held = np.empty((worlds, self.rows.size), np.int32)
        made = np.zeros((worlds, int(self.group[-1]) + 1), np.bool_)
        number = random.integers(1, 2**63, self.rows.size, dtype=np.uint64)
        wanted = _sums(self.group, number)
        for world in range(worlds):
            held[world, np.lexsort((random.random(self.rows.size), self.group))] = self.held
            order = random.permutation(self.rows.size)  # a release has another order of rows than the table
            secret = RandomSource(int(random.integers(2**62)))
            groups = player.play(self.rows[order], held[world, order], secret)
            if groups is not None:
                kept = groups >= 0
                made[world] = np.isin(wanted, _sums(groups[kept], number[order[kept]]))
        return held, made

    def told(self, held: npt.NDArray[np.int32], made: Flags) -> Iterator[tuple[int, Ints]]:
        """The rows of which something is believed, and the values that they held in the worlds that agree."""
        whole: Flags = np.asarray(made.all(axis=1))
        if np.count_nonzero(whole) >= ENOUGH * made.shape[1]:
            made = np.broadcast_to(whole[:, None], made.shape)
        ends = np.searchsorted(self.group, np.arange(made.shape[1] + 1))
        for g in range(made.shape[1]):
            mine = slice(ends[g], ends[g + 1])
            agreed = held[made[:, g], mine].astype(np.int64)
            if len(agreed) >= ENOUGH and tells(agreed, self.held[mine]):
                before = self.held[mine].astype(np.int64)  # counts as one world for each row, so that few are not all
                yield from ((int(self.rows[mine][i]), np.append(agreed[:, i], before)) for i in range(before.size))


def tells(agreed: npt.NDArray[np.integer], values: npt.NDArray[np.integer]) -> bool:
    """Whether rows (columns of worlds x rows) go with values more than in random order; a chi-square test at 1 %."""
    worlds, rows = agreed.shape
    kinds, counts = np.unique(values, return_counts=True)
    free = (rows - 1) * (kinds.size - 1)
    if not free:
        return False
    at = np.searchsorted(kinds, agreed) + np.arange(rows) * kinds.size
    seen = np.bincount(at.ravel(), minlength=rows * kinds.size).reshape(rows, kinds.size)
    expected = worlds * counts / rows
    found = float(((seen - expected) ** 2 / expected).sum()) * (rows - 1) / rows  # values in order are not independent
    spread = 2 / (9 * free)
    return bool(found > free * (1 - spread + DOUBT * spread**0.5) ** 3)  # Wilson and Hilferty, 1931


def _sums(groups: npt.NDArray[np.integer], number: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A number for each group that only the same rows have, but for a chance of one in 2**63."""
    found = np.zeros(int(groups.max(initial=-1)) + 1, np.uint64)
    np.add.at(found, groups, number)
    return found
