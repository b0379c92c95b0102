"""Presence: is a person in the table at all? Who finds nobody like them in the release knows that they are not.

Of as many people who were in the table as of others who were not, the attacker says "in" where rows of the release
could be theirs, and "out" where none could. Being in a table may be the secret itself, such as one of patients. The
blind guesser tosses a coin. The others are a holdout, or people of a public table who look like nobody in the table.

Cost: as of finding the rows that could be a person's (`matched.py`).
Claim: presence_is_told_as_counted — the same as by asking of each person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from discreet.audit.attacks.attack import Given, Progress, Rate, Success, Threat, silent
from discreet.audit.guessing.guesses import Flags, Floats, Ints, Scored
from discreet.audit.places.matched import both, candidates, known_of, looks
from discreet.errors import InputError
from discreet.release import Release

COIN = 0.5


@dataclass(frozen=True, eq=False)
class Found:
    """How many rows could be each person's."""

    rows: Ints

    @property
    def inside(self) -> Flags:
        return self.rows > 0

    @property
    def sure(self) -> Floats:
        """Whoever is nowhere is out for sure; of the others, the fewer the rows the surer."""
        return np.where(self.inside, COIN + COIN / np.maximum(self.rows, 1), 1.0)

    def same(self, other: Found) -> bool:
        return np.array_equal(self.rows, other.rows)


@dataclass(frozen=True)
class Presence:
    """The attack on being in the table."""

    name: ClassVar[str] = "presence"
    threat: ClassVar[Threat] = Threat(
        knows="quasi-identifiers of a person, all or some of them",
        wants="whether the person is in the table",
        given="the release alone",
    )

    def suits(self, release: Release, given: Given) -> str | None:
        del release, given
        return None

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Found:
        del given
        progress("looking for people")
        return Found(candidates(release, people.select([*known_of(release, people, "table")])))

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        truth, others = given.scores(), self._others(release, given)
        names = known_of(release, others, "holdout")
        several = min(len(truth), len(others))
        chance = np.random.default_rng(0)  # of no secret: who is asked of
        some, more = (chance.permutation(len(table))[:several] for table in (truth, others))
        asked = both(truth.take(pa.array(some)), others.take(pa.array(more)), names)
        found = self.guesses(release, asked, given, progress=progress)
        right = np.where(np.arange(2 * several) < several, found.inside, ~found.inside).astype(np.float64)
        scored = Scored(right, found.sure)
        outside = right[several:]
        return Success(
            self.name,
            self.threat,
            2 * several,
            scored.rate(),
            Rate.of(COIN * 2 * several, 2 * several),
            None,
            Rate.of(float(outside.sum()), several),
            scored.at_recall(),
            ("half of these people were in the table; what is told of the holdout is how many are told to be out",),
            {"inside": several, "found": int(right[:several].sum()), "outside": several, "out": int(outside.sum())},
        )

    def _others(self, release: Release, given: Given) -> pa.Table:
        """People who were not in the table."""
        if given.holdout is not None and len(given.holdout):
            return given.holdout
        if given.public is None:
            raise InputError(
                "nobody is known who was not in the table", hint="name such people with --holdout, or with --public"
            )
        truth, names = given.scores(), known_of(release, given.public, "public table")
        same = looks(both(truth, given.public, names))
        strange = ~np.isin(same[len(truth) :], same[: len(truth)])
        if not strange.any():
            raise InputError(
                "everybody of the public table looks like somebody in the table",
                hint="name people who were not in the table with --holdout",
            )
        return given.public.filter(pa.array(strange))
