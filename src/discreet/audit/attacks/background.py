"""Background knowledge: who knows that a person does not hold some of the group's values, or knows neighbours' values.

The attacker is told `exclude` values of the person's group that are not the person's, taken at random from those that
are not, strikes them out, and guesses the likeliest of the rest by the learner's plausible tables; who is blind is told
the same, and takes what is left of the group as equally likely. What is told depends on the person's value, but not
what is guessed before: `guesses` are those of one who was told nothing. In `details` are the same for 1 to 3 values,
blind guesses of one who knows as many neighbours' values, and how many it takes until nothing is left to guess.

Source: Martin et al., "Worst-case background knowledge for privacy-preserving data publishing", ICDE 2007.
Cost: that of the tables; then people x votes of the rows that look like them.
Claim: exclusions_are_counted_as_by_hand — as by trying every choice of values to exclude.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numba as nb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.attacks.attack import Given, Progress, Rate, Success, Threat, check_found, silent
from discreet.audit.attacks.learner import Learner, votes
from discreet.audit.guessing.guesses import Flags, Floats, Guesses, Ints, Scored, may_guess
from discreet.audit.metrics.truth import places
from discreet.audit.places.looks import Looks, Votes
from discreet.audit.places.shown import Shown, shown
from discreet.release import Release
from discreet.release.groups import PUBLICATIONS

LEARNER = Learner()
MOST = 3  # values, or neighbours, in the details
NOTHING = (
    "`without` has no meaning: without the release nobody knows which values to exclude",
    "`holdout` has no meaning: nothing is known of a group that the person is not in",
)


@dataclass(frozen=True)
class Background:
    """The attack, by the learner's tables."""

    name: ClassVar[str] = "background"
    threat: ClassVar[Threat] = Threat(
        knows="the quasi-identifiers of a person, that the person is in the table, and some values of the person's"
        " group that are not the person's",
        wants="the person's sensitive value",
        given="the release alone",
    )

    def suits(self, release: Release, given: Given) -> str | None:
        del given
        if release.promise.publication in PUBLICATIONS:
            return None
        return f"a release by `{release.promise.publication}` does not show who is in a group"

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Guesses:
        return LEARNER.guesses(release, people, given, progress=progress)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        truth, known = given.scores(), given.once("shown", lambda: shown(release))
        tables = votes(release, known, given, progress)
        progress("excluding values")
        attacked = _Attacked.of(release, known, truth)
        check_found(attacked.held.size)
        groups = Votes.of_groups(known.view)
        found = {}
        for exclude in sorted({*range(MOST + 1), given.exclude}):
            found[exclude] = tuple(attacked.told(exclude, votes, known) for votes in (tables, groups))
        mine, blind = found[given.exclude]
        return Success(
            self.name,
            self.threat,
            mine.people,
            mine.rate(),
            blind.rate(),
            at_recall=mine.at_recall(),
            notes=(f"the attacker is told {given.exclude} of the group's values that are not the person's", *NOTHING),
            details={
                "excluding": {n: {"attacker": a.rate(), "blind": b.rate()} for n, (a, b) in found.items()},
                "knowing_neighbours": {n: attacked.beside(n, known) for n in range(MOST + 1)},
                "until_certain": attacked.certain(known),
            },
        )


