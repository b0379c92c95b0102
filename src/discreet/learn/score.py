"""Whether the values of groups go with the quasi-identifiers of their rows at all, and with which, before any fit.

The score of a feature and a kind is the sum over groups of the feature's mean times how many more of the kind the group
has than all rows would make expect: the slope of the likelihood at the model that knows nothing. If groups' values were
exchanged between groups at random, each score would have a known variance (Hoeffding 1951). Together they are compared
with what such exchanges give: z standard deviations more. Before looking, a relation is as likely as none, and with one
z is normal with a variance of 1 + strength²; so Bayes' rule says how likely there is one. A relation shows the more the
more groups there are: of census tables z was never below a hundredth of their number, and that is the strength.
Cost: groups x features x kinds for each exchange.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.learn.features import Features
from discreet.learn.logit import Evidence

EXCHANGES = 40
STRENGTH, WEAKEST = 0.01, 6.0  # for every group; of few groups


@dataclass(frozen=True)
class Score:
    """How much each column tells of the values by itself, and how likely any of them is `related` to them."""

    columns: npt.NDArray[np.float64]
    related: float

    @classmethod
    def of(cls, evidence: Evidence, kinds: int, features: Features, random: np.random.Generator) -> Score:
        sizes = np.diff(evidence.starts)
        mean = np.add.reduceat(evidence.features[evidence.combination].astype(np.float64), evidence.starts[:-1])
        mean = _centred(mean / sizes[:, None])
        more = np.zeros((evidence.groups, kinds))
        more[np.repeat(np.arange(evidence.groups), np.diff(evidence.first)), evidence.kind] = evidence.count
        more = _centred(more - sizes[:, None] * (more.sum(0) / sizes.sum()))
        variance = np.outer((mean**2).sum(0), (more**2).sum(0)) / max(evidence.groups - 1, 1)
        counts = variance > 1e-9

        def score(order: npt.NDArray[np.int64] | slice) -> npt.NDArray[np.float64]:
            return np.where(counts, (mean.T @ more[order]) ** 2 / np.where(counts, variance, 1), 0)

        found = score(slice(None))
        by_chance = [score(random.permutation(evidence.groups)).sum() for _ in range(EXCHANGES)]
        column = np.repeat([block.columns[0] if block.columns else -1 for block in features.blocks], features.sizes)
        told = [found[column == i].sum() / max((column == i).sum(), 1) for i in range(len(features.columns))]
        spread = float(np.std(by_chance))
        z = (found.sum() - np.mean(by_chance)) / spread if spread > 0 else 0.0
        return cls(np.array(told), likely(z, evidence.groups))


def likely(z: float, groups: int) -> float:
    """How likely there is a relation where the score is so many standard deviations above what exchanges give."""
    spread = 1 + max(STRENGTH * groups, WEAKEST) ** 2
    against = 0.5 * np.log(spread) - 0.5 * max(z, 0.0) ** 2 * (1 - 1 / spread)
    return float(1 / (1 + np.exp(against)))


def _centred(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = numbers - numbers.mean(0)
    return found
