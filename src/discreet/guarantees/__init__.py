"""Guarantees: what a release promises about every group. One promise per file, and their conjunction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from discreet.errors import InternalError
from discreet.guarantees.distinct_l import DistinctL
from discreet.guarantees.histograms import Histograms
from discreet.guarantees.k import K
from discreet.guarantees.k_e import DistinctK, E
from discreet.guarantees.l import L
from discreet.values.positions import Marks, Scale

__all__ = ["PROMISES", "Guarantee", "Histograms", "Promise", "Scale", "Thresholds", "sentences"]


class Promise(Protocol):
    """One promise with its threshold."""

    name: ClassVar[str]
    least: ClassVar[int]
    promise: ClassVar[str]

    @property
    def threshold(self) -> float: ...

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        """Whether each group keeps the promise."""
        ...

    def largest(self, counts: npt.NDArray[np.int64]) -> float:
        """The largest threshold that a table with these sensitive counts could keep at all."""
        ...

    def why_not(self, counts: npt.NDArray[np.int64], name: str, top: object) -> str:
        """Why such a table cannot keep it; `top` is the most frequent value of the column `name`."""
        ...


PROMISES: dict[str, type[Promise]] = {"k": K, "l": L, "distinct_l": DistinctL, "e": E}


class Thresholds(NamedTuple):
    """All thresholds, for the compiled kernels: 1, and no marks, promise nothing; `e` is told in marks."""

    k: int
    l: int
    distinct_l: int
    e: int | float
    marks: Marks


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Several promises at once."""

    promises: tuple[Promise, ...]

    @classmethod
    def of(cls, thresholds: Mapping[str, float], scale: Scale | None = None) -> Guarantee:
        """The promises of a policy; `e` needs the scale of the sensitive column, and turns k into (k,e)."""

        def promise(name: str, threshold: float) -> Promise:
            if name == "e":
                if scale is None:
                    raise InternalError("a range was promised of a column without a scale")
                return E(threshold, scale)
            if name == "k":
                return DistinctK(int(threshold)) if "e" in thresholds else K(int(threshold))
            return L(int(threshold)) if name == "l" else DistinctL(int(threshold))

        return cls(tuple(promise(name, threshold) for name, threshold in thresholds.items()))

    @property
    def thresholds(self) -> Thresholds:
        found = Thresholds(1, 1, 1, 0, np.zeros(0, np.int64))
        for promise in self.promises:
            match promise:
                case K():
                    found = found._replace(k=promise.threshold)
                case L():
                    found = found._replace(l=promise.threshold)
                case DistinctL():  # the k of (k,e) is one
                    found = found._replace(distinct_l=max(promise.threshold, found.distinct_l))
                case E():
                    scale = promise.scale
                    found = found._replace(e=scale.steps(promise.threshold), marks=scale.marks)
        return found

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        """Whether each group keeps every promise."""
        held = np.ones(histograms.sizes.size, np.bool_)
        for promise in self.promises:
            held &= promise.holds(histograms)
        return held


def sentences(thresholds: Mapping[str, float]) -> list[str]:
    """The promises of a policy in words."""
    kinds: dict[str, type[Promise]] = {**PROMISES, "k": DistinctK} if "e" in thresholds else PROMISES
    return [
        kinds[name].promise.format(threshold=threshold, less=threshold - 1) for name, threshold in thresholds.items()
    ]
