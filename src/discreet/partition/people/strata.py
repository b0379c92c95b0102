"""Strata: people with alike many rows, so that the cap on rows of one person is close to what most of a group have.

The rule of a group (`rule.py`) costs most where one person has many rows and the others few. So people are ordered by
how many rows they have, and cut into strata, each with a cap of its own: the largest number of rows in it. Numbers
above `STEPS` are taken together if they are near each other (`STEPS` per doubling), so there are few.

A stratum is cut if it breaks the rule, since then it must be; or where both parts would keep the rule if they held each
value in proportion, and more often by some standard deviations. Of values, both look at how often each occurs in the
stratum, which its groups show, and never at the parts. If a part then breaks the rule and cannot be cut, nothing is
published. So no stratum says who of it holds what.
Cost: the square of the few numbers, times the sensitive values.
Claim: strata_are_blind — exchange values inside the strata, and the strata are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.partition.people.rule import PeopleRule, kept, need

STEPS = 16
LIKELY, SAFE = 2.0, 4.0  # standard deviations: where a stratum must be cut, and where it may be
Numbers = npt.NDArray[np.int64]
Rules = Callable[[int], PeopleRule]  # the rule of people who have at most so many rows


def levels(rows: Numbers) -> Numbers:
    """The level of each number of rows: alike below STEPS, then within 1/STEPS of each other."""
    steps = np.where(rows <= STEPS, rows, STEPS + np.ceil(STEPS * np.log2(np.maximum(rows, STEPS) / STEPS)))
    found: Numbers = np.unique(steps, return_inverse=True)[1]
    return found


@dataclass(frozen=True, slots=True)
class Ladder:
    """The levels of people, ascending: the most rows of anybody of each; and up to each, people, rows and values."""

    most: Numbers
    people: Numbers
    rows: Numbers
    held: Numbers  # a line per number of levels, a column per value

    @classmethod
    def of(cls, rows: Numbers, counts: Numbers) -> Ladder:
        """Of people who have so many rows each; `counts` is how many rows of each level hold each value."""
        level, number = levels(rows), len(counts)
        most = np.zeros(number, np.int64)
        np.maximum.at(most, level, rows)
        people, held = np.bincount(level, minlength=number), counts.sum(axis=1)
        return cls(most, _upto(people), _upto(held), _upto(counts))

    def strata(self, rules: Rules, upto: int | None = None) -> list[tuple[int, int]] | None:
        """The first and the last level (not included) of each stratum; none if some people cannot keep the rule."""
        found, open_ = [], [(0, len(self.most) if upto is None else upto)]
        while open_:
            begin, end = open_.pop()
            at = self._cut(begin, end, rules)
            if at == 0:
                return None
            if at == end:
                found.append((begin, end))
            else:
                open_ += [(begin, at), (at, end)]
        return sorted(found)

    def _cut(self, begin: int, end: int, rules: Rules) -> int:
        """Where to cut: at the end if nowhere, and at 0 if it should be cut and cannot."""
        inside = self.held[end] - self.held[begin]
        whole = rules(int(self.most[end - 1]))
        good = self._keeps(begin, end, _need(inside, whole), whole)
        best, found = 0.0, end if good else 0
        for at in range(begin + 1, end):
            slack = np.inf
            for a, b in ((begin, at), (at, end)):
                rule, rows = rules(int(self.most[b - 1])), int(self.rows[b] - self.rows[a])
                share = rows / int(self.rows[end] - self.rows[begin])
                needed = _need(_in_proportion(inside, share, SAFE if good else LIKELY), rule)
                fits = self._keeps(a, b, needed if good else 0, rule)
                slack = min(slack, rows / max(needed, 1)) if fits else 0.0
                if slack == 0:
                    break
            if slack > best:
                best, found = slack, at
        return found

    def _keeps(self, begin: int, end: int, needed: int, rule: PeopleRule) -> bool:
        people, rows = self.people[end] - self.people[begin], self.rows[end] - self.rows[begin]
        return bool(kept(people, rows, needed, rule))


def _upto(each: Numbers) -> Numbers:
    return np.concatenate([np.zeros((1, *each.shape[1:]), np.int64), np.cumsum(each, axis=0)])


def _need(counts: Numbers, rule: PeopleRule) -> int:
    held = np.flatnonzero(counts)
    return int(need(held.astype(np.int32), counts[held], rule))


def _in_proportion(counts: Numbers, share: float, deviations: float) -> Numbers:
    """How often values may well occur in a part with this share of the rows."""
    expected = counts * share
    most: Numbers = np.minimum(np.ceil(expected + deviations * np.sqrt(expected)), counts).astype(np.int64)
    return most
