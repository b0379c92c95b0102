"""Divide a lot into groups, in the way that the policy of the vault chose.

    least_loss  cut where least is lost, by looking at the values of both sides (see `tree/pool.py`)
    blind       by the partition `compact`, whose cuts follow from quasi-identifiers and from what groups show
    fitted      by the partition `compact`, which cuts, groups neighbours and moves rows by looking at values
    of_people   where somebody may have several rows: groups of whole people, whose cuts are blind

All see the quasi-identifiers and values of the lot, and of earlier rows only how wide they are spread in each column.
Cost: as of the partition.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from discreet.errors import GuaranteeError
from discreet.guarantees import Guarantee
from discreet.partition import PARTITIONS
from discreet.partition.spatial.space import Dimension
from discreet.values.boxes import Box
from discreet.values.columns import Column
from discreet.values.random import RandomSource
from discreet.vault.safety.rule import Rule
from discreet.vault.tree.model import Floats, Ints, Rows
from discreet.vault.tree.pool import Pool, asked

Codes = npt.NDArray[np.int32]
Parts = tuple[Ints, Ints]  # rows group by group, and where groups start


def divide(lot: Rows, columns: tuple[Column, ...], space: Box, rule: Rule) -> Parts:
    """The groups of a lot that may leave; nobody has several rows, and the space holds everybody."""
    if rule.cuts == "least_loss":
        pool = Pool.of(lot.points, lot.sensitive, columns, space)
        return pool.divide(np.arange(len(lot)), asked(rule))
    seen = [_dimension(lot.points[:, j], columns, space, j) for j in range(len(columns))]
    held = np.unique(lot.sensitive, return_inverse=True)[1].astype(np.int32)
    made = PARTITIONS["compact"].assign(seen, held, _guarantee(rule), RandomSource(), {"cuts": rule.cuts})
    return _in_order(made)


def of_people(pool: Pool, people: Codes, rule: Rule, *, told: bool = False) -> Parts | None:
    """The same of people who may have several rows; if `told`, raise with why the lot cannot leave."""
    from discreet.partition.people.people import assign

    if people.max(initial=-1) + 1 < rule.smallest_lot:
        return None
    try:
        groups = assign(list(pool.codes), people, pool.values, _guarantee(rule), RandomSource(), lots=rule.lots or 1)
    except GuaranteeError:
        if told:
            raise
        return None
    return _in_order(groups)


def _guarantee(rule: Rule) -> Guarantee:
    asked_ = {"k": rule.k, "l": rule.l, "distinct_l": rule.distinct_l}
    return Guarantee.of({name: threshold for name, threshold in asked_.items() if threshold > 1})


def _in_order(groups: npt.NDArray[np.integer]) -> Parts:
    order = np.argsort(groups, kind="stable")
    return order, np.flatnonzero(np.diff(groups[order], prepend=-1))


def _dimension(here: Floats, columns: tuple[Column, ...], space: Box, j: int) -> Dimension:
    """A quasi-identifier of a lot as partitions see it, as wide as that of everybody; a missing value is last."""
    if not columns[j].ordered:
        return Dimension(here.astype(np.int32), max(space.sets[j].bit_length(), 1))
    absent, ends = np.isnan(here), np.array([space.lows[j], space.highs[j]])
    values = np.unique(np.concatenate([here[~absent], ends[~np.isnan(ends)]]))
    codes = np.where(absent, values.size, np.searchsorted(values, here)).astype(np.int32)
    missing = bool(absent.any())
    places = np.zeros(values.size + missing)
    if values.size and (wide := values[-1] / 2 - values[0] / 2) > 0:  # halves: a difference may be too large a float
        places[: values.size] = (values / 2 - values[0] / 2) / wide
    if values.size and missing:
        places[-1] = places[values.size - 1] + 1
    return Dimension(codes, places.size, places, missing=missing)
