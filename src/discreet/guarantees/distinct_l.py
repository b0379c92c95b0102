"""distinct_l: every group has at least l distinct sensitive values, however unequal their shares.

Source: Machanavajjhala et al. (ICDE 2006); the "l-diversity" of Byun et al. (SDM 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.guarantees.histograms import Histograms


@dataclass(frozen=True, slots=True)
class DistinctL:
    threshold: int
    name: ClassVar[str] = "distinct_l"
    least: ClassVar[int] = 2
    promise: ClassVar[str] = "every group has at least {threshold} different sensitive values"

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        return histograms.distinct >= self.threshold

    def largest(self, counts: npt.NDArray[np.int64]) -> int:
        return int(np.count_nonzero(counts))

    def why_not(self, counts: npt.NDArray[np.int64], name: str, top: object) -> str:  # noqa: ARG002
        return f"`{name}` has {np.count_nonzero(counts):,} distinct values"
