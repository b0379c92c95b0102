"""Who looks like whom: rows of a release and people, and the likeliest value of the rows that look like a person.

Every row has votes, the values that it may hold, one as likely as another; a person's guess is the value that most
votes of the rows which look like them are for, each row's votes counting as one.
Cost: sorting the rows and the people by how they look, then the votes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numba as nb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.guessing.guesses import Floats, Guesses, Ints
from discreet.audit.metrics.truth import places
from discreet.learn.view import View
from discreet.values.coded import combined

SAME = 1e-9  # votes, for rounding


class Votes(NamedTuple):
    """The values that each row may hold, one as likely as another: `several` of them, from the place `first`."""

    values: npt.NDArray[Any]
    first: Ints
    several: Ints

    @classmethod
    def of_groups(cls, view: View) -> Self:
        """Every value of a row's group."""
        sizes = np.diff(view.starts)
        return cls(view.held, np.repeat(view.starts[:-1], sizes), np.repeat(sizes, sizes))

    @classmethod
    def of_tables(cls, codes: npt.NDArray[Any]) -> Self:
        """What every row holds in each of some tables (tables x rows)."""
        tables, rows = codes.shape
        return cls(np.ascontiguousarray(codes.T).reshape(-1), np.arange(rows) * tables, np.full(rows, tables))


@dataclass(frozen=True, eq=False)
class Looks:
    """Those of look i are the `rows` from `ends[i]` to `ends[i + 1]`; `of` is the look of every person, or -1."""

    rows: Ints
    ends: Ints
    of: Ints

    @classmethod
    def among(cls, view: View, people: pa.Table) -> Self:
        quasi = [places(people[name], coded.values) for name, coded in view.quasi.items()]
        there = np.logical_and.reduce([codes >= 0 for codes in quasi])
        looks, _ = combined(
            [
                np.concatenate([coded.codes, codes[there]])
                for coded, codes in zip(view.quasi.values(), quasi, strict=True)
            ]
        )
        shown, number = np.unique(looks[: view.rows], return_inverse=True)
        at = np.minimum(np.searchsorted(shown, looks[view.rows :]), shown.size - 1)
        of = np.full(len(people), -1)
        of[there] = np.where(shown[at] == looks[view.rows :], at, -1)
        ends = np.searchsorted(np.sort(number), np.arange(shown.size + 1))
        return cls(np.argsort(number, kind="stable"), ends, of)

    @property
    def seen(self) -> npt.NDArray[np.bool_]:
        return self.of >= 0

    def guesses(self, view: View, votes: Votes, may: npt.NDArray[np.bool_], others: tuple[Ints, Floats]) -> Guesses:
        """The likeliest value for everybody; `others` are guesses of those who look like nobody, and how sure."""
        starts, codes, sure = _likeliest(self.rows, self.ends, *votes, may)
        unseen = np.flatnonzero(~self.seen)
        of = self.of.copy()
        of[unseen] = np.arange(unseen.size) + sure.size
        starts = np.concatenate([starts, starts[-1] + 1 + np.arange(unseen.size)])
        codes = np.concatenate([codes, others[0][unseen]])
        return Guesses(view.values, of, starts, codes, np.concatenate([sure, others[1][unseen]]), self.seen)


@nb.njit(cache=True, nogil=True)
def _likeliest(
    rows: Ints,
    ends: Ints,
    values: npt.NDArray[Any],
    first: Ints,
    several: Ints,
    may: npt.NDArray[np.bool_],
) -> tuple[Ints, Ints, Floats]:
    """For each look where its likeliest values start, those values, and the share of the votes for each of them."""
    looks = ends.size - 1
    starts, sure = np.zeros(looks + 1, np.int64), np.zeros(looks)
    codes, used = np.empty(max(looks, 1), np.int64), 0
    weight = np.zeros(may.size)
    for look in range(looks):
        most = 0.0
        for row in rows[ends[look] : ends[look + 1]]:
            for value in values[first[row] : first[row] + several[row]]:
                if may[value]:
                    weight[value] += 1 / several[row]
                    most = max(most, weight[value])
        for row in rows[ends[look] : ends[look + 1]]:
            for value in values[first[row] : first[row] + several[row]]:
                if most > 0 and weight[value] > most - SAME:
                    if used == codes.size:
                        codes = np.concatenate((codes, np.empty_like(codes)))
                    codes[used] = value
                    used += 1
                weight[value] = 0
        starts[look + 1] = used
        sure[look] = most / (ends[look + 1] - ends[look])
    return starts, codes[:used], sure
