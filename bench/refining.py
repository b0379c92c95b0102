"""Could a vault show a released group and people who came later as two smaller groups, and lose less? Counted exactly.

A released group of old people, whose values S were shown, and a group of a new lot are shown as two parts instead. What
nobody may narrow down is counted in worlds: all ways to give everybody a value that agree with S and with what the two
parts show. With `distinct_l` everybody, old or new, must hold at least l different values in some world or other. That
the old people of a part keep the guarantee by themselves is not asked; if they did, the group could have been shown in
two parts at first. What follows from it is in decision 0025.

A table grows by lots as in `growing.py`, and lots are divided as `settle` does. Then each new group is held against the
released groups whose boxes meet its own; of all cuts of the people of both by one column that keep everybody safe, the
one is found that saves most, and the best pairs are shown as two parts, from the one that saves most on. Who was shown
so is left alone from then on, so the worlds of a pair are all there is to count. Second, each released group is held
against all new people who lie in its box, as if nobody else could take them (`inside`): what all groups would save so
is counted together, and goes to nobody. Printed are, over all lots so far, how many released groups met a new one, how
many of them could be parted and were; how many could with those inside; the information loss if groups stay, are
refined, and would save all that with those inside; of how many an attacker is sure who knows the values of one in
ten; and last, what the auditor makes of the files.
Arguments are the number of lots after the first, and guarantees (`distinct_l=5`). With `worlds` alone, an example and
random tiny tables, with all worlds enumerated. The rows are Adult's, if DISCREET_DATA points at the real data.
"""
# ruff: noqa: C901, PLR0912 - compiled loops

from __future__ import annotations

import sys
from itertools import permutations

import numba as nb
import numpy as np

from dealing import KNOWN, People, audited, flat, numbered
from dealt import around, certain
from discreet.values.rule import Rule

GAIN = 1e-9


@nb.njit(cache=True, nogil=True)
def fewest(old, new, left, heads):
    """How many values are left to whoever has fewest, if so many `heads` of the old people are in the left part.

    Given how often each value is among the old people, the new ones, and in the left part. The old people there hold a
    value at least `least` and at most `most` times, and any numbers in between that add up to `heads` make a world.
    """
    least, most = np.maximum(left - new, 0), np.minimum(old, left)
    low, high = least.sum(), most.sum()
    right_old, left_new, right_new = old.sum() - heads, left.sum() - heads, new.sum() - left.sum() + heads
    found = np.zeros(4, np.int64)
    for v in range(old.size):
        if most[v] > least[v]:
            smallest, largest = max(least[v], heads - (high - most[v])), min(most[v], heads - (low - least[v]))
        else:
            smallest = largest = least[v]
        found[0] += largest > 0
        found[1] += old[v] > smallest
        found[2] += left[v] > smallest
        found[3] += new[v] - left[v] + largest > 0
    worst = old.size
    for kind, people in enumerate((heads, right_old, left_new, right_new)):
        if people > 0:
            worst = min(worst, found[kind])
    return worst


@nb.njit(cache=True, nogil=True)
def cost(places, people, inside, side, is_set, costs):
    """What the box around those on one side loses, times how many they are."""
    lost, size = 0.0, 0
    for i in range(people.size):
        size += inside[i] == side
    for j in range(is_set.size):
        low, high, kinds = np.inf, -np.inf, nb.int64(0)
        for i in range(people.size):
            if inside[i] == side:
                at = places[people[i], j]
                low, high = min(low, at), max(high, at)
                if is_set[j]:
                    kinds |= nb.int64(1) << nb.int64(at)
        if not is_set[j]:
            lost += high - low
        elif kinds & (kinds - 1):
            found = 0
            while kinds:
                kinds &= kinds - 1
                found += 1
            lost += found * costs[j]
    return lost * size


