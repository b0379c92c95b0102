"""k, e: every group has at least k distinct sensitive values, and they span a range of at least e.

Source: Koudas et al., "Aggregate query answering on anonymized tables", ICDE 2007, definition 4.2.
Two promises that are made together; without e, k counts rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from discreet.guarantees.distinct_l import DistinctL
from discreet.guarantees.histograms import Histograms
from discreet.guarantees.promise import Counts, Crowd, Fact, Plain, Promise
from discreet.values.positions import Scale

if TYPE_CHECKING:
    from discreet.values.rule import Rule


@dataclass(frozen=True, slots=True)
class DistinctK(DistinctL):
    """The k of (k,e)."""

    name: ClassVar[str] = "k"


@dataclass(frozen=True, slots=True)
class E(Plain):
    """The e of (k,e)."""

    threshold: float
    scale: Scale
    name: ClassVar[str] = "e"
    promise: ClassVar[str] = "in every group, the sensitive values span a range of at least {threshold}"
    of_people: ClassVar[str] = "in every group, somebody holds no sensitive value in any range shorter than {threshold}"
    integral: ClassVar[bool] = False
    weakest: ClassVar[float] = 0
    needs: ClassVar[tuple[Fact, ...]] = ("scale",)
    together: ClassVar[Mapping[str, str]] = {"k": "the number of distinct values"}
    beside: ClassVar[Mapping[str, type[Promise]]] = {"k": DistinctK}

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        ends = np.append(histograms.starts[1:], histograms.values.size) - 1
        marks = self.scale.marks
        spans = marks[histograms.values[ends]] - marks[histograms.values[histograms.starts]]
        return np.asarray(spans >= self.scale.steps(self.threshold))

    def holds_of_people(self, histograms: Histograms, crowd: Crowd) -> npt.NDArray[np.bool_]:
        from discreet.values.rule import Rule, within_each

        shortest = self.scale.steps(self.threshold)
        if shortest <= 0:
            return np.ones(histograms.sizes.size, np.bool_)
        rule = Rule(e=shortest, marks=self.scale.marks)
        inside = within_each(histograms.starts, histograms.values, histograms.counts, rule)
        return np.asarray((inside + 1) * crowd.most <= histograms.sizes)

    def strongest(self, counts: Counts) -> float:
        held = np.flatnonzero(counts)
        return self.scale.length(self.scale.marks[held[-1]] - self.scale.marks[held[0]])

    def why_not(self, counts: Counts, name: str, top: object) -> str:  # noqa: ARG002
        return f"the values of `{name}` span a range of {self.strongest(counts):,}"

    def enter(self, rule: Rule) -> Rule:
        return rule._replace(e=self.scale.steps(self.threshold), marks=self.scale.marks)
