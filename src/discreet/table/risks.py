"""The risks of a private table as it is, and which few columns together single people out most.

Of large tables, combinations are measured on rows drawn at random, always the same ones; among fewer rows more look
like no other, so that these shares are too high, while their order is right.
Cost: a sort of the rows, and one of at most 200,000 for every one, two and three of at most eight columns.
Claim: riskiest_combinations_are_found — the same as by counting every combination.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.risk.risks import Risks, of_rows
from discreet.table.table import Table
from discreet.values.coded import combined

DRAWN = 200_000
COLUMNS = 8  # those with the most values
TOGETHER = (1, 2, 3)
SHOWN = 3  # of one size


@dataclass(frozen=True, slots=True)
class Combination:
    """Some columns: the share of the records that look like no other by them, and the average risk of a record."""

    columns: tuple[str, ...]
    unique: float
    average: float
    sampled: bool


def risks(
    table: Table,
    quasi: Sequence[str],
    *,
    sensitive: str | None = None,
    spared: npt.NDArray[np.bool_] | None = None,
    person: str | None = None,
) -> Risks:
    """The risks of a table to whoever knows the quasi-identifiers of everybody in it.

    Where people may have several rows, each counts once for every look, and nothing is said of their values.
    """
    codes = [table.codes(name).codes for name in quasi]
    classes, _ = combined(codes)
    if person is not None:
        _, first = combined([classes, table.codes(person).codes])
        return of_rows(tuple(quasi), classes[first], None)
    values = None if sensitive is None else table.codes(sensitive)
    ordered = sensitive is not None and table[sensitive].ordered
    held = None if values is None else values.codes
    return of_rows(tuple(quasi), classes, held, ordered=ordered, spared=spared)


def riskiest(table: Table, quasi: Sequence[str]) -> tuple[Combination, ...]:
    """The columns, twos and threes by which most rows look like no other, of each size the first few."""
    some = None
    if table.rows > DRAWN:
        some = np.sort(np.random.default_rng(DRAWN).permutation(table.rows)[:DRAWN])
    codes = {name: table.codes(name, at=some) for name in dict.fromkeys(quasi)}
    chosen = sorted(codes, key=lambda name: -codes[name].size)[:COLUMNS]
    chosen = [name for name in codes if name in chosen]
    columns = {name: codes[name].codes for name in chosen}
    return tuple(_worst(columns, sampled=some is not None))


def _worst(columns: dict[str, npt.NDArray[Any]], *, sampled: bool) -> Iterator[Combination]:
    for size in TOGETHER:
        if size > len(columns):
            return
        found = []
        for names in combinations(columns, size):
            counts = np.bincount(combined([columns[name] for name in names])[0])
            rows = int(counts.sum())
            found.append(
                Combination(names, float(np.count_nonzero(counts == 1) / rows), counts.size / rows, sampled=sampled)
            )
        yield from sorted(found, key=lambda each: (-each.unique, -each.average))[:SHOWN]
