"""An auditor for tiny tables, written apart from the one that is shipped: all pairs, all chains, no index, no arrays."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product
from math import isnan


def shown(leaf, columns):
    """A group as a release shows it: its box, and the values of its rows."""
    box = []
    for j, column in enumerate(columns):
        if column.kind == "set":
            box.append(frozenset(c for c in range(leaf.box.sets[j].bit_length()) if leaf.box.sets[j] >> c & 1))
        else:
            low = leaf.box.lows[j]
            box.append(None if isnan(low) else (low, leaf.box.highs[j]))
    return tuple(box), Counter({v: int(c) for v, c in enumerate(leaf.counts) if c})


def meet(mine, theirs):
    for a, b in zip(mine, theirs, strict=True):
        if (a is None) != (b is None):
            return False
        if a is None:
            continue
        if isinstance(a, frozenset):
            if not a & b:
                return False
        elif a[0] > b[1] or b[0] > a[1]:
            return False
    return True


def partners(group, later):
    box, values = group
    same = [j for j, (other, held) in enumerate(later) if other == box and held == values]
    grown = [j for j, (other, held) in enumerate(later) if other == box and held >= values]
    return same or grown or [j for j, (other, _) in enumerate(later) if meet(box, other)]


def safe(values, rule):
    held = +values
    if not held:
        return True
    return len(held) >= rule.distinct_l and max(held.values()) * rule.l <= held.total()


def channels(releases, rule):
    """Every set that is neither diverse nor empty, in words; `releases` are lists of groups."""
    found = []
    links = {
        (i, t): [partners(group, releases[t]) for group in releases[i]] for t in range(len(releases)) for i in range(t)
    }

    def look(what, values):
        if not safe(values, rule):
            found.append((what, +values))

    def fresh(i, e, t):
        total = sum((releases[t][j][1] for j in links[i, t][e]), Counter())
        return total - releases[i][e][1]

    for i, t in links:
        for e, here in enumerate(links[i, t]):
            for j in here:
                look(f"both {i} {t}", releases[i][e][1] & releases[t][j][1])
                look(f"new {i} {t}", fresh(i, e, t) & releases[t][j][1])
        for j, (_, values) in enumerate(releases[t]):
            whole = [e for e, here in enumerate(links[i, t]) if here == [j]]
            if whole:
                look(f"together {i} {t}", values - sum((releases[i][e][1] for e in whole), Counter()))

    def strangers(first, t, j):
        """What is left for somebody in group j of release t who was in none before the first: one way or another."""
        before = []
        for i in range(first):
            sources = [e for e, here in enumerate(links[i, t]) if j in here]
            before.append([fresh(i, e, t) for e in sources] or [None])
        for way in product(*before):
            yield [values for values in way if values is not None]

    def follow(first, t, j, values):
        values = values & releases[t][j][1]
        for way in strangers(first, t, j):
            left = values
            for one in way:
                left = left & one
            look(f"chain {first} {t}", left)
            if left and t + 1 < len(releases):
                for following in links[t, t + 1][j]:
                    follow(first, t + 1, following, left)

    for first, groups in enumerate(releases):
        for j, (_, values) in enumerate(groups):
            follow(first, first, j, values)
    return found


def disjoint(groups):
    return not any(meet(a, b) for k, (a, _) in enumerate(groups) for b, _ in groups[k + 1 :])


def grows(releases):
    return all(sum((g[1] for g in b), Counter()) >= sum((g[1] for g in a), Counter()) for a, b in pairwise(releases))