@dataclass(frozen=True, eq=False)
class _Attacked:
    """People who count: their looks, what they hold, and the group of a row that looks like them, any if several do."""

    looks: Looks
    look: Ints
    held: Ints
    group: Ints
    may: Flags

    @classmethod
    def of(cls, release: Release, known: Shown, truth: pa.Table) -> _Attacked:
        view = known.view
        looks, held = Looks.among(view, truth), places(truth[release.promise.sensitive_column], view.values)
        may = may_guess(release, view.values)
        counted = looks.seen & (held >= 0) & may[np.maximum(held, 0)]
        look, held = looks.of[counted], held[counted]
        chance = np.random.default_rng(1)
        at = looks.ends[look] + (chance.random(look.size) * np.diff(looks.ends)[look]).astype(np.int64)
        group = np.repeat(np.arange(view.groups), np.diff(view.starts))[looks.rows[at]]
        return cls(looks, look, held, group, may)

    def told(self, exclude: int, votes: Votes, known: Shown) -> Scored:
        """How guesses go if so many wrong values of each person's group are known."""
        chance = np.random.default_rng(2).random((self.look.size, max(exclude, 1)))
        view = known.view
        right, sure = _excluding(
            self.looks.rows,
            self.looks.ends,
            self.look,
            self.held,
            *votes,
            view.starts,
            view.held,
            self.group,
            self.may,
            exclude,
            chance,
        )
        return Scored(right, sure)

    def beside(self, neighbours: int, known: Shown) -> Rate:
        """How often the likeliest value of what is left of the group is right, if so many others' values are known."""
        chance = np.random.default_rng(3).random((self.look.size, max(neighbours, 1)))
        right = _knowing(self.group, self.held, known.view.starts, known.view.held, self.may, neighbours, chance)
        return Rate.of(float(right.sum()), right.size)

    def certain(self, known: Shown) -> dict[str, Any]:
        """How many values to exclude, or neighbours to know, until one value is left: at least, and for the median."""
        held = known.held
        distinct = np.diff(held.first)[self.group] - 1
        key = np.repeat(np.arange(held.sizes.size), np.diff(held.first)) * (self.may.size + 1) + held.value
        line = np.minimum(np.searchsorted(key, self.group * (self.may.size + 1) + self.held), key.size - 1)
        own = np.where(held.value[line] == self.held, held.several[line], 1)
        others = held.sizes[self.group] - own
        return {
            "values": {"least": int(distinct.min()), "median": float(np.median(distinct))},
            "neighbours": {"least": int(others.min()), "median": float(np.median(others))},
        }


@nb.njit(cache=True, nogil=True)
def _excluding(
    rows: Ints,
    ends: Ints,
    look: Ints,
    held: Ints,
    values: npt.NDArray[Any],
    first: Ints,
    several: Ints,
    starts: Ints,
    group_values: npt.NDArray[Any],
    group: Ints,
    may: Flags,
    exclude: int,
    chance: Floats,
) -> tuple[Floats, Floats]:
    """For every person how likely the likeliest value that is left is right, and the share of the votes it has."""
    right, sure = np.zeros(look.size), np.zeros(look.size)
    weight, out = np.zeros(may.size), np.zeros(may.size, np.bool_)
    for i in range(look.size):
        wrong = np.unique(group_values[starts[group[i]] : starts[group[i] + 1]])
        wrong = wrong[wrong != held[i]]
        several_out = min(exclude, wrong.size)
        for turn in range(several_out):
            at = turn + int(chance[i, turn] * (wrong.size - turn))
            wrong[turn], wrong[at] = wrong[at], wrong[turn]
            out[wrong[turn]] = True
        most, total = 0.0, 0.0
        for row in rows[ends[look[i]] : ends[look[i] + 1]]:
            for value in values[first[row] : first[row] + several[row]]:
                if may[value] and not out[value]:
                    weight[value] += 1 / several[row]
                    total += 1 / several[row]
                    most = max(most, weight[value])
        ties, mine = 0, weight[held[i]]
        for row in rows[ends[look[i]] : ends[look[i] + 1]]:
            for value in values[first[row] : first[row] + several[row]]:
                ties += most > 0 and weight[value] > most - 1e-9
                weight[value] = 0
        if most > 0 and mine > most - 1e-9:
            right[i] = 1 / ties
        sure[i] = most / total if total > 0 else 0.0
        for turn in range(several_out):
            out[wrong[turn]] = False
    return right, sure


@nb.njit(cache=True, nogil=True)
def _knowing(
    group: Ints,
    held: Ints,
    starts: Ints,
    group_values: npt.NDArray[Any],
    may: Flags,
    neighbours: int,
    chance: Floats,
) -> Floats:
    """For every person how likely the most frequent value that neighbours leave is right."""
    right, count = np.zeros(held.size), np.zeros(may.size, np.int64)
    for i in range(held.size):
        others = group_values[starts[group[i]] : starts[group[i] + 1]].copy()
        for at in range(others.size):
            if others[at] == held[i]:
                others[at] = others[-1]
                break
        n = others.size - 1
        for turn in range(min(neighbours, n)):
            at = turn + int(chance[i, turn] * (n - turn))
            others[turn], others[at] = others[at], others[turn]
        left = others[min(neighbours, n) : n]
        count[held[i]] += 1
        most = count[held[i]]
        for value in left:
            if may[value]:
                count[value] += 1
                most = max(most, count[value])
        ties = 0
        mine = count[held[i]]
        for value in left:
            ties += count[value] == most and value != held[i]
            count[value] = 0
        if mine == most:
            right[i] = 1 / (1 + ties)
        count[held[i]] = 0
    return right
