"""The model of the sensitive value given the quasi-identifiers, and what it is learned from.

A row with features f holds a value of kind v with a probability proportional to exp(base[v] + f · B[:, v]): a
multinomial logit. B = A · curves + A', so that kinds which are neighbours in an order can share what is learned; every
number of A and A' has a normal prior with mean 0 whose spread is shared inside a family of features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.learn.features import Features, Floats, Ints
from discreet.learn.kinds import Kinds
from discreet.learn.swaps import Longs

SPREADS = {
    False: (0.4, 0.15),
    True: (0.1, 0.05),
}  # of a single column, of a pair: along curves over kinds, of each kind
CONSTANT = 0.5  # of what is added to a kind for all rows


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is learned from: groups with the combination of every row, the features of combinations, kinds per group."""

    starts: Longs
    combination: Ints
    features: Floats  # combinations x features
    first: Longs
    kind: Ints
    count: Floats

    @property
    def groups(self) -> int:
        return self.starts.size - 1


@dataclass(frozen=True, eq=False)
class Model:
    """The shape of the logit: base of each kind, rows of numbers A over kinds, and the family of every feature."""

    base: Floats
    over: Floats  # (curves and kinds) x kinds
    family: Ints
    initial: npt.NDArray[np.float64]  # families x 2: spread along curves, and of each kind

    @classmethod
    def of(cls, features: Features, kinds: Kinds) -> Model:
        over = np.concatenate([kinds.curves, np.eye(kinds.size, dtype=np.float32)])
        pairs, family = features.families
        initial = np.array([SPREADS[pair] for pair in pairs])
        initial[0] = CONSTANT
        if kinds.curves.size:
            initial[pairs, 1] = 0  # a pair bends the curves only
        else:
            initial[:, 1] = initial[:, 0]
        base = np.log(np.maximum(kinds.share, 1e-9)).astype(np.float32)
        return cls(base, over, family, initial)

    @property
    def curves(self) -> int:
        return int(self.over.shape[0] - self.over.shape[1])

    @property
    def parts(self) -> tuple[slice, slice]:
        """Which numbers are along curves, and which of each kind."""
        return slice(0, self.curves), slice(self.curves, None)

    def each(self, spread: npt.NDArray[np.float64]) -> Floats:
        """The spread of every number."""
        of = spread[self.family]
        return np.concatenate(
            [np.repeat(of[:, :1], self.curves, 1), np.repeat(of[:, 1:], self.over.shape[1], 1)], 1
        ).astype(np.float32)

    def chances(self, features: Floats, numbers: Floats) -> Floats:
        """The log-probability of every kind for rows with these features."""
        found: Floats = features @ (numbers @ self.over)
        found += self.base
        found -= found.max(1, keepdims=True)
        found -= np.log(np.exp(found).sum(1, keepdims=True))
        return found
