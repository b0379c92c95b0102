"""Proximity: how near a number can be guessed, where values of a group lie close together.

A guess is right if the person's value lies within a share (`within`) of it. The attacker takes the learner's plausible
tables, and guesses where most of the votes of rows which look like the person lie within that reach; who is blind
takes all values of the group as equally likely, and guesses so, too. Beside them stand the best guess for everybody,
and how wide the values of a group lie.

Source: Li, Tao and Xiao, "Preservation of proximity privacy in publishing numerical sensitive data", SIGMOD 2008.
Cost: that of the tables; then the votes of every look, sorted.
Claim: proximity_is_that_of_the_best_window — as by trying every window.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numba as nb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.attacks.attack import Given, Progress, Rate, Success, Threat, check_found, silent
from discreet.audit.attacks.learner import votes
from discreet.audit.guessing.guesses import Flags, Floats, Ints, Scored, may_guess
from discreet.audit.guessing.scored import NO_HOLDOUT
from discreet.audit.places.looks import Looks, Votes
from discreet.audit.places.shown import Shown, shown
from discreet.learn.view import View
from discreet.release import Release
from discreet.release.groups import PUBLICATIONS
from discreet.values.columns import kind_of
from discreet.values.positions import measured

NUMBERS = {"integer", "float", "decimal"}


@dataclass(frozen=True, eq=False)
class Windows:
    """For every person the range that is guessed, how likely the attacker takes it to hold the value, and if seen."""

    low: Floats
    high: Floats
    sure: Floats
    seen: Flags

    def same(self, other: Windows) -> bool:
        """Whether the same is guessed of everybody."""
        return all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("low", "high", "sure", "seen")
        )

    def about(self, people: slice) -> Windows:
        return Windows(self.low[people], self.high[people], self.sure[people], self.seen[people])

    def scored(self, held: Floats, counted: Flags) -> Scored:
        """Whether the value of each person who counts lies in the range."""
        right = (self.low <= held) & (held <= self.high)
        return Scored(right[counted].astype(np.float64), self.sure[counted])


@dataclass(frozen=True)
class Proximity:
    """The attack, by the learner's tables."""

    name: ClassVar[str] = "proximity"
    threat: ClassVar[Threat] = Threat(
        knows="the quasi-identifiers of a person, and that the person is in the table",
        wants="the person's value, a number, within a few per cent",
        given="the release alone",
    )

    def suits(self, release: Release, given: Given) -> str | None:
        promise = release.promise
        if promise.publication not in PUBLICATIONS:
            return f"a release by `{promise.publication}` does not show rows as they are"
        known = given.once("shown", lambda: shown(release))
        if kind_of(known.view.values.type) not in NUMBERS:
            return f"`{promise.sensitive}` is not a number: no value is near another"
        return None

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Windows:
        known = given.once("shown", lambda: shown(release))
        return self._windows(release, known, people, votes(release, known, given, progress), given.within)

    def blind(self, release: Release, people: pa.Table, given: Given) -> Windows:
        known = given.once("shown", lambda: shown(release))
        return self._windows(release, known, people, Votes.of_groups(known.view), given.within)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        truth, quasi = given.scores(), [*release.promise.quasi]
        bare, known = replace(given, truth=None, holdout=None), given.once("shown", lambda: shown(release))
        people = truth.select(quasi)
        if given.holdout is not None:
            people = pa.concat_tables([people, given.holdout.select(quasi).cast(people.schema)])
        found, inside = self.guesses(release, people, bare, progress=progress), slice(0, len(truth))
        held = _numbers(truth, release, known)
        counted = found.about(inside).seen & ~np.isnan(held)
        check_found(int(counted.sum()))
        mine = found.about(inside).scored(held, counted)
        blind = self.blind(release, people.slice(0, len(truth)), bare).scored(held, counted)
        holdout: Rate | None = None
        notes: tuple[str, ...] = (f"right is a guess within {given.within:.0%} of the value",)
        if given.holdout is None:
            notes += (NO_HOLDOUT,)
        else:
            theirs = _numbers(given.holdout, release, known)
            out = found.about(slice(len(truth), None)).scored(theirs, ~np.isnan(theirs))
            holdout = out.rate() if out.people else None
        notes += ("`without` is the one guess that is best for everybody: no model of other people",)
        return Success(
            self.name,
            self.threat,
            mine.people,
            mine.rate(),
            blind.rate(),
            _for_everybody(held[counted], given.within),
            holdout,
            mine.at_recall(),
            notes,
            {"within": given.within, **_widths(known.view, given.within)},
        )

    def _windows(self, release: Release, known: Shown, people: pa.Table, votes: Votes, within: float) -> Windows:
        view = known.view
        looks, at = Looks.among(view, people), measured(view.values)
        may = may_guess(release, view.values) & ~np.isnan(at)
        low, high, sure = _best(looks.rows, looks.ends, *votes, at, may, within)
        counts = np.bincount(view.held, minlength=at.size)[may].astype(np.float64)
        other = _best_window(at[may], counts, within)
        look = np.maximum(looks.of, 0)
        seen = looks.seen
        return Windows(
            np.where(seen, low[look], other[0]),
            np.where(seen, high[look], other[1]),
            np.where(seen, sure[look], other[2] / max(counts.sum(), 1)),
            seen,
        )