@nb.njit(cache=True, nogil=True)
def parted(places, values, width, people, many, before, l, is_set, costs, inside):
    """What the best safe cut of some people saves, of whom so `many` are old; write who is on the left of it.

    Cuts fall between two places of a range; of a set they part one value from the others, or the more frequent ones.
    """
    n, best = people.size, 0.0
    old, new = np.zeros(width, np.int64), np.zeros(width, np.int64)
    for i in range(n):
        if i < many:
            old[values[people[i]]] += 1
        else:
            new[values[people[i]]] += 1
    here = np.empty(n, np.bool_)
    for j in range(is_set.size):
        column = places[people, j]
        kinds = np.unique(column)
        if kinds.size < 2:
            continue
        often = np.zeros(kinds.size, np.int64)
        for at in range(kinds.size):
            often[at] = (column == kinds[at]).sum()
        ranked = np.argsort(-often) if is_set[j] else np.arange(kinds.size)
        for turn in range(2 if is_set[j] else 1):
            here[:] = False
            for at in range(kinds.size - (turn == 0)):
                if turn:
                    here[:] = False
                here |= column == kinds[ranked[at]]
                left, heads = np.zeros(width, np.int64), 0
                for i in range(n):
                    if here[i]:
                        left[values[people[i]]] += 1
                        heads += i < many
                if heads in (0, many) or fewest(old, new, left, heads) < l:
                    continue
                after = cost(places, people, here, True, is_set, costs) + cost(
                    places, people, here, False, is_set, costs
                )
                if before - after > best:
                    best = before - after
                    inside[:] = here
    return best


@nb.njit(cache=True, nogil=True)
def pairs(places, values, width, olds, old_starts, news, new_starts, l, is_set, costs):
    """What each pair of an old and a new group would save, -1 where boxes do not meet."""
    saved = np.full((old_starts.size - 1, new_starts.size - 1), -1.0)
    inside, lost = np.empty(olds.size + news.size, np.bool_), np.empty(new_starts.size - 1)
    for h in range(new_starts.size - 1):
        theirs = news[new_starts[h] : new_starts[h + 1]]
        lost[h] = theirs.size * around(places, theirs, is_set, costs)
    for g in range(old_starts.size - 1):
        mine = olds[old_starts[g] : old_starts[g + 1]]
        for h in range(new_starts.size - 1):
            theirs = news[new_starts[h] : new_starts[h + 1]]
            if _meet(places, mine, theirs, is_set):
                both, side = np.concatenate((mine, theirs)), inside[: mine.size + theirs.size]
                before = mine.size * around(places, mine, is_set, costs) + lost[h]
                saved[g, h] = parted(places, values, width, both, mine.size, before, l, is_set, costs, side)
    return saved


@nb.njit(cache=True, nogil=True)
def with_those_inside(places, values, width, olds, old_starts, news, lost, l, is_set, costs):
    """What each old group would save with all new people who lie in its box, each of whom loses so much elsewhere."""
    saved = np.zeros(old_starts.size - 1)
    inside = np.empty(olds.size + news.size, np.bool_)
    for g in range(old_starts.size - 1):
        mine = olds[old_starts[g] : old_starts[g + 1]]
        theirs, size, before = np.empty(news.size, np.int64), 0, mine.size * around(places, mine, is_set, costs)
        for at in range(news.size):
            if _meet(places, mine, news[at : at + 1], is_set):
                theirs[size] = news[at]
                before += lost[at]
                size += 1
        both = np.concatenate((mine, theirs[:size]))
        side = inside[: both.size]
        saved[g] = parted(places, values, width, both, mine.size, before, l, is_set, costs, side)
    return saved


@nb.njit(cache=True, nogil=True)
def _meet(places, mine, theirs, is_set):
    for j in range(is_set.size):
        a, b = places[mine, j], places[theirs, j]
        if not is_set[j]:
            if a.min() > b.max() or b.min() > a.max():
                return False
            continue
        shared = False
        for at in a:
            shared = shared or (b == at).any()
        if not shared:
            return False
    return True


def main(increments, thresholds):
    people = People(increments)
    width = int(people.values.max()) + 1
    for l in thresholds:
        asked = Rule(l, 1, l)
        at_once = people.loss(people.divided(np.arange(len(people.values)), asked))
        print(f"\ndistinct_l = {l}; all rows divided at once, by cuts: {at_once:.3f}")
        print("    rows  groups meet  could   were   inside: could    stay  refined   inside   sure: stay  refined")
        measured(people, width, l, asked)


