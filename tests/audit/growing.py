"""Random tables that grow, grouped anew for every release: as the auditor sees them, and as they are."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import strategies as st

from audit.by_hand import Group
from discreet.audit.sequence.groups import NOTHING, CodedBoxes, Counts, Groups

WORDS = np.array([0, 1, 2], np.int64)


class Growing:
    """Rows of two ranges (values may be missing) and two sets; when each first came; the groups of every release."""

    def __init__(self, rows, first, groups):
        self.rows, self.first, self.groups = rows, first, groups

    def by_hand(self):
        return [[self._group(members) for members in release] for release in self.groups]

    def _group(self, members):
        box = []
        for c in range(4):
            held = {self.rows[row][c] for row in members}
            present = held - {None}
            if c < 2 and present:
                held |= set(range(min(present), max(present) + 1))
            box.append(frozenset(held))
        return Group(tuple(box), Counter(self.rows[row][4] for row in members))

    def coded(self):
        return [self._coded([self._group(members) for members in release]) for release in self.groups]

    def _coded(self, groups):
        low, high = np.zeros((len(groups), 2), np.int32), np.zeros((len(groups), 2), np.int32)
        missing, bits = np.zeros((len(groups), 2), np.bool_), np.zeros((len(groups), 2), np.uint64)
        for g, group in enumerate(groups):
            for c, allowed in enumerate(group.box):
                present = allowed - {None}
                if c < 2:
                    low[g, c], high[g, c] = (min(present), max(present)) if present else (NOTHING, -1)
                    missing[g, c] = None in allowed
                else:
                    bits[g, c - 2] = sum(1 << (63 if value is None else value) for value in allowed)
        entries = [sorted(group.values.items()) for group in groups]
        starts = np.cumsum([0, *map(len, entries)], dtype=np.int64)
        values, counts = np.array([pair for of in entries for pair in of], np.int32).T.copy()
        return Groups(
            np.arange(1, len(groups) + 1), CodedBoxes(low, high, missing, bits, WORDS), Counts(starts, values, counts)
        )


def _halves(rows, members, chance):
    """Cut rows in two by a value of some column, so that boxes stay apart; None if they are all alike."""
    for c in chance.permutation(4):
        held = sorted({rows[row][c] for row in members}, key=lambda value: (value is None, value or 0))
        if len(held) > 1:
            cut = chance.integers(1, len(held))
            left = set(held[:cut]) if c < 2 else set(chance.permutation(np.array(held, object))[:cut])
            return [row for row in members if rows[row][c] in left], [
                row for row in members if rows[row][c] not in left
            ]
    return None


def _cut(rows, members, chance, least):
    halves = _halves(rows, members, chance) if len(members) >= 2 * least else None
    if halves is None or min(map(len, halves)) < least:
        return [members]
    return [group for half in halves for group in _cut(rows, half, chance, least)]


@st.composite
def growing(draw, *, apart):
    """Up to five releases of up to 40 rows; `apart` are those whose boxes never overlap in one release."""
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    releases, start, kinds = draw(st.integers(2, 5)), draw(st.integers(2, 16)), draw(st.integers(2, 7))
    sizes = np.cumsum([start, *(draw(st.integers(0, 6)) for _ in range(releases - 1))])
    wide = draw(st.sampled_from((2, 4, 9)))
    gaps = draw(st.sampled_from((0.0, 0.2)))

    def value(most):
        return None if chance.random() < gaps else int(chance.integers(most))

    rows = [(value(wide), value(3), value(2), value(4), int(chance.integers(kinds))) for _ in range(sizes[-1])]
    groups = []
    for n in sizes:
        kept = draw(st.sampled_from(("new", "grow", "stay")))
        if kept != "new" and groups:  # rows join the groups there are, or form one of their own
            before = [list(members) for members in groups[-1]]
            new = list(range(sum(map(len, before)), n))
            if apart:
                before = _cut(rows, list(range(n)), chance, 2)
            elif kept == "grow":
                for row in new:
                    before[chance.integers(len(before))].append(row)
            elif new:
                before.append(new)
            groups.append(before)
        elif apart or draw(st.booleans()):
            groups.append(_cut(rows, list(range(n)), chance, draw(st.integers(1, 4))))
        else:
            at = chance.integers(max(n // 3, 1), size=n)
            groups.append([np.flatnonzero(at == g).tolist() for g in np.unique(at)])
    first = [int(np.searchsorted(sizes, row, side="right")) for row in range(sizes[-1])]
    return Growing(rows, first, groups)
