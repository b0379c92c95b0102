"""The learner: who fits a model to the released files guesses people's values better than blindly; here, how much.

The attacker knows a person's quasi-identifiers and that the person is in the table. He guesses the value that rows
which look like the person hold most often in plausible tables (`learn/`), drawn from the files alone; of somebody who
looks like nobody, the value that naive Bayes over those tables finds likeliest. Chance follows from the files.

Source: Kifer, "Attacks on privacy and deFinetti's theorem", SIGMOD 2009.
Cost: that of the tables; then rows x tables, rows x rows of a group, and different people x values.
Claim: learner_beats_the_promise_where_values_follow — and only guesses blindly where they do not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.attacks.attack import Given, Progress, Success, Threat, silent
from discreet.audit.attacks.guesses import Flags, Floats, Guesses, Ints, may_guess
from discreet.audit.attacks.looks import Looks, Votes
from discreet.audit.attacks.population import banded, naive_bayes
from discreet.audit.attacks.scored import scored
from discreet.learn.draws import Name, draw
from discreet.learn.plausible import secret_of
from discreet.learn.view import View
from discreet.release import Release
from discreet.release.groups import PUBLICATIONS

TABLES = 50  # in which a person's likeliest value is looked for
ASKED = 10  # of them, for people who look like nobody


@dataclass(frozen=True)
class Learner:
    """The attack by so many plausible tables of a model."""

    tables: int = TABLES
    model: Name = "learned"
    name: ClassVar[str] = "learner"
    threat: ClassVar[Threat] = Threat(
        knows="the quasi-identifiers of a person, and that the person is in the table",
        wants="the person's sensitive value",
        given="the release alone",
    )

    def suits(self, release: Release, given: Given) -> str | None:
        del given
        if release.promise.publication in PUBLICATIONS:
            return None
        return f"a release by `{release.promise.publication}` does not show rows as they are"

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Guesses:
        del given
        view = View.of(release)
        drawn = draw(view, self.tables, model=self.model, secret=secret_of(release), progress=progress)
        progress("guessing")
        may, looks = may_guess(release, view.values), Looks.among(view, people)
        others = _unseen(view, drawn.codes[:ASKED], looks, may)
        found = looks.guesses(view, Votes.of_tables(drawn.codes), may, others)
        return replace(found, notes=drawn.fit.notes, details={"fit": drawn.fit})

    def blind(self, release: Release, people: pa.Table, given: Given) -> Guesses:
        """Any value of the person's group, the most frequent ones if they are not equally frequent."""
        del given
        view = View.of(release)
        may, looks = may_guess(release, view.values), Looks.among(view, people)
        counts = np.where(may, np.bincount(view.held, minlength=may.size), 0)
        frequent = np.full(len(people), counts.argmax()), np.full(len(people), counts.max() / view.rows)
        return looks.guesses(view, Votes.of_groups(view), may, frequent)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        return scored(self, release, given, progress=progress)


def _unseen(view: View, tables: npt.NDArray[Any], looks: Looks, may: Flags) -> tuple[Ints, Floats]:
    """Guesses of people who look like nobody, by naive Bayes over some tables; of others, none."""
    best, sure = np.zeros(looks.of.size, np.int64), np.zeros(looks.of.size)
    unseen = ~looks.seen
    if unseen.any():
        learned, asked = [], []
        for coded, codes in zip(view.quasi.values(), looks.codes, strict=True):
            counts = np.bincount(coded.codes, minlength=len(coded.values))
            learned.append(np.tile(banded(coded.codes.astype(np.int64), coded.values, counts), len(tables)))
            asked.append(banded(codes[unseen], coded.values, counts))
        best[unseen], sure[unseen] = naive_bayes(learned, tables.reshape(-1).astype(np.int64), asked, may)
    return best, sure
