"""distinct_l: every group has at least l distinct sensitive values, however unequal their shares.

Source: Machanavajjhala et al. (ICDE 2006); the "l-diversity" of Byun et al. (SDM 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.guarantees.histograms import Histograms
from discreet.guarantees.promise import Counts, Crowd, Plain
from discreet.words import counted

if TYPE_CHECKING:
    from discreet.values.rule import Rule


@dataclass(frozen=True, slots=True)
class DistinctL(Plain):
    threshold: int
    name: ClassVar[str] = "distinct_l"
    promise: ClassVar[str] = "every group has at least {threshold} different sensitive values"
    of_people: ClassVar[str] = "in every group, somebody holds none of any {less} sensitive values"

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        return histograms.distinct >= self.threshold

    def holds_of_people(self, histograms: Histograms, crowd: Crowd) -> npt.NDArray[np.bool_]:
        return (histograms.largest(self.threshold - 1) + 1) * crowd.most <= histograms.sizes

    def strongest(self, counts: Counts) -> int:
        return int(np.count_nonzero(counts))

    def why_not(self, counts: Counts, name: str, top: object) -> str:  # noqa: ARG002
        return f"`{name}` has {counted(int(np.count_nonzero(counts)), 'distinct value')}"

    def enter(self, rule: Rule) -> Rule:
        return rule._replace(distinct_l=max(rule.distinct_l, self.threshold))
