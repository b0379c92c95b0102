"""k: every group has at least k rows.

Source: Samarati and Sweeney (1998), k-anonymity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.guarantees.histograms import Histograms
from discreet.guarantees.promise import Counts, Crowd, Plain

if TYPE_CHECKING:
    from discreet.values.rule import Rule


@dataclass(frozen=True, slots=True)
class K(Plain):
    threshold: int
    name: ClassVar[str] = "k"
    promise: ClassVar[str] = "every person shares a group with at least {less} others"
    of_values: ClassVar[bool] = False
    spares: ClassVar[bool] = False

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        return histograms.sizes >= self.threshold

    def holds_of_people(self, histograms: Histograms, crowd: Crowd) -> npt.NDArray[np.bool_]:  # noqa: ARG002
        return crowd.people >= self.threshold

    def strongest(self, counts: Counts) -> int:
        return int(counts.sum())

    def why_not(self, counts: Counts, name: str, top: object) -> str:  # noqa: ARG002
        return f"the table has {counts.sum():,} rows"

    def enter(self, rule: Rule) -> Rule:
        return rule._replace(k=max(rule.k, self.threshold))
