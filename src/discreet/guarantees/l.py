"""l: no sensitive value is held by more than 1/l of a group's rows.

Source: Machanavajjhala et al. (ICDE 2006) in the form of Xiao and Tao (VLDB 2006), definition 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.guarantees.histograms import Histograms


@dataclass(frozen=True, slots=True)
class L:
    threshold: int
    name: ClassVar[str] = "l"
    least: ClassVar[int] = 2
    promise: ClassVar[str] = "in every group, no sensitive value is held by more than 1 in {threshold} people"

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        return histograms.sizes // histograms.tops >= self.threshold

    def largest(self, counts: npt.NDArray[np.int64]) -> int:
        return int(counts.sum() // counts.max())

    def why_not(self, counts: npt.NDArray[np.int64], name: str, top: object) -> str:
        held, rows = counts.max(), counts.sum()
        share = f"held by {held:,} of {rows:,} rows ({held / rows:.1%})"
        return f"the value {top!r} of `{name}` is {share}, and at most 1/{self.threshold} may share a value"
