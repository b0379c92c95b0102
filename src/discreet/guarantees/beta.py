"""beta, enhanced_beta: no sensitive value is much more frequent in a group than in the whole table.

With p the share of the table that holds a value, and q its share of a group, (q - p) / p is at most beta; if enhanced,
at most the smaller of beta and -ln p, so that no group consists of one value unless the table does.
Source: Cao and Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 5(11), 2012, definitions 2 and 3.
The table is what is released, so that anybody can add up its groups and see.

Of people with at most r rows each, who hold a value in any row with a probability of p r / (1 + (r - 1) p) or more as
far as the table alone tells, q is at most 1 + beta times p / (1 + (r - 1) p): see `docs/promise.md`.

A value may have at most the share p (1 + beta) of a group. Groups have at most n rows, so nothing is lost if that is
rounded down to the next fraction with a denominator of at most n: integers then decide exactly.
Cost: a fraction per different count in the table.
Claim: shares_are_rounded_to_no_effect — among fractions of at most n rows, the same are allowed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from discreet.guarantees.histograms import Histograms
from discreet.guarantees.promise import Counts, Crowd, Fact, Plain

if TYPE_CHECKING:
    from discreet.values.rule import Rule

DIGITS = Context(prec=60)  # of a logarithm: fractions of fewer than 2**31 rows are told apart by 20


@dataclass(frozen=True, slots=True, eq=False)
class Beta(Plain):
    """Basic beta-likeness."""

    threshold: float
    population: Counts
    cap: int = 1  # the most rows of one person
    name: ClassVar[str] = "beta"
    promise: ClassVar[str] = "no sensitive value has more than {more} times its share of the table in any group"
    of_people: ClassVar[str] = (
        "nobody is believed to hold a sensitive value with more than {more} times the probability that the whole table"
        " gives it"
    )
    gap: ClassVar[str] = "that a group holds several values: one that at least 1 in {more} people hold may fill it"
    stronger: ClassVar[Literal["larger", "smaller"]] = "smaller"
    integral: ClassVar[bool] = False
    weakest: ClassVar[float] = 0
    needs: ClassVar[tuple[Fact, ...]] = ("population",)
    spares: ClassVar[bool] = False  # what is frequent in the table may be frequent in a group anyway

    def holds(self, histograms: Histograms) -> npt.NDArray[np.bool_]:
        most, of = self._shares()[histograms.values].T
        within = histograms.counts * of <= histograms.sizes[histograms.groups] * most
        return np.logical_and.reduceat(within, histograms.starts)

    def holds_of_people(self, histograms: Histograms, crowd: Crowd) -> npt.NDArray[np.bool_]:
        held = np.ones(histograms.sizes.size, np.bool_)
        for cap in np.unique(crowd.most):
            held &= (crowd.most != cap) | self.capped(int(cap)).holds(histograms)
        return held

    def capped(self, cap: int) -> Self:
        return replace(self, cap=cap)

    def strongest(self, counts: Counts) -> float:  # noqa: ARG002
        return 0

    def why_not(self, counts: Counts, name: str, top: object) -> str:  # noqa: ARG002
        return f"the shares of `{name}` are those of another table"

    def enter(self, rule: Rule) -> Rule:
        own = self._shares()
        if len(rule.shares):  # the smaller of two shares
            other = rule.shares
            own = np.where((own[:, :1] * other[:, 1:] <= other[:, :1] * own[:, 1:]), own, other)
        most, of = own[self.population > 0].T
        return rule._replace(shares=own, k=max(rule.k, int((-(-of // most)).min())))

    def _shares(self) -> npt.NDArray[np.int64]:
        """The largest share of a group that each value may have: a numerator and a denominator."""
        rows, held = int(self.population.sum()), np.unique(self.population)
        lines = [largest(self._of_people(Fraction(int(count), rows)), rows) for count in held]
        return np.array(lines, np.int64)[np.searchsorted(held, self.population)]

    def _of_people(self, share: Fraction) -> Fraction:
        """The largest share of a group, where one person may have several of its rows."""
        most = self._most(share)
        return most if most >= 1 else most / (1 + (self.cap - 1) * share)

    def _most(self, share: Fraction) -> Fraction:
        """The largest share of a group for a value with this share of the table."""
        return share * (1 + Fraction(repr(self.threshold)))


@dataclass(frozen=True, slots=True, eq=False)
class EnhancedBeta(Beta):
    """Enhanced beta-likeness."""

    name: ClassVar[str] = "enhanced_beta"
    promise: ClassVar[str] = (
        "no sensitive value has more than {more} times its share of the table in any group, nor more than "
        "1 - ln(that share) times"
    )
    of_people: ClassVar[str] = (
        "nobody is believed to hold a sensitive value with more than {more} times the probability that the whole table"
        " gives it, nor more than 1 - ln(its share of the table) times"
    )
    gap: ClassVar[str] = ""  # the logarithm leaves none

    def _most(self, share: Fraction) -> Fraction:
        if share == 0:
            return share
        surprise = DIGITS.ln(DIGITS.divide(Decimal(share.denominator), Decimal(share.numerator)))
        return share * (1 + min(Fraction(repr(self.threshold)), Fraction(surprise)))


def largest(limit: Fraction, rows: int) -> tuple[int, int]:
    """The largest fraction up to a limit, and up to 1, whose denominator is at most `rows`."""
    if limit >= 1:
        return 1, 1
    if limit.denominator <= rows:
        return limit.numerator, limit.denominator
    # Two convergents, or what lies between them, are the neighbours of the limit among these fractions.
    (p, q), (p_, q_), (n, d) = (0, 1), (1, 0), limit.as_integer_ratio()
    while q + n // d * q_ <= rows:
        (p, q), (p_, q_), (n, d) = (p_, q_), (p + n // d * p_, q + n // d * q_), (d, n % d)
    steps = (rows - q) // q_
    near = Fraction(p_, q_), Fraction(p + steps * p_, q + steps * q_)
    return max(each for each in near if each <= limit).as_integer_ratio()
