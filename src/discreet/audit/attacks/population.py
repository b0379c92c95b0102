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
from discreet.audit.guessing.guesses import Guesses, Ints, may_guess
from discreet.audit.guessing.inside import blindly, guessed, placed
from discreet.audit.guessing.model import fit, jointly
from discreet.audit.guessing.posterior import drawn_place
from discreet.audit.guessing.scored import scored
from discreet.audit.guessing.without import known_values
from discreet.audit.metrics.truth import places
from discreet.audit.places.shown import Shown, shown, why_not
from discreet.errors import InputError
from discreet.release import Release
from discreet.release.layouts import layout_of
from discreet.values.coded import Coded

FOLDS = 3
FEWEST = 12  # groups that are dealt into folds as a whole
CROWD = 100  # people of a group, too many to learn of one from the others


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
        may = may_guess(release, known.view.values)
        return guessed(known, model, rows, asked, people, may, given.groups)

    def blind(self, release: Release, people: pa.Table, given: Given) -> Guesses:
        return blindly(release, given.once("shown", lambda: shown(release)), people, given.groups)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        if given.population is not None:
            found = scored(self, release, given, progress=progress)
            return replace(found, notes=(*found.notes, *_fewer(release, given)))
        truth = given.scores()
        known = given.once("shown", lambda: shown(release))
        fold = _folds(known, truth, given.groups, places(truth[release.promise.sensitive_column], known.view.values))
        return scored(_InTurns(self, truth, fold), release, given, progress=progress)


def _fewer(release: Release, given: Given) -> tuple[str, ...]:
    """What is to be said of a population that has fewer people than the release."""
    people = release.promise.people or layout_of(release.promise).tally(release.promise).people
    if given.register is None or given.register >= people:
        return ()
    told = f"the population has {given.register:,} people, fewer than the {people:,} of the release"
    return (f"{told}: the table is no part of it, and who learned of more people may be right more often",)


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
                groups = None if given.groups is None else given.groups[mine]
                apart = replace(given, population=self.truth.take(pa.array(others)), groups=groups)
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


def _folds(known: Shown, truth: pa.Table, groups: Ints | None, held: Ints) -> Ints:
    """The fold of everybody: that of their group, so that no model has seen their neighbours; in a crowd, any.

    Of people who look the same it is not known who is in which group: one is drawn of those that hold the value.
    """
    chance = np.random.default_rng(0)
    if known.view.groups < FEWEST:
        return chance.permutation(held.size) % FOLDS
    if groups is None:
        look, _, where = placed(known, truth)
        groups = drawn_place(where, known.held, look, held, chance.random(held.size))
    fold = chance.permutation(known.view.groups) % FOLDS
    whole = (groups >= 0) & (known.held.sizes[groups] <= CROWD)
    found: Ints = np.where(whole, fold[groups], chance.integers(0, FOLDS, held.size))
    return found
