"""l: no sensitive value is held by more than 1/l of a group's rows.

Source: Machanavajjhala et al. (ICDE 2006) in the form of Xiao and Tao (VLDB 2006), definition 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.guarantees.histograms import Histograms
from discreet.guarantees.promise import Counts, Crowd, Plain

if TYPE_CHECKING:
    from discreet.values.rule import Rule

NEAR = Fraction(2, 3)  # of the largest l that a column allows, beyond which groups must mix people who differ much


@dataclass(frozen=True, slots=True)
class L(Plain):
    threshold: int
    name: ClassVar[str] = "l"
    promise: ClassVar[str] = "in every group, no sensitive value is held by more than 1 in {threshold} people"
    remedy: ClassVar[str] = "split the frequent value, or promise `beta`, which lets frequent values be frequent"

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        return histograms.sizes // histograms.tops >= self.threshold

    def holds_of_people(self, histograms: Histograms, crowd: Crowd) -> npt.NDArray[np.bool_]:
        return histograms.tops * crowd.most * self.threshold <= histograms.sizes

    def strongest(self, counts: Counts) -> int:
        return int(counts.sum() // counts.max())

    def limit(self, counts: Counts) -> int | None:
        """The largest l that a column with these counts allows, if this one is close to it and could be smaller."""
        most = self.strongest(counts)
        return most if self.threshold > self.weakest and self.threshold > NEAR * most else None

    def why_not(self, counts: Counts, name: str, top: object) -> str:
        held, rows = counts.max(), counts.sum()
        share = f"held by {held:,} of {rows:,} rows ({held / rows:.1%})"
        return f"the value {top!r} of `{name}` is {share}, and at most 1/{self.threshold} may share a value"

    def enter(self, rule: Rule) -> Rule:
        return rule._replace(l=max(rule.l, self.threshold))
