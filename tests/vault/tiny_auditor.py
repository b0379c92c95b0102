"""An auditor for tiny tables, written apart from the one that is shipped: all pairs, all chains, no index, no arrays."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import isnan


def shown(leaf, columns):
    """A group as a release shows it: its box, and the values of its rows."""
    box = []
    for j, column in enumerate(columns):
        if not column.ordered:
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
    enough = rule.k if rule.l == rule.distinct_l == 1 else 1  # `k` is asked of sets only if nothing else is promised
    return len(held) >= rule.distinct_l and max(held.values()) * rule.l <= held.total() >= enough


class _Audit:
    def __init__(self, releases, rule):
        self.releases, self.rule, self.found = releases, rule, []
        self.links = {
            (i, t): [partners(group, releases[t]) for group in releases[i]]
            for t in range(len(releases))
            for i in range(t)
        }

    def look(self, what, values):
        if not safe(values, self.rule):
            self.found.append((what, +values))

    def values(self, t, j):
        return self.releases[t][j][1]

    def fresh(self, i, e, t):
        """What the partners of a group hold beyond it."""
        return sum((self.values(t, j) for j in self.links[i, t][e]), Counter()) - self.values(i, e)

    def both(self, i, e, t, j):
        """What is left for somebody in two groups: rows of others that can only be in the later one are not theirs."""
        others = (self.values(i, k) for k, here in enumerate(self.links[i, t]) if here == [j] and k != e)
        return self.values(i, e) & (self.values(t, j) - sum(others, Counter()))

    def pair(self, i, t, links):
        for e, here in enumerate(links):
            for j in here:
                self.look(f"both {i} {t}", self.both(i, e, t, j))
                self.look(f"new {i} {t}", self.fresh(i, e, t) & self.values(t, j))
        for j in range(len(self.releases[t])):
            whole = [e for e, here in enumerate(links) if here == [j]]
            if whole:
                self.look(f"together {i} {t}", self.values(t, j) - sum((self.values(i, e) for e in whole), Counter()))

    def strangers(self, first, t, j, values):
        """What is left of values for somebody in group j of release t who was in none before the first, in all ways."""
        left = [values & self.values(t, j)]
        for i in range(first):
            sources = [e for e, here in enumerate(self.links[i, t]) if j in here]
            if sources:
                left = different(one & self.fresh(i, e, t) for one in left for e in sources)
        return left

    def follow(self, first, line, values):
        """Go on with a line of groups, one of each release from the first on."""
        *before, j = line
        t = first + len(before)
        for i, e in enumerate(before, first):
            values = values & self.both(i, e, t, j)
        for left in self.strangers(first, t, j, values):
            self.look(f"chain {first} {t}", left)
            if left and t + 1 < len(self.releases):
                for following in self.unlike(t + 1, self.links[t, t + 1][j]):
                    self.follow(first, [*line, following], left)

    def unlike(self, t, groups):
        """One of all groups that show the same: whoever partners one of these partners all, so all lines go on alike."""
        return {(box, frozenset(held.items())): j for j in groups for box, held in [self.releases[t][j]]}.values()


def channels(releases, rule):
    """Every set that is neither diverse nor empty, in words; `releases` are lists of groups."""
    audit = _Audit(releases, rule)
    for (i, t), links in audit.links.items():
        audit.pair(i, t, links)
    for first, groups in enumerate(releases):
        for j in audit.unlike(first, range(len(groups))):
            audit.follow(first, [j], groups[j][1])
    return audit.found


def different(counters):
    """Each of some counters once."""
    return list({frozenset(each.items()): each for each in counters}.values())


def disjoint(groups):
    return not any(meet(a, b) for k, (a, _) in enumerate(groups) for b, _ in groups[k + 1 :])


def grows(releases):
    return all(sum((g[1] for g in b), Counter()) >= sum((g[1] for g in a), Counter()) for a, b in pairwise(releases))
