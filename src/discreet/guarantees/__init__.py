"""Guarantees: what a release promises about every group. One promise per file, and their conjunction.

Where some values are harmless (see `harmless`), a promise that spares them is about the rows that hold others: every
group has such rows, and keeps the promise as if it had no others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
from discreet.guarantees.promise import Counts, Crowd, Fact, Promise
from discreet.values.positions import Scale

if TYPE_CHECKING:
    from discreet.values.rule import Rule

__all__ = ["PROMISES", "Crowd", "Guarantee", "Histograms", "Promise", "Scale", "gaps", "needed", "sentences"]

PROMISES: dict[str, type[Promise]] = {promise.name: promise for promise in (K, L, DistinctL, E, Beta, EnhancedBeta)}


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Several promises at once, and of every sensitive value whether it is harmless, if any is."""

    promises: tuple[Promise, ...]
    harmless: npt.NDArray[np.bool_] | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls,
        thresholds: Mapping[str, float],
        scale: Scale | None = None,
        population: Counts | None = None,
        harmless: npt.NDArray[np.bool_] | None = None,
    ) -> Guarantee:
        """The promises of a policy, with the facts about the sensitive column that they need."""
        facts = {"scale": scale, "population": population}
        found = []
        for name, kind in _meant(thresholds).items():
            given = {fact: facts[fact] for fact in kind.needs}
            if any(fact is None for fact in given.values()):
                raise InternalError(f"`{name}` was promised of a column without its {' and '.join(kind.needs)}")
            found.append(kind(int(thresholds[name]) if kind.integral else thresholds[name], **given))
        return cls(tuple(found), harmless)

    @property
    def rule(self) -> Rule:
        """All promises as the compiled kernels take them."""
        from discreet.values.rule import Rule

        rule = Rule() if self.harmless is None else Rule(harmless=self.harmless)
        for promise in self.promises:
            rule = promise.enter(rule)
        return rule

    def of_people(self, cap: int) -> Rule:
        """The same for people who have at most so many rows each; its `k` counts people."""
        from discreet.values.rule import Rule

        rule = Rule()
        for promise in self.promises:
            rule = promise.capped(cap).enter(rule)
        return rule._replace(k=max((int(each.threshold) for each in self.promises if not each.of_values), default=1))

    def holds_of_people(self, histograms: Histograms, crowd: Crowd) -> npt.NDArray[np.bool_]:
        """Whether each group keeps every promise, where people may have several rows."""
        held = np.ones(histograms.sizes.size, np.bool_)
        for promise in self.promises:
            held &= promise.holds_of_people(histograms, crowd)
        return held

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        """Whether each group keeps every promise."""
        held = np.ones(histograms.sizes.size, np.bool_)
        for promise in self.promises:
            held &= self._kept(promise, histograms)
        return held

    def _kept(self, promise: Promise, histograms: Histograms) -> npt.NDArray[np.bool_]:
        if self.harmless is None or not promise.spares:
            return promise.holds(histograms)
        groups, others = histograms.without(self.harmless)
        held = np.zeros(histograms.sizes.size, np.bool_)
        if groups.size:
            held[groups] = promise.holds(others)
        return held

    def counted(self, counts: Counts) -> Counts:
        """How often each value occurs, none for harmless ones."""
        return counts if self.harmless is None else np.where(self.harmless, 0, counts)

    def feasible(self, counts: Counts, name: str, value_of: Callable[[int], object]) -> None:
        """Raise unless a table with these sensitive counts keeps every promise as one group: else no partition can.

        `value_of` tells the value of the column `name` that a code stands for.
        """
        for promise in self.promises:
            spared = promise.spares and self.harmless is not None
            seen = self.counted(counts) if promise.spares else counts
            if promise.holds(Histograms.whole(seen)).all():
                continue
            top = int(seen.argmax())
            why = promise.why_not(seen, name, value_of(top)) + (", without the harmless values" if spared else "")
            best = promise.strongest(seen)
            works = _works(promise, best)
            most = "largest" if promise.stronger == "larger" else "smallest"
            told = f"the {most} that works is {best:,}" if works else f"no {promise.name} works"
            advice = [f"set {promise.name} = {best}"] if works else []
            if promise.name == "k" and not promise.of_values:
                advice.append("publish more rows")
            elif promise.spares:
                advice += _if_harmless(promise, seen, top, value_of)
                advice += ["name fewer values `harmless`"] if spared else []
            advice += [promise.remedy] if promise.remedy else []
            if not advice:
                advice = [f"all rows hold the same value, so that no group can hide it: leave `{name}` out"]
            raise GuaranteeError(
                f"{promise.name} = {promise.threshold} cannot be met: {why}; {told}", hint="; or ".join(advice)
            )


def _works(promise: Promise, threshold: float) -> bool:
    """Whether a threshold promises anything."""
    return threshold >= promise.weakest if promise.stronger == "larger" else threshold > promise.weakest


def _if_harmless(promise: Promise, counts: Counts, top: int, value_of: Callable[[int], object]) -> list[str]:
    """What could be promised if the most frequent value were harmless, if that is enough, or else nothing could be."""
    others = counts.copy()
    others[top] = 0
    best = promise.strongest(others) if others.any() else promise.weakest - 1
    enough = best >= (promise.threshold if _works(promise, promise.strongest(counts)) else promise.weakest)
    if not enough or best <= promise.strongest(counts) or value_of(top) is None:
        return []
    what = f"if people who hold {value_of(top)!r} need no protection, name it in `harmless`"
    return [f"{what}: then the largest {promise.name} that works is {best:,}"]


def needed(thresholds: Mapping[str, float]) -> set[Fact]:
    """What the promises of a policy need to know of the sensitive column."""
    return {fact for kind in _meant(thresholds).values() for fact in kind.needs}


def sentences(thresholds: Mapping[str, float], harmless: str = "", *, several: bool = False) -> list[str]:
    """The promises of a policy in words, where the values told here are harmless, or people have several rows."""
    return [
        (f"of those who do not hold {harmless}: " if harmless and kind.spares else "")
        + _worded((kind.of_people if several else "") or kind.promise, thresholds[name])
        for name, kind in _meant(thresholds).items()
    ]


def gaps(thresholds: Mapping[str, float], harmless: str = "") -> list[str]:
    """What the promises of a policy leave open though a reader might not think so, in words."""
    open_ = [_worded(kind.gap, thresholds[name]) for name, kind in _meant(thresholds).items() if kind.gap]
    return [*open_, f"that nobody learns whether a person holds {harmless}, or not"] if harmless else open_


def _worded(sentence: str, threshold: float) -> str:
    return sentence.format(threshold=threshold, less=threshold - 1, more=Decimal(repr(threshold)) + 1)


def _meant(thresholds: Mapping[str, float]) -> dict[str, type[Promise]]:
    """What each promise of a policy is, beside the others: the k of (k,e) counts distinct values."""
    other = {name: kind for each in thresholds for name, kind in PROMISES[each].beside.items()}
    return {name: other.get(name, PROMISES[name]) for name in thresholds}
