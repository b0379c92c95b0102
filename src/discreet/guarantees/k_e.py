"""k, e: every group has at least k distinct sensitive values, and they span a range of at least e.

Source: Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, definition 4.2.
Two promises that are made together; without e, k counts rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.guarantees.distinct_l import DistinctL
from discreet.guarantees.histograms import Histograms
from discreet.values.positions import Scale


@dataclass(frozen=True, slots=True)
class DistinctK(DistinctL):
    """The k of (k,e)."""

    name: ClassVar[str] = "k"


@dataclass(frozen=True, slots=True)
class E:
    """The e of (k,e)."""

    threshold: float
    scale: Scale
    name: ClassVar[str] = "e"
    least: ClassVar[int] = 0
    promise: ClassVar[str] = "in every group, the sensitive values span a range of at least {threshold}"

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        ends = np.append(histograms.starts[1:], histograms.values.size) - 1
        marks = self.scale.marks
        spans = marks[histograms.values[ends]] - marks[histograms.values[histograms.starts]]
        return np.asarray(spans >= self.scale.steps(self.threshold))

    def largest(self, counts: npt.NDArray[np.int64]) -> float:
        held = np.flatnonzero(counts)
        return self.scale.length(self.scale.marks[held[-1]] - self.scale.marks[held[0]])

    def why_not(self, counts: npt.NDArray[np.int64], name: str, top: object) -> str:  # noqa: ARG002
        return f"the values of `{name}` span a range of {self.largest(counts):,}"
