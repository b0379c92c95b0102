"""`shrunk`: `design`, drawn towards `even` by as much as values seem not to differ; see `learn/shrunk.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.answer.answer import Basis
from discreet.answer.estimators.columns import Column
from discreet.answer.estimators.design import linear
from discreet.answer.estimators.design.by_design import ByDesign
from discreet.answer.estimators.design.linear import Numbers, Ratio, Targets, Way, laid_out
from discreet.answer.estimators.design.opened import Opened
from discreet.learn.design import Design, Floats
from discreet.learn.shrunk import Shrinkage
from discreet.values.columns import is_ordered


class Shrunk(ByDesign):
    """Nearer to the truth than `design` on average, and not without bias."""

    basis: ClassVar[Basis] = Basis(
        "shrunk",
        "chance alone decided which people with the same value came into which group, as the release states, and that"
        " values differ as much as they seem to",
        ": on average it is nearer to the truth than `design`, but not without bias",
    )
    most: ClassVar[int] = 300  # values, whose matrices are computed in a second

    def way(self, opened: Opened) -> Way:
        return Shrunken(Shrinkage(opened.design, is_ordered(opened.values.type)))


@dataclass(frozen=True, eq=False)
class Shrunken:
    """COUNT, SUM and AVG as `linear` has them, shrunk."""

    shrinkage: Shrinkage

    def totals(self, design: Design, targets: Targets, means: Floats, rows: Numbers, keys: Numbers) -> Column:
        def some(rows: Numbers, keys: Numbers) -> tuple[Floats, Floats]:
            found, variance = self.shrinkage.totals(targets.wanted[keys], means[0][rows], means[-1][rows])
            return found, np.sqrt(variance)

        return _beside(linear.totals(design, targets, means, rows, keys), laid_out(design, some, rows, keys))

    def ratios(self, design: Design, ratio: Ratio, means: Floats, rows: Numbers, keys: Numbers) -> Column:
        def some(rows: Numbers, keys: Numbers) -> tuple[Floats, Floats]:
            mean = means[0][rows]
            above, below = ratio.above.wanted[keys], ratio.below.wanted[keys]
            (over, _), (under, spread) = (self.shrinkage.totals(each, mean, mean) for each in (above, below))
            found, enough = _divided(over, under, spread)
            _, variance = self.shrinkage.totals(above - np.nan_to_num(found)[:, None] * below, mean, mean)
            return ratio.start + ratio.scale * found, ratio.scale * np.sqrt(variance) / enough

        return _beside(linear.ratios(design, ratio, means, rows, keys), laid_out(design, some, rows, keys))

    def averages(self, design: Design, targets: Targets, means: Floats, rows: Numbers, keys: Numbers) -> Column:
        def some(rows: Numbers, keys: Numbers) -> tuple[Floats, Floats]:
            (count, total, squares), wanted = (each[rows] for each in means), targets.wanted[keys]
            (over, _), (under, spread) = (
                self.shrinkage.totals(wanted, *each) for each in ((total, squares), (count, count))
            )
            found, enough = _divided(over, under, spread)
            part = np.nan_to_num(found)[:, None]
            left = squares - 2 * part * total + part**2 * count
            _, variance = self.shrinkage.totals(wanted, total - part * count, left)
            return found, np.sqrt(variance) / enough

        return _beside(linear.averages(design, targets, means, rows, keys), laid_out(design, some, rows, keys))


def _divided(over: Floats, under: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """A ratio where enough rows match to have one, and what it was divided by."""
    enough = under > np.sqrt(spread)
    return np.divide(over, under, out=np.full_like(over, np.nan), where=enough), np.where(enough, under, 1)


def _beside(plain: Column, own: Column) -> Column:
    """Shrunk estimates; what they are further from the unbiased ones than their model allows is taken as bias."""
    if plain.stderr is None or own.stderr is None:
        return own
    off, allowed = own.estimate - plain.estimate, np.maximum(plain.stderr**2 - own.stderr**2, 0)
    beyond = np.where(np.isnan(off), 0, np.maximum(off**2 - allowed, 0))
    return Column(own.estimate, np.sqrt(own.stderr**2 + beyond))
