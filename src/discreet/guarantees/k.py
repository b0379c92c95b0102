"""k: every group has at least k rows.

Source: Samarati and Sweeney (1998), k-anonymity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.guarantees.histograms import Histograms


@dataclass(frozen=True, slots=True)
class K:
    threshold: int
    name: ClassVar[str] = "k"
    least: ClassVar[int] = 2
    promise: ClassVar[str] = "every person shares a group with at least {less} others"

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        return histograms.sizes >= self.threshold

    def largest(self, counts: npt.NDArray[np.int64]) -> int:
        return int(counts.sum())

    def why_not(self, counts: npt.NDArray[np.int64], name: str, top: object) -> str:  # noqa: ARG002
        return f"the table has {counts.sum():,} rows"
