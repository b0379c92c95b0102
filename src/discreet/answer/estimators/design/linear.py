"""COUNT, SUM and AVG by design: totals from a regression, their variance, and ratios of two of them.

Totals are unbiased. A mean over a number of rows that is known is one of them, divided by that number. Other means are
ratios of two estimates: nearly unbiased where many rows match, and their variance is that of the numerator less the
ratio times the denominator (linearised).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from discreet.answer.estimators.columns import Column
from discreet.learn.design import Design, Flags, Floats

Numbers = npt.NDArray[np.int64]
AT_ONCE = 2**21  # numbers about values and rows of an answer that are laid out together


@dataclass(frozen=True, eq=False)
class Targets:
    """What is wanted of values, by key: a total each; whether it is told, and how its weights spread (see `Design`)."""

    wanted: Floats
    told: Flags
    spreads: Floats

    @classmethod
    def of(cls, design: Design, wanted: Floats, inside: Floats | float = 0.0) -> Targets:
        """`inside` is how what is wanted spreads over the rows of a class, where that is more than one value."""
        spreads = design.spreads(wanted) + inside
        return cls(wanted, design.nearly_told(wanted, spreads), spreads)


@dataclass(frozen=True, eq=False)
class Ratio:
    """Targets above and below a fraction, and both added up; a mean is `start + scale` times the fraction."""

    above: Targets
    below: Targets
    both: Targets
    start: float
    scale: float

    def crossed(self, keys: Numbers) -> Floats:
        """How the weights of the two spread together."""
        return (self.both.spreads[keys] - self.above.spreads[keys] - self.below.spreads[keys]) / 2


class Way(Protocol):
    """How COUNT, SUM and AVG are estimated from the means of values; this module is one."""

    def totals(self, design: Design, targets: Targets, means: Floats, rows: Numbers, keys: Numbers) -> Column: ...

    def ratios(self, design: Design, ratio: Ratio, means: Floats, rows: Numbers, keys: Numbers) -> Column: ...

    def averages(self, design: Design, targets: Targets, means: Floats, rows: Numbers, keys: Numbers) -> Column: ...


def variance(design: Design, spreads: Floats, mean: Floats, squares: Floats) -> Floats:
    """The variance of totals, from estimates of the mean and the mean square of every value, in rows alike.

    The square of an estimated mean is too large by its own variance, about `Design.noise` times that of all rows. What
    is left can be less than nothing, or more than if all values had one mean: then it is the latter. Where so few rows
    match that their estimated share is outside of 0 to 1, that is less than nothing, too: then it is the variance if
    every value had the mean of all rows, which is known. So it is 0 only if weights or rows do not differ.
    """
    totals = design.totals / design.totals.sum()
    pooled = np.maximum(squares @ totals - (mean @ totals) ** 2, 0)
    own = (spreads * (squares - mean * mean)).sum(axis=1) + pooled * (spreads @ design.noise)
    every = spreads.sum(axis=1)
    share = np.divide((spreads * mean).sum(axis=1), every, out=np.zeros_like(every), where=every > 0)
    most: Floats = np.maximum((spreads * squares).sum(axis=1) - every * share**2, 0)
    found: Floats = np.where(own > 0, np.minimum(own, most), most)
    return np.where(found > 0, found, pooled * every)


def totals(design: Design, targets: Targets, means: Floats, rows: Numbers, keys: Numbers) -> Column:
    """A total for each row of an answer: of the key `rows` of quasi-identifiers and the key `keys` of values.

    `means` are those of the number to be added up, then of its square, for each key of quasi-identifiers and value.
    """

    def some(rows: Numbers, keys: Numbers) -> tuple[Floats, Floats]:
        mean, squares = means[0][rows], means[-1][rows]
        estimate = (targets.wanted[keys] * mean).sum(axis=1)
        estimate[~targets.told[keys]] = np.nan
        return estimate, np.sqrt(variance(design, targets.spreads[keys], mean, squares))

    return laid_out(design, some, rows, keys)


def ratios(design: Design, ratio: Ratio, means: Floats, rows: Numbers, keys: Numbers) -> Column:
    """A mean of values: one total over another, of the same rows."""

    def some(rows: Numbers, keys: Numbers) -> tuple[Floats, Floats]:
        mean = means[0][rows]
        above, below = ((each.wanted[keys] * mean).sum(axis=1) for each in (ratio.above, ratio.below))
        enough = below > np.sqrt(variance(design, ratio.below.spreads[keys], mean, mean))
        found = np.divide(above, below, out=np.full_like(above, np.nan), where=enough)
        found[~(ratio.above.told & ratio.below.told)[keys]] = np.nan
        part = np.nan_to_num(found)[:, None]
        left = ratio.above.spreads[keys] - 2 * part * ratio.crossed(keys) + part**2 * ratio.below.spreads[keys]
        error = np.sqrt(variance(design, np.maximum(left, 0), mean, mean)) / np.where(enough, below, 1)
        return ratio.start + ratio.scale * found, ratio.scale * error

    return laid_out(design, some, rows, keys)


def averages(design: Design, targets: Targets, means: Floats, rows: Numbers, keys: Numbers) -> Column:
    """A mean of a quasi-identifier: its total over how many rows have it, both of the same values."""

    def some(rows: Numbers, keys: Numbers) -> tuple[Floats, Floats]:
        count, total, squares = (each[rows] for each in means)
        below, above = ((targets.wanted[keys] * each).sum(axis=1) for each in (count, total))
        enough = below > np.sqrt(variance(design, targets.spreads[keys], count, count))
        found = np.divide(above, below, out=np.full_like(above, np.nan), where=enough)
        found[~targets.told[keys]] = np.nan
        part = np.nan_to_num(found)[:, None]
        left = squares - 2 * part * total + part**2 * count
        error = np.sqrt(variance(design, targets.spreads[keys], total - part * count, left))
        return found, error / np.where(enough, below, 1)

    return laid_out(design, some, rows, keys)


def laid_out(
    design: Design, some: Callable[[Numbers, Numbers], tuple[Floats, Floats]], rows: Numbers, keys: Numbers
) -> Column:
    """All rows of an answer, as many at a time as fit."""
    parts = [some(rows[at], keys[at]) for at in _slices(rows.size, max(AT_ONCE // design.columns, 1))]
    found = [np.concatenate(each) for each in zip(*parts, strict=True)] or [np.zeros(0)] * 2
    return Column(*found)


def _slices(count: int, step: int) -> Iterator[slice]:
    return (slice(at, at + step) for at in range(0, count, step))
