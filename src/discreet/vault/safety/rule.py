"""What a vault keeps to: the guarantee of groups, the diversity of every set that releases leave open, how it grows.

A set of sensitive values is a vector of counts, one per code; many sets are the lines of a matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from discreet.errors import InternalError
from discreet.guarantees import Guarantee
from discreet.vault.tree.model import Flags, Ints

Growth = Literal["settle", "insert"]
Cuts = Literal["least_loss", "blind", "fitted"]

LOT = 10  # groups of the fewest people that could keep the guarantee: as many rows must have come to be shown


@dataclass(frozen=True, slots=True)
class Rule:
    """Thresholds (1 asks nothing), the share of rows that may wait, and how groups grow.

    To `settle`: all that no release has shown leave as groups of their own, which never change once released, or none.
    By which `cuts`, `growth/divide.py` says.
    To `insert`: they enter the group that is there, and groups that have grown are split (Byun et al., section 4).
    Where people may have several rows, `lots` says in how many lots one of them may have some, and groups keep what
    `partition/people/rule.py` asks with `lots` times l.
    """

    k: int = 1
    l: int = 1
    distinct_l: int = 1
    withheld: float = 0.02
    growth: Growth = "settle"
    lots: int | None = None
    cuts: Cuts = "least_loss"

    @classmethod
    def of(cls, thresholds: Mapping[str, float], withheld: float = 0.02, growth: Growth = "settle") -> Rule:
        """The rule of a policy's guarantee."""
        if not thresholds or not thresholds.keys() <= {"k", "l", "distinct_l"}:
            raise InternalError("a vault was asked for a guarantee other than k, l or distinct_l")
        found = Guarantee.of(thresholds).rule
        return cls(found.k, found.l, found.distinct_l, withheld, growth)

    @property
    def fewest(self) -> int:
        """No fewer rows than these can be a group."""
        return max(self.k, self.l, self.distinct_l)

    @property
    def smallest_lot(self) -> int:
        """No fewer people than these leave together, whatever their values: that they wait tells nobody anything."""
        return max(self.k, LOT * max(self.l, self.distinct_l) * (self.lots or 1) if self.of_values else 1)

    @property
    def of_values(self) -> bool:
        """Whether anything is promised of values; else only of how many rows a group has."""
        return self.l > 1 or self.distinct_l > 1

    def lot(self, counts: Ints) -> bool:
        """Whether rows with these counts, which are all that no release has shown, may leave."""
        return bool(counts.sum() >= self.smallest_lot) and self.group(counts)

    def diverse(self, sets: Ints) -> Flags:
        """Whether each set is diverse, so that nothing is learned by whoever knows that a value is among it.

        Where `k` alone is promised (footnote 1 of the paper), a set of k rows is.
        """
        distinct = np.count_nonzero(sets, axis=-1)
        top = sets.max(axis=-1, initial=0)
        enough = sets.sum(axis=-1) >= np.maximum(self.l * top, 1 if self.of_values else self.k)
        return np.asarray((distinct >= self.distinct_l) & enough & (distinct > 0))

    def safe(self, sets: Ints) -> bool:
        """Whether every set is diverse, or empty: nobody's."""
        return bool((self.diverse(sets) | ~sets.any(axis=-1)).all())

    def group(self, counts: Ints) -> bool:
        """Whether rows with these counts may be released as a group."""
        return bool(counts.sum() >= self.k) and bool(self.diverse(counts))
