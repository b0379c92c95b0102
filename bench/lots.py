"""What does it tell of people's values how a lot was divided? Ask everybody's companions, in all worlds.

The attacker knows the quasi-identifiers of everybody in a lot, who is in which group, and how a vault divides lots. Of
all ways to hand out the values of each group to its people he keeps those that would have led to the very same groups.
In what share of these does a person hold a value? Without asking how lots are divided it is the share of the group.
Where there are too many ways to try them all, he goes from one that leads to these groups to the next: two people of a
group exchange values, again and again. He begins with the truth, which is as likely as any other. Lots are the smallest
that a vault shows, ten times l people. Printed are of how many people one value is left; how many values are guessed if
the likeliest always is, and how many by the shares of groups; and by how much beliefs move away from these shares.
`blind` cuts move none, so what stands there is what comes of drawing. Arguments are the number of lots, and guarantees
(`l=2`).
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from itertools import pairwise, permutations, product
from unittest import mock

import numpy as np
import pyarrow as pa

from discreet.values.boxes import box_of
from discreet.values.columns import Column
from discreet.values.random import RandomSource
from discreet.vault.growth.divide import divide
from discreet.vault.safety.rule import LOT, Rule
from discreet.vault.tree.model import Rows

COLUMNS = (Column("a", pa.float64()), Column("b", pa.float64()))
WAYS = "least_loss", "fitted", "blind"
MOST, STEPS = 4_000, 6_000  # ways that are all tried, else exchanges that are tried
SHARES = 0.2, 0.18, 0.16, 0.14, 0.12, 0.08, 0.07, 0.05


def lot(points, values):
    nobody = np.zeros(len(points), np.int64)
    return Rows(nobody, points, values, nobody, nobody.astype(bool))


def parts(points, values, rule, space):
    """The groups of a lot: chance is the same for all worlds."""
    with mock.patch("discreet.vault.growth.divide.RandomSource", side_effect=lambda: RandomSource(1)):
        order, starts = divide(lot(points, values), COLUMNS, space, rule)
    return [order[a:b] for a, b in pairwise([*starts, order.size])]


def left(points, values, groups, rule, space, chance):
    """Everybody's values in all ways to hand them out that lead to the same groups, or in some of these."""
    same = {frozenset(group.tolist()) for group in groups}

    def leads_there(dealt):
        return {frozenset(group.tolist()) for group in parts(points, dealt, rule, space)} == same

    ways = [sorted(set(permutations(values[group].tolist()))) for group in groups if group.size < 9]
    if len(ways) == len(groups) and np.prod([float(len(way)) for way in ways]) <= MOST:
        for one in product(*ways):
            dealt = np.empty_like(values)
            for group, held in zip(groups, one, strict=True):
                dealt[group] = held
            if leads_there(dealt):
                yield dealt
        return
    several = [group for group in groups if np.unique(values[group]).size > 1]
    here = values.copy()
    for _ in range(STEPS):
        pair = chance.choice(several[chance.integers(len(several))], 2, replace=False)
        there = here.copy()
        there[pair] = here[pair[::-1]]
        if np.array_equal(there, here) or leads_there(there):
            here = there
        yield here


def told(points, values, rule, chance):
    """Of a lot: people, certain, guessed, guessed by shares alone, and how far beliefs move."""
    space = box_of(points, COLUMNS)
    groups = parts(points, values, rule, space)
    worlds = np.array(list(left(points, values, groups, rule, space, chance)))
    found = np.zeros(5)
    for group in groups:
        shares = np.bincount(values[group], minlength=len(SHARES)) / group.size
        for person in group:
            beliefs = np.bincount(worlds[:, person], minlength=len(SHARES)) / len(worlds)
            sure = beliefs.max() == 1 and shares.max() < 1
            found += 1, sure, beliefs.max(), shares.max(), np.abs(beliefs - shares).sum() / 2
    return found


def main(lots, guarantees):
    print("                            people  certain  guessed  (by shares)  beliefs move  seconds")
    for name, threshold in guarantees:
        for way in WAYS:
            rule = replace(Rule.of({name: threshold}), cuts=way)
            chance, found, start = np.random.default_rng(3), np.zeros(5), time.process_time()
            for _ in range(lots):
                n = LOT * threshold
                points = np.column_stack([chance.permutation(n), chance.permutation(n)]).astype(float)
                values = chance.choice(len(SHARES), n, p=SHARES)
                while not rule.lot(np.bincount(values)):
                    values = chance.choice(len(SHARES), n, p=SHARES)
                found += told(points, values, rule, np.random.default_rng(4))
            people, *shares = found
            certain, guessed, by_share, moved = (share / people for share in shares)
            print(
                f"{name:10} = {threshold} {way:12} {people:6.0f} {certain:8.2%} {guessed:8.1%} {by_share:12.1%}"
                f" {moved:13.1%} {time.process_time() - start:8.0f}",
                flush=True,
            )


if __name__ == "__main__":
    chosen = [tuple(word.split("=")) for word in sys.argv[2:]] or [
        ("l", 2),
        ("l", 3),
        ("distinct_l", 3),
        ("distinct_l", 5),
    ]
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 6, [(name, int(number)) for name, number in chosen])
