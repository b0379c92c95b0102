"""What a model knows of a row: its quasi-identifiers as levels and smooth curves, alone and in pairs.

A quasi-identifier of numbers or dates gives two curves (a line and a parabola over its ranks) and levels: its values,
or bands of equal size if they are many. Any other gives its values as levels, the rarest together. A missing value is a
level of its own, outside the curves. A pair gives products: of curves where it has them, of a curve and levels, of
levels. As pairs grow with the square of columns, those come first whose columns tell most of the values, and all
features together are at most `MOST`.
Cost: rows x log(rows) for the distinct combinations, then combinations x features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt

from discreet.values.coded import Coded
from discreet.values.columns import is_ordered

LEVELS, BANDS = 24, 16  # of a quasi-identifier
MOST = 320  # features in all
PRODUCTS = 48  # levels of a pair of two columns without curves

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Column:
    """For every code of a quasi-identifier its level, and the curves there: none, a line, or a line and a parabola."""

    level: Ints
    levels: int
    curves: Floats  # codes x curves

    @classmethod
    def of(cls, coded: Coded, levels: int = LEVELS) -> Column:
        counts = np.bincount(coded.codes, minlength=len(coded.values)).astype(np.float64)
        missing = np.zeros(counts.size, np.bool_)
        missing[-1] = bool(coded.values.null_count)
        if not is_ordered(coded.values.type):
            level = commonest(counts, levels)
            return cls(level, int(level.max()) + 1, np.zeros((counts.size, 0), np.float32))
        known = np.where(missing, 0, counts)
        rank = (np.cumsum(known) - known / 2) / max(known.sum(), 1)
        curves = polynomials(rank, known, min(2, int((known > 0).sum()) - 1))
        level = bands(rank, np.where(missing, 0, counts) > 0, levels, BANDS)
        level[missing] = level.max() + 1
        return cls(level, int(level.max()) + 1, curves)


@dataclass(frozen=True, eq=False)
class Block:
    """Features of one kind: for every code of one or two columns which of them it has, and how much."""

    columns: tuple[int, ...]
    curves: tuple[int, ...] = ()  # of the columns in turn: the curve that is a factor, or -1 for the levels
    size: int = 1
    chosen: Ints | None = field(default=None)  # of products of levels, the feature that each is; -1 for none

    @property
    def pair(self) -> bool:
        return len(self.columns) == 2

    @property
    def levels(self) -> bool:
        return -1 in self.curves


@dataclass(frozen=True, eq=False)
class Features:
    """The features of rows: columns as they are coded, and blocks of features over them."""

    columns: tuple[Column, ...]
    blocks: tuple[Block, ...]

    @property
    def sizes(self) -> list[int]:
        return [block.size for block in self.blocks]

    @property
    def families(self) -> tuple[list[bool], Ints]:
        """Families of features that share their spread, whether each is of pairs, and the family of every feature.

        All curves of single columns are one, and all products of curves: each alone is too few to tell a spread.
        """
        names = [(block.pair, block.columns if block.levels or not block.columns else None) for block in self.blocks]
        known = {name: i for i, name in enumerate(dict.fromkeys(names))}
        family = np.repeat([known[name] for name in names], self.sizes).astype(np.int32)
        return [pair for pair, _ in known], family

    def of(self, codes: Sequence[npt.NDArray[np.integer]]) -> Floats:
        """The features of rows, given their codes column by column."""
        rows = len(codes[0]) if codes else 1
        found = np.zeros((rows, sum(self.sizes)), np.float32)
        start, every = 0, np.arange(rows)
        for block in self.blocks:
            at, weight = np.zeros(rows, np.int64), np.ones(rows, np.float32)
            for column, curve in zip(block.columns, block.curves, strict=True):
                if curve < 0:
                    at = at * self.columns[column].levels + self.columns[column].level[codes[column]]
                else:
                    weight = weight * self.columns[column].curves[codes[column], curve]
            if block.chosen is not None:
                at = block.chosen[at].astype(np.int64)
            has = at >= 0
            found[every[has], start + at[has]] = weight[has]
            start += block.size
        return found


def features(quasi: Sequence[Coded], told: npt.NDArray[np.float64] | None = None, *, pairs: int = MOST) -> Features:
    """The features for these columns; pairs of those that tell most (by `told`) first, as many as there is room for."""
    room = max(4, min(LEVELS, MOST // (2 * max(len(quasi), 1))))
    columns = tuple(Column.of(each, room) for each in quasi)
    blocks = [Block(())]
    for i, column in enumerate(columns):
        curves = column.curves.shape[1]
        blocks += [Block((i,), (curve,)) for curve in range(curves)]
        if column.levels > curves + 1:
            blocks.append(Block((i,), (-1,), column.levels))
    used = sum(block.size for block in blocks)
    order = np.arange(len(columns)) if told is None else np.argsort(-told, kind="stable")
    place = {int(column): i for i, column in enumerate(order)}
    for i, j in sorted(combinations(range(len(columns)), 2), key=lambda pair: sum(place[each] for each in pair)):
        for block in _products(i, j, columns, quasi):
            if used + block.size <= min(MOST, pairs):
                blocks.append(block)
                used += block.size
    return Features(columns, tuple(blocks))


def _products(i: int, j: int, columns: Sequence[Column], quasi: Sequence[Coded]) -> list[Block]:
    one, other = columns[i], columns[j]
    if one.curves.shape[1] and other.curves.shape[1]:
        orders = [(a, b) for a in range(one.curves.shape[1]) for b in range(other.curves.shape[1]) if a + b < 2]
        return [Block((i, j), each) for each in orders]
    if other.curves.shape[1]:
        return [Block((i, j), (-1, 0), one.levels)]
    if one.curves.shape[1]:
        return [Block((i, j), (0, -1), other.levels)]
    both = one.level[quasi[i].codes].astype(np.int64) * other.levels + other.level[quasi[j].codes]
    counts = np.bincount(both, minlength=one.levels * other.levels)
    kept = np.argsort(-counts, kind="stable")[: min(PRODUCTS, int((counts > 0).sum()))]
    chosen = np.full(counts.size, -1, np.int32)
    chosen[kept] = np.arange(kept.size)
    return [Block((i, j), (-1, -1), kept.size, chosen)]


def polynomials(rank: npt.NDArray[np.float64], weight: npt.NDArray[np.float64], most: int) -> Floats:
    """Polynomials of rising degree over ranks, each with mean 0, mean square 1 and at right angles to those before."""
    found: list[npt.NDArray[np.float64]] = [np.ones(rank.size)]
    share = weight / max(weight.sum(), 1e-300)
    for degree in range(1, most + 1):
        curve = (2 * rank - 1) ** degree
        for before in found:
            curve = curve - (share * curve * before).sum() * before
        size = np.sqrt((share * curve**2).sum())
        if size < 1e-6:
            break
        found.append(curve / size)
    curves = np.stack(found[1:], 1) if len(found) > 1 else np.zeros((rank.size, 0))
    curves[weight == 0] = 0
    return np.clip(curves, -5, 5).astype(np.float32)


def bands(rank: npt.NDArray[np.float64], known: npt.NDArray[np.bool_], levels: int, most: int) -> Ints:
    """Every value a band of its own, or bands that hold about as many rows each."""
    if known.sum() <= levels:
        band = np.cumsum(known) - 1
    else:
        band = np.minimum(rank * most, most - 1).astype(np.int64)
        band = np.unique(band, return_inverse=True)[1]
    found: Ints = np.maximum(band, 0).astype(np.int32)
    return found


def commonest(counts: npt.NDArray[np.float64], most: int) -> Ints:
    """Every value a level, in order; of more than `most` the rarest share the last."""
    if counts.size <= most:
        return np.arange(counts.size, dtype=np.int32)
    level = np.full(counts.size, most - 1, np.int32)
    level[np.argsort(-counts, kind="stable")[: most - 1]] = np.arange(most - 1)
    return level