def measured(people, width, l, asked):
    own, stay, parts, shown, versions = (people.is_set, people.costs), [], [], [], []
    whole, met, could, were, alone, most = [], 0, 0, 0, 0, 0.0
    for start, end in zip([0, *people.ends], people.ends, strict=False):
        lot = people.divided(np.arange(start, end), asked)
        stay += lot
        if whole:
            saved = pairs(people.places, people.values, width, *flat(whole), *flat(lot), l, *own)
            met += int((saved >= 0).any(axis=1).sum())
            could += int((saved.max(axis=1) > GAIN).sum())
            lost = np.concatenate([np.full(group.size, around(people.places, group, *own)) for group in lot])
            by_itself = with_those_inside(
                people.places, people.values, width, *flat(whole), np.concatenate(lot), lost, l, *own
            )
            alone, most = alone + int((by_itself > GAIN).sum()), most + by_itself.sum()
            of_old, of_new = set(), set()
            for at in np.argsort(-saved, axis=None)[: int((saved > GAIN).sum())]:
                g, h = map(int, np.unravel_index(at, saved.shape))
                if g not in of_old and h not in of_new:
                    of_old.add(g)
                    of_new.add(h)
                    both = np.concatenate((whole[g], lot[h]))
                    inside = np.empty(both.size, np.bool_)
                    before = sum(of.size * around(people.places, of, *own) for of in (whole[g], lot[h]))
                    parted(people.places, people.values, width, both, whole[g].size, before, l, *own, inside)
                    parts += [both[inside], both[~inside]]
            were += len(of_old)
            whole = [group for g, group in enumerate(whole) if g not in of_old]
            lot = [group for h, group in enumerate(lot) if h not in of_new]
        whole += lot
        shown += lot  # a group that is parted later stays among what was shown
        versions.append(numbered([*whole, *parts], end))
        if end in {people.ends[1], people.ends[len(people.ends) // 2], people.ends[-1]}:
            known = np.random.default_rng(1).random(end) < KNOWN
            sure = [certain(*flat(of), people.values, known) for of in (stay, [*shown, *parts])]
            print(
                f"{end:8,} {met:12,} {could:6,} {were:6,} {alone:15,} {people.loss(stay):7.3f}"
                f" {people.loss([*whole, *parts]):8.3f} {people.loss(stay) - most / end:8.3f}"
                f" {sure[0]:12.1%} {sure[1]:8.1%}"
            )
    for told, chosen in (
        ("the last two", versions[-2:]),
        ("the first, middle and last", versions[:: len(versions) // 2]),
    ):
        found = audited(people, {"distinct_l": l}, chosen)
        print(f"the auditor, by the files of {told} releases: {found:.1%} of the rows vulnerable")


def worlds():
    """An example, and random tiny tables, whose worlds are all enumerated."""
    old, parts = "abcd", ("abcd", "abce")
    kinds = enumerated(old, parts, (2, 2))
    print("4 old people were shown with a b c d; then 4 new ones came, and all are shown as two parts, a b c d and")
    print("a b c e, each of 2 old people and 2 new ones. In some world or other they hold:")
    for kind, found in zip(("old, left", "old, right", "new, left", "new, right"), kinds, strict=True):
        print(f"  {kind:10}  {' '.join(sorted(found))}")
    print("so distinct_l = 3 is kept, with heads counted; two old people by themselves have two values")
    chance, tried = np.random.default_rng(5), 0
    while tried < 400:
        sizes = chance.integers(1, 4, 4)  # old and new people on the left, on the right
        truth = ["".join(chance.choice(list("abcd"), size)) for size in sizes]
        shown = truth[0] + truth[2], (truth[0] + truth[1], truth[2] + truth[3])
        found = enumerated(shown[0], shown[1], (sizes[0], sizes[2]))
        counts = [np.array([text.count(v) for v in "abcd"]) for text in (shown[0], truth[1] + truth[3], shown[1][0])]
        if fewest(*counts, int(sizes[0])) != min(map(len, found)):
            raise AssertionError(truth)
        tried += 1
    print(f"{tried} tiny tables: what is reckoned is what all worlds say")


def enumerated(old, parts, heads):
    """The values that old and new people of two parts hold in some world, each part having so many old people."""
    found = [set() for _ in range(4)]
    for dealt in set(permutations(old)):
        sides = dealt[: heads[0]], dealt[heads[0] :]
        rests = [_without(part, side) for part, side in zip(parts, sides, strict=True)]
        if None not in rests:
            for kind, held in enumerate((*sides, *rests)):
                found[kind].update(held)
    return found


def _without(part, side):
    """What is left to the new people of a part; None if the old ones hold what it has not."""
    rest = list(part)
    for value in side:
        if value not in rest:
            return None
        rest.remove(value)
    return rest


if __name__ == "__main__":
    if sys.argv[1:] == ["worlds"]:
        worlds()
    else:
        asked_for = [int(word.removeprefix("distinct_l=")) for word in sys.argv[2:]] or [5, 7]
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, asked_for)
