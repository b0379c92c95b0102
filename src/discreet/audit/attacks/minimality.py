"""Minimality: who knows how the partition decides asks why a cut was not made, and guesses by what that rules out.

Whoever is certain (`minimality.py`) is guessed so; of the others, any value of the person's group is as likely as
another. So a release in which nobody is certain is guessed as blindly as by anyone.

Source: Wong, Fu, Wang and Pei, "Minimality attack in privacy preserving data publishing", VLDB 2007.
Cost: that of playing the cuts again: rows x quasi-identifiers x log(rows).
Claim: who_is_certain_is_guessed — beside blind guesses of everybody else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.audit.attacks.attack import Given, Progress, Success, Threat, silent
from discreet.audit.attacks.learner import Learner
from discreet.audit.guessing.guesses import Guesses, may_guess
from discreet.audit.guessing.scored import scored
from discreet.audit.metrics.truth import places
from discreet.audit.places.looks import Looks, Votes
from discreet.audit.replay import minimality
from discreet.errors import ReleaseError
from discreet.learn.view import View
from discreet.release import Release

LOOK = {"local", "mondrian", "compact", "cluster", "topdown", "full_domain"}  # at sensitive values, before a cut


@dataclass(frozen=True)
class Minimality:
    """The attack on cuts that were not made."""

    name: ClassVar[str] = "minimality"
    threat: ClassVar[Threat] = Threat(
        knows="the quasi-identifiers of a person, that the person is in the table, and how the partition decides",
        wants="the person's sensitive value",
        given="the release alone",
    )

    def suits(self, release: Release, given: Given) -> str | None:
        del given
        promise = release.promise
        if promise.partition not in LOOK:
            return f"`{promise.partition}` refuses no cut because of the values on its sides"
        if promise.cuts == "blind":
            return f"`{promise.partition}` cut without looking at the values of the parts"
        return None

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Guesses:
        del given
        progress("playing the cuts again")
        found = minimality.attack(release)
        if found is None:
            promise = release.promise
            raise ReleaseError(
                f"how `{promise.partition}` decides with {promise.told()} cannot be played again"
                f" from a release by `{promise.publication}`",
                hint="nothing is known of this risk: choose blind cuts to be sure",
            )
        view = View.of(release)
        group = Votes.of_groups(view)
        rows = np.flatnonzero(found.certain)
        votes = Votes(
            np.concatenate([group.values, places(pa.chunked_array([found.values]), view.values)[rows]]),
            group.first.copy(),
            group.several.copy(),
        )
        votes.first[rows], votes.several[rows] = group.values.size + np.arange(rows.size), 1
        may, looks = may_guess(release, view.values), Looks.among(view, people)
        counts = np.where(may, np.bincount(view.held, minlength=may.size), 0)
        frequent = np.full(len(people), counts.argmax()), np.full(len(people), counts.max() / view.rows)
        guessed = looks.guesses(view, votes, may, frequent)
        supposing = () if found.supposing is None else (f"this supposes that {found.supposing}",)
        return replace(guessed, notes=supposing, details={"certain": found.people, "unique": found.named})

    def blind(self, release: Release, people: pa.Table, given: Given) -> Guesses:
        return Learner().blind(release, people, given)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        return scored(self, release, given, progress=progress)
