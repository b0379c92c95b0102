"""What a table tells of the population that it is a sample of, where only the population's size is known.

How many people are unique in the population is estimated as ARX does, by the rule of Dankar et al. (BMC Med. Inform.
2012) without its third model: if at most a tenth of the population is in the table, by Pitman's model (Hoshino 2001),
fitted by maximum likelihood; else by Zayatz's (1991). `inverse` is the expected 1/F of a record that f records of the
table look like, if people came into the table by chance and independently: F is then negative binomial (Benedetti and
Franconi 1998, the individual risk of mu-Argus). All suppose that the table is a random sample, and none is a bound.
Cost: a few thousand evaluations over the different sizes of classes.
Models disagree, so the lowest and the highest of three are told beside the estimate: these two and the look-alikes of
Skinner and Elliot (J. R. Stat. Soc. B 64, 2002), whose measure takes unique records to have equally many.
Claim: uniques_of_a_population_are_found — within a third of their number, in populations that follow Pitman's model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, lgamma, log, log1p
from typing import Literal

import numpy as np

from discreet.risk.sizes import Floats, Sizes

FEW = 0.1  # of the population in the table, up to which Pitman's model is taken
STEPS = 60  # of a golden section: to one in 10^12
GOLDEN = (5**0.5 - 1) / 2
LARGE = 2_000  # records in a class from which on the share in the population is the share in the table
Model = Literal["table", "pitman", "zayatz"]


@dataclass(frozen=True, slots=True)
class Uniques:
    """How many people are unique in a population of `people`: counted in a `table` of it, or by a model."""

    model: Model
    people: int
    count: float
    of_records: float  # the share of the table's records that are unique in the population
    low: float | None = None  # the lowest and the highest of all models, where it is estimated; neither is a bound
    high: float | None = None

    @property
    def share(self) -> float:
        """The share of the population that is unique."""
        return self.count / self.people


def estimate(sizes: Sizes, people: int) -> Uniques:
    """The uniques of a population of so many people of whom the records in classes of these sizes are a sample."""
    records, single = int(sizes.sum()), int(np.count_nonzero(sizes == 1))
    fraction = records / people
    model: Model = "pitman" if fraction <= FEW else "zayatz"
    if not single:
        return Uniques(model, people, 0.0, 0.0, 0.0, 0.0)
    found, many = np.unique(sizes, return_counts=True)
    most = single / fraction  # a unique of the population is one of the table, if it is there
    told = {each.__name__: min(each(found, many, people), most) for each in (pitman, zayatz, alike)}
    count = told[model]
    return Uniques(model, people, count, count / people, min(told.values()), max(told.values()))


def pitman(sizes: Sizes, many: Sizes, people: int) -> float:
    """The expected uniques, by Pitman's model; `many` classes have each of these sizes."""
    records, classes = int(sizes @ many), int(many.sum())
    shape = [(int(size), int(count)) for size, count in zip(sizes, many, strict=True) if size > 1]

    def likelihood(alpha: float, theta: float) -> float:
        start = theta / alpha
        return (
            (classes - 1) * log(alpha)
            + lgamma(start + classes)
            - lgamma(start + 1)
            - lgamma(theta + records)
            + lgamma(theta + 1)
            + sum(count * (lgamma(size - alpha) - lgamma(1 - alpha)) for size, count in shape)
        )

    def best(alpha: float) -> float:
        """The best theta, given alpha; theta is looked for by its logarithm."""
        return exp(_highest(lambda place: likelihood(alpha, exp(place)), -7.0, log(100.0 * records)))

    alpha = _highest(lambda alpha: likelihood(alpha, best(alpha)), 1e-6, 1 - 1e-9)
    theta = best(alpha)
    return people * exp(
        lgamma(theta + alpha + people - 1) - lgamma(theta + people) + lgamma(theta + 1) - lgamma(theta + alpha)
    )


def zayatz(sizes: Sizes, many: Sizes, people: int) -> float:
    """The uniques of the table that are unique in the population, scaled up; classes are taken to be as the table's."""
    records = int(sizes @ many)
    alone = {int(size): _once(people, int(size), records) for size in sizes}
    single = int(many[sizes == 1].sum())
    seen = sum(count * alone[int(size)] for size, count in zip(sizes, many, strict=True))
    return float(single * (single * alone[1] / seen) * people / records)


def alike(sizes: Sizes, many: Sizes, people: int) -> float:
    """The uniques of the table over the people of the population who look like one, as pairs in the table tell."""
    fraction = int(sizes @ many) / people
    single, pairs = (int(many[sizes == size].sum()) for size in (1, 2))
    if not single:
        return 0.0
    return single / fraction * single * fraction / (single * fraction + 2 * (1 - fraction) * pairs)


def _once(people: int, size: int, records: int) -> float:
    """How likely one of `size` people is among so many records, drawn without putting back."""
    if people - size < records - 1:
        return 0.0
    ways = _choose(people - size, records - 1) - _choose(people, records)
    return size * exp(ways)


def _choose(many: int, few: int) -> float:
    return lgamma(many + 1) - lgamma(few + 1) - lgamma(many - few + 1)


def _highest(of: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that rises and then falls is highest: golden section."""
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = of(left), of(right)
    for _ in range(STEPS):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = of(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = of(left)
    return (low + high) / 2


def inverse(sizes: Sizes, fraction: float) -> Floats:
    """The expected 1/F of records in classes of these sizes, of a table with this share of the population.

    It is the integral of x^(f-1) / (1 + R x) from 0 to 1, with R = 1 / share - 1, by its recurrence: in the direction
    in which errors shrink.
    """
    if fraction >= 1:
        return np.asarray(1 / sizes, np.float64)
    ratio, last = 1 / fraction - 1, int(min(sizes.max(initial=1), LARGE))
    found = np.empty(last + 1)
    if ratio > 1:
        found[1] = log1p(ratio) / ratio
        for f in range(1, last):
            found[f + 1] = (1 / f - found[f]) / ratio
    else:
        beyond = fraction / (last + 100)
        for f in range(last + 99, 0, -1):
            beyond = 1 / f - ratio * beyond
            if f <= last:
                found[f] = beyond
    return np.where(sizes > last, fraction / sizes, found[np.minimum(sizes, last)])