def _numbers(people: pa.Table, release: Release, known: Shown) -> Floats:
    return measured(people[release.promise.sensitive_column].cast(known.view.values.type))


def _for_everybody(held: Floats, within: float) -> Rate:
    values, counts = np.unique(held, return_counts=True)
    return Rate.of(float(_best_window(values, counts.astype(np.float64), within)[2]), held.size)


def _widths(view: View, within: float) -> dict[str, Any]:
    """How wide the values of a person's group lie, and of how many people all of them lie within reach."""
    at = measured(view.values)[view.held]
    low, high = np.fmin.reduceat(at, view.starts[:-1]), np.fmax.reduceat(at, view.starts[:-1])
    sizes = np.diff(view.starts)
    width = np.repeat(high - low, sizes)
    inside = np.repeat(_reach(low, within)[1] >= high, sizes)
    return {
        "least_width": float(np.nanmin(width)),
        "median_width": float(np.nanmedian(width)),
        "table_width": float(np.nanmax(at) - np.nanmin(at)),
        "whole_group_within": float(inside.mean()),
    }


def _reach(low: Floats, within: float) -> tuple[Floats, Floats]:
    """The range, from here on, whose values are all within a share of one guess."""
    centre = low / np.where(low >= 0, 1 - within, 1 + within)
    return low, centre + within * np.abs(centre)


def _best_window(values: Floats, weight: Floats, within: float) -> tuple[float, float, float]:
    """The range within reach of one guess that has most weight; values are ascending."""
    if not values.size:
        return np.nan, np.nan, 0.0
    high = _reach(values, within)[1] * (1 + np.sign(values) * 1e-12) + 1e-300
    upto = np.concatenate([[0], np.cumsum(weight)])
    end = np.searchsorted(values, high, side="right")
    inside = upto[end] - upto[:-1]
    best = int(inside.argmax())
    return float(values[best]), float(high[best]), float(inside[best])


@nb.njit(cache=True, nogil=True)
def _best(  # noqa: C901 - a compiled loop
    rows: Ints,
    ends: Ints,
    values: npt.NDArray[Any],
    first: Ints,
    several: Ints,
    at: Floats,
    may: Flags,
    within: float,
) -> tuple[Floats, Floats, Floats]:
    """The same for the votes of every look; codes of values are ascending as the values are."""
    looks = ends.size - 1
    low, high, sure = np.full(looks, np.nan), np.full(looks, np.nan), np.zeros(looks)
    weight = np.zeros(at.size)
    for look in range(looks):
        number = 0
        for row in rows[ends[look] : ends[look + 1]]:
            number += several[row]
        held, number = np.empty(number, np.int64), 0
        for row in rows[ends[look] : ends[look + 1]]:
            for value in values[first[row] : first[row] + several[row]]:
                if may[value]:
                    if weight[value] == 0:
                        held[number] = value
                        number += 1
                    weight[value] += 1 / several[row]
        codes = np.sort(held[:number])
        end, inside = 0, 0.0
        for i in range(number):
            start = at[codes[i]]
            centre = start / (1 - within) if start >= 0 else start / (1 + within)
            reach = (centre + within * abs(centre)) * (1 + np.sign(start) * 1e-12) + 1e-300
            while end < number and at[codes[end]] <= reach:
                inside += weight[codes[end]]
                end += 1
            if inside > sure[look] * (1 + 1e-9):
                low[look], high[look], sure[look] = start, reach, inside
            inside -= weight[codes[i]]
        for code in codes:
            weight[code] = 0
        sure[look] /= ends[look + 1] - ends[look]
    return low, high, sure
