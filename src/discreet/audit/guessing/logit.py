"""A model of the sensitive value given the quasi-identifiers, fitted to rows whose values are known, or expected.

A multinomial logit over the features of `learn/`, single columns and pairs, with a normal prior on every number. It is
fitted by steps with momentum whose lengths follow the second derivative at the shares of all rows (after Böhning 1992).
Cost: rounds x different rows x features x kinds of values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.audit.guessing.seen import Seen
from discreet.learn.features import Features, features

ROUNDS = 25
RIDGE = {False: 30.0, True: 200.0}  # what a number of a single column, or of a pair, has to be worth
ALONG = 2.5  # how much wider the prior is along curves over kinds than of each kind
FRICTION = 0.15
AT_ONCE = 1 << 23  # numbers

Ints = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Logit:
    """The log-probability of kind v for a row with features f is base[v] + f · numbers[:, v], less a constant."""

    known: Features
    base: Singles
    numbers: Singles  # features x kinds

    def chances(self, columns: Sequence[npt.NDArray[np.integer]]) -> Singles:
        """The log-probability of every kind for rows, given their codes column by column."""
        rows = len(columns[0])
        found = np.empty((rows, self.base.size), np.float32)
        step = max(AT_ONCE // max(sum(self.known.sizes), 1), 1)
        for start in range(0, rows, step):
            some = slice(start, start + step)
            found[some] = _chances(self.known.of([codes[some] for codes in columns]), self.base, self.numbers)
        return found


def fit_logit(seen: Seen, counts: Singles, curves: Singles) -> Logit:
    """Fit a model to how many of every look hold each kind of value, or are expected to (looks x kinds).

    Along `curves` over kinds that have an order (curves x kinds) neighbours share what is learned.
    """
    known = features(seen.quasi)
    pairs, family = known.families
    scale = 1 / np.sqrt(np.array([RIDGE[pair] for pair in pairs], np.float32)[family])
    rows = (known.of(seen.distinct) * scale).astype(np.float32)
    holders = counts.sum(0, dtype=np.float64)
    base = np.log(np.maximum(holders, 0.5) / holders.sum()).astype(np.float32)
    over = np.concatenate([ALONG * curves, np.eye(base.size, dtype=np.float32)])
    return Logit(known, base, (_climb(rows, counts, base, over) * scale[:, None]).astype(np.float32))


def _climb(rows: Singles, counts: Singles, base: Singles, over: Singles) -> Singles:
    """The numbers that are likeliest under a prior, given how many of each row hold each kind.

    A feature's numbers are sums of `over` (numbers x kinds) by weights whose prior has a unit spread.
    """
    people = counts.sum(1, keepdims=True)
    worth, vectors = np.linalg.eigh((rows * people).T.astype(np.float64) @ rows)
    share = np.exp(base)
    sharp = np.minimum(2 * (over**2 @ (share * (1 - share))), 0.5 * (over**2).max(1))
    inverse = (1 / (np.maximum(worth, 0)[:, None] * sharp + 1)).astype(np.float32)
    vectors = vectors.astype(np.float32)
    at = np.zeros((rows.shape[1], len(over)), np.float32)
    speed = np.zeros_like(at)
    for _ in range(ROUNDS):
        slope = rows.T @ (counts - people * np.exp(_chances(rows, base, at @ over))) @ over.T - at
        if np.vdot(slope, speed) < 0:
            speed[:] = 0
        speed *= 1 - FRICTION
        speed += vectors @ (inverse * (vectors.T @ slope))
        at += speed
    return at @ over


def _chances(rows: Singles, base: Singles, numbers: Singles) -> Singles:
    found: Singles = rows @ numbers
    found += base
    found -= found.max(1, keepdims=True)
    found -= np.log(np.exp(found).sum(1, keepdims=True))
    return found
