"""Who knows the population's model, the sensitive value given the quasi-identifiers, and holds the release.

The model is fitted to other people: to a population that is given, else to those of the truth who are not in the groups
of whoever is attacked. That excludes neighbours, too: who has learned a neighbour's value by heart would know what is
left for the others. Inside a group a person's value is weighed by the model and by the values that the group has,
jointly with all rows of the group (`posterior.py`).
Cost: that of `FOLDS` models, and of going over all groups with each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.audit.attacks.attack import Given, Progress, Success, Threat, silent
from discreet.audit.attacks.guesses import Guesses, Ints, may_guess
from discreet.audit.attacks.inside import blindly, guessed
from discreet.audit.attacks.model import fit, jointly
from discreet.audit.attacks.scored import scored
from discreet.audit.attacks.shown import Shown, shown, why_not
from discreet.audit.attacks.without import known_values
from discreet.errors import InputError
from discreet.release import Release
from discreet.values.coded import Coded, combined

FOLDS = 3
FEWEST = 12  # groups that are dealt into folds as a whole


@dataclass(frozen=True)
class Population:
    """The attack."""

    name: ClassVar[str] = "population"
    threat: ClassVar[Threat] = Threat(
        knows="the quasi-identifiers of a person, that the person is in the table, and how values go with"
        " quasi-identifiers among other people",
        wants="the person's sensitive value",
        given="the release, and a table of other people with their values",
    )

    def suits(self, release: Release, given: Given) -> str | None:
        del given
        return why_not(release)

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Guesses:
        if given.population is None:
            raise InputError("no population is given to learn from", hint="name a table of other people")
        progress("reading the release")
        known = given.once("shown", lambda: shown(release))
        held, names = known_values(release, known.view.values, given.population), release.promise.quasi
        columns = [known.columns, [people[name] for name in names], [given.population[name] for name in names]]
        rows, asked, learned = jointly(columns)
        there = held >= 0
        progress("fitting a model of other people")
        model = fit([Coded(each.codes[there], each.values) for each in learned], held[there], known.view.values)
        progress("guessing")
        return guessed(known, model, rows, asked, people, may_guess(release, known.view.values))

    def blind(self, release: Release, people: pa.Table, given: Given) -> Guesses:
        return blindly(release, given.once("shown", lambda: shown(release)), people)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        if given.population is not None:
            return scored(self, release, given, progress=progress)
        truth = given.scores()
        known = given.once("shown", lambda: shown(release))
        fold = _folds(known, truth.select([*release.promise.quasi]))
        return scored(_InTurns(self, truth, fold), release, given, progress=progress)


@dataclass(frozen=True, eq=False)
class _InTurns:
    """The same attack with a population for everybody: those of the truth who are in other folds."""

    attack: Population
    truth: pa.Table
    fold: Ints

    @property
    def name(self) -> str:
        return self.attack.name

    @property
    def threat(self) -> Threat:
        return self.attack.threat

    def suits(self, release: Release, given: Given) -> str | None:
        return self.attack.suits(release, given)

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Guesses:
        """Of people beyond those of the truth, who are not in it, by the first of the models."""
        fold = np.concatenate([self.fold, np.zeros(len(people) - self.fold.size, np.int64)])
        parts, order = [], []
        for turn in range(FOLDS):
            mine, others = np.flatnonzero(fold == turn), np.flatnonzero(self.fold != turn)
            if mine.size and others.size:
                apart = replace(given, population=self.truth.take(pa.array(others)))
                some = people.take(pa.array(mine))
                parts.append(self.attack.guesses(release, some, apart, progress=progress))
                order.append(mine)
        if not parts:
            raise InputError("there are too few people to learn of others", hint="give a population")
        return Guesses.joined(parts, order)

    def blind(self, release: Release, people: pa.Table, given: Given) -> Guesses:
        return self.attack.blind(release, people, given)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        return self.attack.run(release, given, progress=progress)


def _folds(known: Shown, people: pa.Table) -> Ints:
    """The fold of everybody: that of the group which they may be in, one of them at random where they are several."""
    chance = np.random.default_rng(0)
    [asked] = jointly([people.columns])
    look, first = combined([each.codes for each in asked])
    places = known.where(people.take(pa.array(first)))
    several = np.diff(places.ends)[look]
    at = places.ends[look] + (chance.random(look.size) * several).astype(np.int64)
    if known.view.groups < FEWEST:  # nothing is learned of a neighbour in a crowd
        return chance.permutation(look.size) % FOLDS
    fold = chance.permutation(known.view.groups) % FOLDS
    free = chance.integers(0, FOLDS, look.size)
    found: Ints = np.where(several > 0, fold[places.group[np.minimum(at, places.group.size - 1)]], free)
    return found
