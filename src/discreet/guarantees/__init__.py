"""Guarantees: what a release promises about every group. One promise per file, and their conjunction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from discreet.errors import GuaranteeError, InternalError
from discreet.guarantees.beta import Beta, EnhancedBeta
from discreet.guarantees.distinct_l import DistinctL
from discreet.guarantees.histograms import Histograms
from discreet.guarantees.k import K
from discreet.guarantees.k_e import E
from discreet.guarantees.l import L
from discreet.guarantees.promise import Counts, Fact, Promise
from discreet.values.positions import Scale

if TYPE_CHECKING:
    from discreet.values.rule import Rule

__all__ = ["PROMISES", "Guarantee", "Histograms", "Promise", "Scale", "gaps", "needed", "sentences"]

PROMISES: dict[str, type[Promise]] = {promise.name: promise for promise in (K, L, DistinctL, E, Beta, EnhancedBeta)}


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Several promises at once."""

    promises: tuple[Promise, ...]

    @classmethod
    def of(
        cls, thresholds: Mapping[str, float], scale: Scale | None = None, population: Counts | None = None
    ) -> Guarantee:
        """The promises of a policy, with the facts about the sensitive column that they need."""
        facts = {"scale": scale, "population": population}
        found = []
        for name, kind in _meant(thresholds).items():
            given = {fact: facts[fact] for fact in kind.needs}
            if any(fact is None for fact in given.values()):
                raise InternalError(f"`{name}` was promised of a column without its {' and '.join(kind.needs)}")
            found.append(kind(int(thresholds[name]) if kind.integral else thresholds[name], **given))
        return cls(tuple(found))

    @property
    def rule(self) -> Rule:
        """All promises as the compiled kernels take them."""
        from discreet.values.rule import Rule

        rule = Rule()
        for promise in self.promises:
            rule = promise.enter(rule)
        return rule

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        """Whether each group keeps every promise."""
        held = np.ones(histograms.sizes.size, np.bool_)
        for promise in self.promises:
            held &= promise.holds(histograms)
        return held

    def feasible(self, counts: Counts, name: str, top: object) -> None:
        """Raise unless a table with these sensitive counts keeps every promise as one group: else no partition can.

        `top` is the most frequent value of the column `name`.
        """
        whole = Histograms.whole(counts)
        for promise in self.promises:
            if promise.holds(whole).all():
                continue
            best, larger = promise.strongest(counts), promise.stronger == "larger"
            works = (best >= promise.weakest) if larger else (best > promise.weakest)
            most = "largest" if larger else "smallest"
            told = f"the {most} that works is {best:,}" if works else "no value of it works"
            raise GuaranteeError(
                f"{promise.name} = {promise.threshold} cannot be met: {promise.why_not(counts, name, top)}; {told}",
                hint="lower the guarantee, or publish more rows" + (f", or {promise.remedy}" if promise.remedy else ""),
            )


def needed(thresholds: Mapping[str, float]) -> set[Fact]:
    """What the promises of a policy need to know of the sensitive column."""
    return {fact for kind in _meant(thresholds).values() for fact in kind.needs}


def sentences(thresholds: Mapping[str, float]) -> list[str]:
    """The promises of a policy in words."""
    return [_worded(kind.promise, thresholds[name]) for name, kind in _meant(thresholds).items()]


def gaps(thresholds: Mapping[str, float]) -> list[str]:
    """What the promises of a policy leave open though a reader might not think so, in words."""
    return [_worded(kind.gap, thresholds[name]) for name, kind in _meant(thresholds).items() if kind.gap]


def _worded(sentence: str, threshold: float) -> str:
    return sentence.format(threshold=threshold, less=threshold - 1, more=Decimal(repr(threshold)) + 1)


def _meant(thresholds: Mapping[str, float]) -> dict[str, type[Promise]]:
    """What each promise of a policy is, beside the others: the k of (k,e) counts distinct values."""
    other = {name: kind for each in thresholds for name, kind in PROMISES[each].beside.items()}
    return {name: other.get(name, PROMISES[name]) for name in thresholds}
