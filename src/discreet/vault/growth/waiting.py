"""How many rows a leaf of a vault that inserts keeps waiting on average, and so how many leaves it can afford.

Rows wait until those of their leaf are diverse together; then all go, and others begin to wait. So a leaf withholds
about as many rows as have come since it was last emptied. If p(t) is the chance that t random rows are not yet
diverse, that is the sum of t p(t) over the sum of p(t): for distinct values from the collector's problem, with rows
that come at random times (then values come independently of each other, and how many have come follows by
convolution); for shares from random walks, always the same ones. A leaf is cut only if the two that it becomes withhold
no more than a share of its rows.
Cost: a hundred times values x distinct_l; no row is looked at.
Claim: waiting_is_as_simulated — rows that are drawn and led away in a simulation wait in the same number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.values.kernel import kernel
from discreet.vault.safety.rule import Rule
from discreet.vault.tree.model import Floats, Ints

BELIEF = 16.0  # as many rows of a leaf weigh as much as what is known of all rows
SLACK = 2.0  # rows come many at a time, so about half as many wait for distinct values as if they came one by one
DOUBT = 3.0  # standard errors
WALKS, LONGEST = 64, 2_000


def expected(counts: Ints, all_counts: Ints, rule: Rule) -> float:
    """How many rows a leaf whose rows have these counts keeps waiting; `all_counts` are those of its whole stratum."""
    rows, everybody = counts.sum(), max(all_counts.sum(), 1)
    shares = (counts + BELIEF * all_counts / everybody) / (rows + BELIEF)
    shares = shares[shares > 0]
    if shares.size < max(rule.distinct_l, rule.l):
        return np.inf
    longest = 0.0 if rule.of_values else (rule.k - 1) / 2
    if rule.distinct_l > 1:
        longest = float(_collected(shares, rule.distinct_l))
    if rule.l > 1:
        top = int(np.argmax(shares))  # a walk may hardly ever end: its share is taken to be as large as it may well be
        shares[top] += DOUBT * np.sqrt(shares[top] * (1 - shares[top]) / (rows + BELIEF))
        longest = max(longest, float(_walked(np.cumsum(shares), rule.l)))
    return longest


def affordable(counts: Ints, all_counts: Ints, rule: Rule) -> bool:
    """Whether two leaves in the place of one, whose rows have these counts, would keep few enough waiting."""
    rows = int(counts.sum())
    return rows >= 2 * rule.fewest and 2 * expected(counts, all_counts, rule) <= _share(rule) * rows


def are_affordable(parts: Sequence[Ints], all_counts: Ints, rule: Rule) -> bool:
    """Whether leaves with rows of such counts would keep few enough waiting."""
    rows = sum(int(counts.sum()) for counts in parts)
    return sum(expected(counts, all_counts, rule) for counts in parts) <= _share(rule) * rows


def _share(rule: Rule) -> float:
    return rule.withheld * (SLACK if rule.l == 1 else 1.0)


@kernel
def _collected(shares: Floats, distinct: int) -> float:
    time, step, above, below = 0.0, 0.5, 0.0, 0.0
    chances = np.empty(distinct)
    while True:
        chances[:] = 0.0
        chances[0] = 1.0  # of so many distinct values, fewer than asked for
        for share in shares:
            unseen = np.exp(-share * (time + step / 2))
            for seen in range(distinct - 1, 0, -1):
                chances[seen] = chances[seen] * unseen + chances[seen - 1] * (1 - unseen)
            chances[0] *= unseen
        open_ = chances.sum()
        above += (time + step / 2) * open_ * step
        below += open_ * step
        time += step
        step *= 1.05
        if open_ < 1e-5 or time > 1e7:
            # a row more has come, on average, than a clock of rows would tell
            return float(max(above / below - 1, 0.0))


@kernel
def _walked(upto: Floats, l: int) -> float:
    word = np.uint64(0x9E3779B97F4A7C15)
    above, below = 0.0, 0.0
    counts = np.zeros(upto.size, np.int64)
    for _ in range(WALKS):
        counts[:] = 0
        rows, top = 0, 1
        while rows < LONGEST and rows < top * l:
            word ^= word << np.uint64(13)
            word ^= word >> np.uint64(7)
            word ^= word << np.uint64(17)
            drawn = (word >> np.uint64(11)) / 9007199254740992.0 * upto[-1]
            value = min(np.searchsorted(upto, drawn, side="right"), upto.size - 1)
            counts[value] += 1
            rows += 1
            top = max(top, counts[value])
        above += rows * (rows - 1) / 2
        below += rows
    return above / below
