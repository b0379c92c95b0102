"""Guarantees: what a release promises about every group. One promise per file, and their conjunction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from discreet.guarantees.distinct_l import DistinctL
from discreet.guarantees.histograms import Histograms
from discreet.guarantees.k import K
from discreet.guarantees.l import L

__all__ = ["PROMISES", "Guarantee", "Histograms", "Promise"]


class Promise(Protocol):
    """One promise with its threshold."""

    name: ClassVar[str]
    least: ClassVar[int]
    promise: ClassVar[str]

    def __init__(self, threshold: int) -> None: ...

    @property
    def threshold(self) -> int: ...

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        """Whether each group keeps the promise."""
        ...

    def largest(self, counts: npt.NDArray[np.int64]) -> int:
        """The largest threshold that a table with these sensitive counts could keep at all."""
        ...

    def why_not(self, counts: npt.NDArray[np.int64], name: str, top: object) -> str:
        """Why such a table cannot keep it; `top` is the most frequent value of the column `name`."""
        ...


PROMISES: dict[str, type[Promise]] = {"k": K, "l": L, "distinct_l": DistinctL}


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Several promises at once."""

    promises: tuple[Promise, ...]

    @classmethod
    def of(cls, thresholds: Mapping[str, int]) -> Guarantee:
        return cls(tuple(PROMISES[name](threshold) for name, threshold in thresholds.items()))

    @property
    def thresholds(self) -> tuple[int, int, int]:
        """k, l and distinct_l for the compiled kernels; 1 promises nothing."""
        by_name = {promise.name: promise.threshold for promise in self.promises}
        return by_name.get("k", 1), by_name.get("l", 1), by_name.get("distinct_l", 1)

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        """Whether each group keeps every promise."""
        held = np.ones(histograms.sizes.size, np.bool_)
        for promise in self.promises:
            held &= promise.holds(histograms)
        return held

    def sentences(self) -> list[str]:
        """The promises in words."""
        return [
            promise.promise.format(threshold=promise.threshold, less=promise.threshold - 1) for promise in self.promises
        ]
