"""The learner: who fits a model to the released files guesses people's values better than blindly; here, how much.

The attacker knows a person's quasi-identifiers and that the person is in the table. He learns from the groups how
values go with quasi-identifiers (`guessing/learned.py`), and weighs the values of the groups that the person may be in
by that model, jointly with all rows of a group (`guessing/posterior.py`). Where rows are not shown as they are, rows
that stand for them are taken (`places/shown.py`). Of somebody who looks like nobody, the model alone is asked.

Source: Kifer, "Attacks on privacy and deFinetti's theorem", SIGMOD 2009.
Cost: that of the model; then rows x values of a group, and different people x the same.
Claim: learner_beats_the_promise_where_values_follow — and only guesses blindly where they do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.audit.attacks.attack import Given, Progress, Success, Threat, silent
from discreet.audit.guessing.guesses import Guesses, may_guess
from discreet.audit.guessing.inside import blindly, guessed
from discreet.audit.guessing.learned import learn, tables
from discreet.audit.guessing.model import Model
from discreet.audit.guessing.scored import scored
from discreet.audit.places.looks import Votes
from discreet.audit.places.shown import Shown, shown, why_not
from discreet.learn.plausible import secret_of
from discreet.release import Release
from discreet.values.coded import Coded, code

TABLES = 50  # in which attacks by votes look for values


@dataclass(frozen=True)
class Learner:
    """The attack."""

    name: ClassVar[str] = "learner"
    threat: ClassVar[Threat] = Threat(
        knows="the quasi-identifiers of a person, and that the person is in the table",
        wants="the person's sensitive value",
        given="the release alone",
    )

    def suits(self, release: Release, given: Given) -> str | None:
        del given
        return why_not(release)

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Guesses:
        known = given.once("shown", lambda: shown(release))
        model = learned(known, given, progress)
        progress("guessing")
        rows = [*known.view.quasi.values()]
        asked = [_nearest(people[name], each) for name, each in known.view.quasi.items()]
        return guessed(known, model, rows, asked, people, may_guess(release, known.view.values), given.groups)

    def blind(self, release: Release, people: pa.Table, given: Given) -> Guesses:
        """Any value of the person's group, the most frequent ones if they are not equally frequent."""
        return blindly(release, given.once("shown", lambda: shown(release)), people, given.groups)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        return scored(self, release, given, progress=progress)


def learned(known: Shown, given: Given, progress: Progress) -> Model:
    """What the groups teach, learned once for all attacks."""
    return given.once("learned", lambda: learn(known.view, progress))


def votes(release: Release, known: Shown, given: Given, progress: Progress) -> Votes:
    """The values that each row may hold by what is learned, in plausible tables; found once for several attacks."""

    def find() -> Votes:
        model = learned(known, given, progress)
        progress("drawing")
        if not model.strength:
            return Votes.of_groups(known.view)
        return Votes.of_tables(tables(known.view, model, TABLES, secret_of(release)))

    return given.once("votes", find)


def _nearest(column: pa.ChunkedArray, known: Coded) -> Coded:
    """A column as codes of values that are known; of any other value, that before it in order, or the first."""
    type_ = known.values.type
    both = code(pa.chunked_array([known.values, *column.cast(type_).chunks], type_)).codes
    values, asked = both[: len(known.values)], both[len(known.values) :]
    return Coded(np.maximum(np.searchsorted(values, asked, side="right") - 1, 0), known.values)
