"""Rows of a vault, ready to be cut where least is lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.partition.spatial.least_loss import Scale, cut, divide, numbers
from discreet.values.boxes import Box, mask
from discreet.values.columns import Column
from discreet.values.rule import Rule
from discreet.vault.safety import rule as vault_rule
from discreet.vault.tree.model import Cut, Flags, Floats, Ints

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Rows: a line of codes per column, sensitive values, and what columns cost.

    A missing value lies below all others of a range, as far off as these are wide.
    """

    codes: Codes
    values: Codes
    scale: Scale

    @classmethod
    def of(cls, points: Floats, sensitive: Ints, columns: tuple[Column, ...], space: Box) -> Pool:
        """Rows whose boxes are measured against a space that holds them."""
        codes, places, costs = np.zeros((len(columns), len(points)), np.int32), [], np.zeros(len(columns))
        for j, column in enumerate(columns):
            found = np.zeros(1)
            low, wide = space.lows[j], space.highs[j] - space.lows[j]
            if not np.isnan(low):
                here = np.where(np.isnan(points[:, j]), low - (wide or 1.0), points[:, j])
                found, codes[j] = np.unique(here, return_inverse=True)
            places.append(found)
            if not column.ordered:
                costs[j] = 1 / max(space.sets[j].bit_count(), 1)
            elif space.highs[j] > space.lows[j]:
                costs[j] = 1 / (space.highs[j] - space.lows[j])
        starts = np.cumsum([0, *(len(found) for found in places)]).astype(np.int64)
        is_set = np.array([not column.ordered for column in columns], np.bool_)
        scale = Scale(starts, np.concatenate([np.zeros(0), *places]), is_set, costs)
        return cls(codes, np.unique(sensitive, return_inverse=True)[1].astype(np.int32), scale)

    def cut(self, rows: Ints, rule: Rule, column: int = -1) -> tuple[int, Flags] | None:
        """The column of the best cut, in one column or in any, and which of some rows it puts to the left."""
        if rows.size < 2 * rule.k:
            return None
        left = np.empty(rows.size, np.bool_)
        found, _ = cut(self.codes, self.values, rows, self.scale, rule, column, numbers(self.scale), left)
        return (int(found), left) if found >= 0 else None

    def cuts(self, rows: Ints, tries: Sequence[Rule]) -> Iterator[tuple[int, Flags]]:
        """Cuts that are worth a try: the best of all, and the best of each column, each time something is asked."""
        best = self.cut(rows, tries[0])
        if best is None:
            return
        yield best
        seen = {best[1].tobytes()}
        for rule in tries:
            for column in range(len(self.codes)):
                found = self.cut(rows, rule, column)
                if found is not None and found[1].tobytes() not in seen:
                    seen.add(found[1].tobytes())
                    yield found

    def divide(self, rows: Ints, rule: Rule) -> tuple[Ints, Ints]:
        """Cut some rows, and parts again, until no cut saves anything: rows part by part, and where parts start."""
        order = rows.copy()
        return order, divide(self.codes, self.values, order, self.scale, rule)


def asked(rule: vault_rule.Rule, rows: int = 0) -> Rule:
    """What the parts of a cut must keep by a rule, and at least so many rows."""
    return Rule(max(rule.fewest, rows), rule.l, rule.distinct_l)


def cut_between(number: int, column: Column, left: Floats, right: Floats) -> Cut:
    """The cut of a column, which has this number, between the values of two sides."""
    if column.ordered:
        return Cut(number, low_end=float(left.max()), high_start=float(right.min()))
    return Cut(number, left=mask(left), right=mask(right))
