"""Deal the people of a cell, who have equally many rows, into as many groups as keep the rule.

Those with the most frequent values come first. Each joins, of a few groups that have fewest people, the one where
values gather least. Groups that then break the rule are put together, with others if need be: the whole
cell keeps it, so this ends. Several numbers of groups are tried, and the one that leaves most groups is taken.
People come in random order, and of each only the values are looked at, never who it is: so inside a group each is as
likely as any other to be the one with given values, also for those who know how groups are made.
Cost: rows x CHOICES for each of TRIES numbers; memory, one count per group and value that is in use.
Claim: dealt_people_keep_the_rule — every group of a cell that keeps the rule keeps it.
"""

from __future__ import annotations

import numpy as np

from discreet.partition.people.rule import fewest, kept, need, need_to_differ
from discreet.values.kernel import kernel

CHOICES = 8
TRIES = 6
WIDEST = 1 << 24  # counts that are held at a time


@kernel
def deal(order, starts, values, hard, kinds, rule, groups, first):  # type: ignore[no-untyped-def]
    """Write the group of each person, from `first` on; return how many there are."""
    order = order[np.argsort(-hard[order], kind="mergesort")]
    most = max(order.size // rule.k, 1)
    rows = 0
    for p in order:
        rows += starts[p + 1] - starts[p]
    counts = np.zeros(kinds, np.int64)
    for p in order:
        for r in range(starts[p], starts[p + 1]):
            counts[values[r]] += 1
    held = np.flatnonzero(counts)
    # what values need beyond `cap` rows is shared evenly, and each group needs `cap` more
    differ = max(need_to_differ(held.astype(np.int32), counts[held], rule) - rule.cap, 0)
    most = max(min(most, rows // fewest(rule), (rows - differ) // rule.cap, WIDEST // kinds), 1)
    best, found = np.zeros(order.size, np.int64), 1
    for attempt in range(TRIES):
        number = int(most * 0.75**attempt)
        if number <= found:
            break
        dealt, made = _dealt(order, starts, values, kinds, number, rule)
        if made > found:
            best, found = dealt, made
    for i in range(order.size):
        groups[order[i]] = first + best[i]
    return found


@kernel
def _dealt(order, starts, values, kinds, number, rule):  # type: ignore[no-untyped-def]
    """The group of the i-th person, from 0 without a gap, and how many groups there are."""
    held = np.zeros((number, kinds), np.int32)
    people, rows, tops = np.zeros(number, np.int64), np.zeros(number, np.int64), np.zeros(number, np.int64)
    dealt = np.empty(order.size, np.int64)
    free = np.arange(number)  # of this round: everybody is dealt a group before anybody a second
    left = number
    for i in range(order.size):
        p = order[i]
        chosen, least = 0, np.int64(2**62)
        for c in range(min(CHOICES, left)):
            g, gathered = free[c], np.int64(0)
            for r in range(starts[p], starts[p + 1]):
                gathered = max(gathered, held[g, values[r]] + 1)
            gathered += 1024 * max(gathered, tops[g])
            if gathered < least:
                chosen, least = c, gathered
        g = free[chosen]
        left -= 1
        free[chosen], free[left] = free[left], g
        if left == 0:
            left = number
        dealt[i] = g
        people[g] += 1
        for r in range(starts[p], starts[p + 1]):
            held[g, values[r]] += 1
            tops[g] = max(tops[g], held[g, values[r]])
            rows[g] += 1
    return _mended(dealt, held, people, rows, rule)


@kernel
def _mended(dealt, held, people, rows, rule):  # type: ignore[no-untyped-def]
    """Put together the groups that break the rule, with others until all of them together keep it."""
    number = people.size
    into = np.full(number, -1, np.int64)
    pool = np.zeros(held.shape[1], np.int64)
    pooled, pooled_rows, broken = 0, 0, 0
    made = 1  # group 0 is the pool
    for turn in range(2):
        for g in range(number):
            good = kept(people[g], rows[g], _needed(held[g], rule), rule)
            if turn == 0 and not good:
                broken += 1
            if (turn == 0) == good:
                continue
            if turn == 1 and (broken == 0 or kept(pooled, pooled_rows, _needed(pool, rule), rule)):
                into[g] = made
                made += 1
                continue
            into[g] = 0
            pool += held[g]
            pooled += people[g]
            pooled_rows += rows[g]
    for i in range(dealt.size):
        dealt[i] = into[dealt[i]] - (broken == 0)
    return dealt, made - (broken == 0)


@kernel
def _needed(counts, rule):  # type: ignore[no-untyped-def]
    """The rows that a group needs which holds each value so many times."""
    held = np.flatnonzero(counts)
    return need(held.astype(np.int32), counts[held].astype(np.int64), rule)
