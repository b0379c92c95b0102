"""Could a vault deal released groups anew, tell nothing by it, and lose less? What is safe, measured.

Groups that hold the same values, each as often, may deal their people anew among themselves: people who hold the same
value change places where the boxes of both groups together lose less by it. Why that tells nobody anything, and why no
vault does it, is in decision 0025. A table grows by lots as in `growing.py`, and after each lot all groups that hold
the same are dealt anew. Four ways to divide a lot, so that groups hold what others do:

    settle   as a vault does
    compact  as the partition `compact` does, by cuts that are fitted
    near     a group is a person and the nearest who hold other values, as few as the guarantee allows; who is left
             over joins the group that loses least. A lot that loses less by `settle` is divided so
    few      everybody is given one of a few lists of values, whatever their quasi-identifiers; the people of a list are
             grouped as by `near`, so that each group holds the list; who fits no list is divided as by `settle`

Printed are the information loss if groups stay and if they are dealt anew; the people in groups that hold the same as
another; and of how many an attacker is sure who knows the values of one in ten. Last, what the auditor makes of the
files of the last two releases. Arguments are the number of lots after the first, and guarantees (`l=4`). With
`worlds` alone, tiny tables are dealt anew, and all worlds counted that agree with what was shown. The rows are Adult's,
if DISCREET_DATA points at the real data.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import permutations, product
from pathlib import Path

import numpy as np

import discreet
from dealt import around, certain, exchange, near
from discreet.comparison.static import _point
from discreet.publication.publish import grouped, publish_groups
from discreet.table import read
from discreet.values.boxes import box_of
from discreet.values.columns import Column
from discreet.values.random import RandomSource
from discreet.values.rule import Rule
from discreet.vault.tree.pool import Pool
from growing import START, STEP, rows

ROUNDS, TRIES, KNOWN = 3, 40, 0.1


class People:
    """Everybody: the table, places in every column (a share of its extent, or a code), and sensitive values."""

    def __init__(self, increments):
        self.table, self.quasi, self.sensitive = rows()
        self.table = self.table.slice(0, START + STEP * increments)
        self.columns = tuple(Column(name, self.table.schema.field(name).type) for name in self.quasi)
        self.points = np.column_stack(
            [_point(self.table.column(column.name), column.name, ordered=column.ordered) for column in self.columns]
        )
        self.values = _point(self.table.column(self.sensitive), self.sensitive, ordered=False).astype(np.int64)
        self.is_set = np.array([not column.ordered for column in self.columns])
        self.places = self.points / np.where(self.is_set, 1, np.maximum(np.ptp(self.points, axis=0), 1))
        self.costs = np.array([1 / len(np.unique(column)) for column in self.points.T])
        self.ends = [START + STEP * lot for lot in range(increments + 1)]

    def divided(self, who, asked):
        """Some people in groups, as a vault divides a lot: a list of arrays."""
        pool = Pool.of(self.points[who], self.values[who], self.columns, box_of(self.points, self.columns))
        order, starts = pool.divide(np.arange(who.size), asked)
        return np.split(who[order], starts[1:])

    def policy(self, guarantee, partition="auto"):
        return discreet.Policy(
            quasi=self.quasi,
            sensitive=self.sensitive,
            guarantee=guarantee,
            publication="generalization",
            partition=partition,
            options={"cuts": "fitted"} if partition == "compact" else {},
            accept={"looks": "to be measured"},
        )

    def loss(self, groups):
        """The information loss of the average row of some groups."""
        lost = sum(group.size * around(self.places, group, self.is_set, self.costs) for group in groups)
        return lost / sum(group.size for group in groups)


def settle(people, lot, asked, _):
    return people.divided(lot, asked)


def of_compact(people, lot, asked, chance):
    policy = people.policy({"l": asked.l} if asked.l > 1 else {"distinct_l": asked.distinct_l}, "compact")
    with read(people.table.slice(lot[0], lot.size)) as table:
        found = grouped(table, policy, RandomSource(int(chance.integers(2**31))))
    order = np.argsort(found, kind="stable")
    return np.split(lot[order], np.flatnonzero(np.diff(found[order])) + 1)


def of_near(people, lot, asked, chance):
    held = np.unique(people.values[lot], return_inverse=True)[1]
    found = _near(people, lot, held, max(asked.l, asked.distinct_l), chance, exact=asked.l > 1)
    return min(found, people.divided(lot, asked), key=people.loss)


def _near(people, lot, held, size, chance, *, exact):
    order = chance.permutation(lot.size)
    found = near(people.places[lot], held, order, size, exact, people.is_set, people.costs)
    order = np.argsort(found, kind="stable")
    return np.split(lot[order], np.flatnonzero(np.diff(found[order])) + 1)


def of_few(people, lot, asked, chance):
    """The lists are made from the first lot, whose values the first release shows anyway."""
    width = int(people.values.max()) + 1
    lists = _lists(np.bincount(people.values[:START], minlength=width), max(asked.l, asked.distinct_l))
    rest, groups = np.bincount(people.values[lot], minlength=width), []
    numbers = np.zeros(len(lists), np.int64)
    while (often := _fits(rest, lists)).max() >= 1:
        best = int(np.argmax(often))
        numbers[best], rest = numbers[best] + 1, rest - lists[best]
    while rest.any() and not _keeps(rest, asked):  # some lists are given back, so that the rest can be shown
        gains = [(numbers[at] > 0, -_keeps_not(rest + one, asked), numbers[at]) for at, one in enumerate(lists)]
        best = max(range(len(lists)), key=gains.__getitem__)
        numbers[best], rest = numbers[best] - 1, rest + lists[best]
    waiting = {value: list(chance.permutation(lot[people.values[lot] == value])) for value in range(width)}
    for one, number in zip(lists, numbers, strict=True):
        if number:
            named = [waiting[value].pop() for value in np.repeat(np.arange(width), one) for _ in range(number)]
            places = np.repeat(np.arange(one.sum()), number)
            groups += _near(people, np.array(named), places, one.sum(), chance, exact=True)
    left = np.array(sorted(person for people_left in waiting.values() for person in people_left), np.int64)
    return groups + (people.divided(left, asked) if left.size else [])


def _lists(counts, size):
    """A few multisets of values that together use up a table: laid on a line in `size` layers, and cut across."""
    groups = max(number for number in range(1, counts.sum() + 1) if np.minimum(counts, number).sum() >= size * number)
    usual = np.flatnonzero(counts >= groups)
    rare = [value for value in np.argsort(-counts) if 0 < counts[value] < groups]
    line = np.repeat(rare, counts[rare])[: (size - usual.size) * groups].reshape(-1, groups)
    found, numbers = np.unique(line.T, axis=0, return_counts=True)
    owed, lists = np.zeros(usual.size), []
    for at in np.argsort(-numbers):
        wanted = counts[usual] / groups * numbers[at] + owed
        times = np.maximum(1, np.round(wanted / numbers[at])).astype(np.int64)
        owed = wanted - times * numbers[at]
        lists.append(np.bincount(found[at], minlength=counts.size) + np.bincount(usual, times, counts.size).astype(int))
    return np.array(lists)


def _fits(counts, lists):
    return np.where(lists > 0, counts / np.maximum(lists, 1), np.inf).min(axis=1)


def _keeps(counts, asked):
    return _keeps_not(counts, asked) <= 0


def _keeps_not(counts, asked):
    """How far counts are from what is asked."""
    return counts.max() * asked.l - counts.sum() if asked.l > 1 else asked.distinct_l - np.count_nonzero(counts)


WAYS: dict[str, Callable] = {"settle": settle, "compact": of_compact, "near": of_near, "few": of_few}


class Dealt:
    """All groups so far, those that hold the same together: a line of people each, in the order of their values."""

    def __init__(self, people, chance):
        self.people, self.chance, self.groups = people, chance, {}

    def add(self, groups):
        lines = defaultdict(list)
        for group in groups:
            among = self.chance.permutation(group)  # which of two with the same value comes first is drawn, and stays
            among = among[np.argsort(self.people.values[among], kind="stable")]
            lines[tuple(self.people.values[among])].append(among)
        for held, found in lines.items():
            self.groups[held] = np.vstack([*([self.groups[held]] if held in self.groups else []), found])

    def deal(self):
        of = self.people
        for held in self.groups:
            lines = self.groups[held]
            places = self.chance.permutation(lines.shape[1])  # values in any order: what is done knows no value
            lines = np.ascontiguousarray(lines[:, places])
            seed = int(self.chance.integers(2**31))
            exchange(of.places, lines, of.is_set, of.costs, ROUNDS, TRIES, seed)
            self.groups[held] = lines[:, np.argsort(places)]

    def every(self):
        return [line for lines in self.groups.values() for line in lines]


def main(increments, guarantees):
    people = People(increments)
    for name, threshold in guarantees:
        asked = Rule(threshold, threshold, 1) if name == "l" else Rule(threshold, 1, threshold)
        at_once = people.loss(people.divided(np.arange(len(people.values)), asked))
        print(f"\n{name} = {threshold}; all rows divided at once, by cuts: {at_once:.3f}")
        print("            rows   stay  anew  repeated    sure: stay  anew")
        for way, divide in WAYS.items():
            measured(people, way, divide, asked, name, threshold)


def measured(people, way, divide, asked, name, threshold):
    chance = np.random.default_rng(2007)
    stay, dealt, shown, versions = [], Dealt(people, chance), set(), []
    for start, end in zip([0, *people.ends], people.ends, strict=False):
        groups = divide(people, np.arange(start, end), asked, chance)
        stay += groups
        dealt.add(groups)
        dealt.deal()
        shown.update(tuple(sorted(group.tolist())) for group in dealt.every())
        versions = [*versions[-1:], numbered(dealt.every(), end)]
        if end in {START, people.ends[len(people.ends) // 2], people.ends[-1]}:
            known = np.random.default_rng(1).random(end) < KNOWN
            anew = [np.array(group) for group in shown]
            repeats = sum(lines.size for lines in dealt.groups.values() if len(lines) > 1) / end
            sure = [certain(*flat(groups), people.values, known) for groups in (stay, anew)]
            print(
                f"{way:8} {end:7,} {people.loss(stay):6.3f} {people.loss(dealt.every()):5.3f} {repeats:9.1%}"
                f"  {sure[0]:12.1%} {sure[1]:5.1%}"
            )
    found = audited(people, {name: threshold}, versions)
    print(f"{'':8} the auditor, by the files of the last two releases: {found:.1%} of the rows vulnerable")


def numbered(groups, size):
    found = np.full(size, -1, np.int32)
    for number, group in enumerate(groups):
        found[group] = number
    return found


def flat(groups):
    return np.concatenate(groups), np.cumsum([0, *map(len, groups)])


def audited(people, guarantee, versions):
    policy = people.policy(guarantee)
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for number, groups in enumerate(versions):
            with read(people.table.slice(0, groups.size)) as table:
                made.append(
                    publish_groups(table, policy, table.codes(people.sensitive), groups, to=Path(folder, str(number)))
                )
        return discreet.audit(made).releases[-1].vulnerable / versions[-1].size


def worlds():
    """All worlds of tiny tables: balanced groups dealt anew any number of times, and one that is not balanced."""
    chance, tried = np.random.default_rng(4), 0
    for values, copies in product((2, 3), (2, 3)):
        for _ in range(20):
            first = np.arange(values * copies).reshape(copies, values)
            shown = [first]
            for _ in range(3):
                truth = shown[-1]
                shown.append(np.column_stack([chance.permutation(column) for column in truth.T]))
            beliefs = believed([line for lines in shown for line in lines], [tuple(range(values))] * copies * 4)
            assert all(set(of.values()) == {1 / values} for of in beliefs.values()), beliefs
            tried += 1
    print(f"balanced: {tried} tiny tables dealt anew three times; everybody holds each value in as many worlds")
    groups, held = ((0, 1, 2), (3, 4, 5), (0, 1, 3), (2, 4, 5)), [("x", "x", "y")] * 4
    print(
        f"not balanced, x x y: one of them holds y in {believed(groups, held)[2]['y']:.3f} of the worlds, not in 0.333"
    )
    tokens = believed(groups, [("x1", "x2", "y")] * 4)
    print(f"... and if it was drawn and kept which x is which: in {tokens[2]['y']:.3f}")


def believed(groups, held):
    """Of everybody, the share of the worlds in which they hold each value; groups may share people."""
    people = sorted({int(person) for group in groups for person in group})
    ways = [{}]
    for group, values in zip(groups, held, strict=True):
        dealt = {tuple(way) for way in permutations(values)}
        ways = [
            {**way, **dict(zip(map(int, group), one, strict=True))}
            for way in ways
            for one in dealt
            if all(way.get(int(person), value) == value for person, value in zip(group, one, strict=True))
        ]
    found = {person: Counter(way[person] for way in ways) for person in people}
    return {person: {value: number / len(ways) for value, number in of.items()} for person, of in found.items()}


if __name__ == "__main__":
    if sys.argv[1:] == ["worlds"]:
        worlds()
    else:
        chosen = [tuple(word.split("=")) for word in sys.argv[2:]] or [("distinct_l", 5), ("distinct_l", 7), ("l", 2)]
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, [(name, int(number)) for name, number in chosen])
