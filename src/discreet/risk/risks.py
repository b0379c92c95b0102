"""All risk figures of a table or of a release, by the names that ARX has for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.errors import InputError
from discreet.risk.held import Distance, Held, Told, told
from discreet.risk.population import Uniques, estimate, inverse
from discreet.risk.shown import lines
from discreet.risk.sizes import AtRisk, Floats, Sizes, of_records, prosecutor

WORST = 10


@dataclass(frozen=True, slots=True)
class Worst:
    """A group by its number: its records, and of these the share that holds one sensitive value, if there is one."""

    number: int
    records: int
    largest_share: float | None


@dataclass(frozen=True, slots=True, repr=False)
class Risks:
    """The risks of `records` in `classes` that look the same.

    `journalist` is None where nothing is known of a population; `unique` records look like no other. `k` is the size of
    the smallest class, what follows is told by groups: None where there is no sensitive column. `notes` say what the
    figures mean here.
    """

    of: Literal["table", "release"]
    quasi: tuple[str, ...]
    records: int
    classes: int
    prosecutor: AtRisk
    journalist: AtRisk | None
    marketer: float
    unique: int
    population: Uniques | None
    k: int
    l: int | None
    distinct_l: int | None
    entropy_l: float | None
    t: float | None
    distance: Distance | None
    beta: float | None
    worst: tuple[Worst, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "\n".join(lines(self))


def measure(
    of: Literal["table", "release"],
    quasi: tuple[str, ...],
    sizes: Sizes,
    held: Told | None,
    worst: tuple[Worst, ...],
    notes: tuple[str, ...] = (),
    *,
    people: int | None = None,
    beside: Sizes | None = None,
    uniques: int | None = None,
) -> Risks:
    """All figures of classes of these sizes.

    Of the population is known how many `people` it has; and, where there is a table of it, how many of them look like
    each class (`beside`), and how many look like nobody else (`uniques`).
    """
    records = int(sizes.sum())
    if people is not None and people < records:
        raise InputError(
            f"a population of {people:,} is smaller than the table: expected at least {records:,} people",
            hint="name the population that the table is a part of",
        )
    journalist, population = None, None
    if beside is not None and people is not None:
        least = np.maximum(beside, sizes)
        journalist = of_records(1 / least, sizes)
        single = float(sizes[least == 1].sum() / max(records, 1))
        population = Uniques("table", people, float(uniques or 0), single)
    elif people is not None and records:
        journalist = of_records(inverse(sizes, records / people), sizes)
        population = estimate(sizes, people)
    alone = prosecutor(sizes)
    return Risks(
        of,
        quasi,
        records,
        sizes.size,
        alone,
        journalist,
        (alone if journalist is None else journalist).average,
        int(np.count_nonzero(sizes == 1)),
        population,
        int(sizes.min(initial=records)),
        None if held is None else held.l,
        None if held is None else held.distinct_l,
        None if held is None else held.entropy_l,
        None if held is None else held.t,
        None if held is None else held.distance,
        None if held is None else held.beta,
        worst,
        notes,
    )


def of_rows(
    quasi: tuple[str, ...],
    classes: Sizes,
    values: Sizes | None,
    *,
    ordered: bool = False,
    spared: npt.NDArray[np.bool_] | None = None,
    people: int | None = None,
    beside: Sizes | None = None,
    uniques: int | None = None,
) -> Risks:
    """All figures of a private table, from the class of every row, without gaps, and the code of its value.

    Groups are the classes; they are numbered from 1 on.
    """
    sizes = np.bincount(classes)
    held = None if values is None else told(Held.of_rows(classes, values), ordered=ordered, spared=spared)
    worst = ranked(np.arange(1, sizes.size + 1), sizes, None if held is None else held.shares)
    return measure("table", quasi, sizes, held, worst, people=people, beside=beside, uniques=uniques)


def ranked(numbers: Sizes, sizes: Sizes, shares: Floats | None) -> tuple[Worst, ...]:
    """The groups at most risk: those with the largest share of one value, then the smallest."""
    order = np.lexsort((numbers, sizes, *([] if shares is None else [-shares])))[:WORST]
    return tuple(Worst(int(numbers[i]), int(sizes[i]), None if shares is None else float(shares[i])) for i in order)
