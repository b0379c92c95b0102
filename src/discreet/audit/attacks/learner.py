"""The learner: who fits a model to the released files guesses people's values better than blindly; here, how much.

The attacker knows a person's quasi-identifiers and that the person is in the table. He guesses the value that rows
which look like the person hold most often in plausible tables (`learn/`), drawn from the files alone. Where rows are
not shown as they are, rows that stand for them are taken (`shown.py`), and a model of what these hold in the tables is
held against the values of the groups that the person may be in. Of somebody who looks like nobody, that model alone
is asked. Chance follows from the files.

Source: Kifer, "Attacks on privacy and deFinetti's theorem", SIGMOD 2009.
Cost: that of the tables; then rows x tables, rows x rows of a group, and different people x values.
Claim: learner_beats_the_promise_where_values_follow — and only guesses blindly where they do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.attacks.attack import Given, Progress, Success, Threat, silent
from discreet.audit.attacks.guesses import Flags, Floats, Guesses, Ints, may_guess
from discreet.audit.attacks.inside import blindly, guessed
from discreet.audit.attacks.looks import Looks, Votes
from discreet.audit.attacks.model import Model, fit, jointly
from discreet.audit.attacks.scored import scored
from discreet.audit.attacks.shown import Shown, shown, why_not
from discreet.audit.attacks.without import likeliest
from discreet.learn.draws import Draws, Name, draw
from discreet.learn.plausible import secret_of
from discreet.release import Release
from discreet.values.coded import Coded

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
        return why_not(release)

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Guesses:
        known = given.once("shown", lambda: shown(release))
        drawn = self.drawn(release, known, given, progress)
        progress("guessing")
        may = may_guess(release, known.view.values)
        if known.exact:
            looks = Looks.among(known.view, people)
            others = _unseen(known, drawn.codes[:ASKED], people, looks.seen, may)
            found = looks.guesses(known.view, Votes.of_tables(drawn.codes), may, others)
        else:
            rows, asked = jointly([known.columns, people.columns])
            found = guessed(known, _of_tables(known, rows, drawn.codes[:ASKED]), rows, asked, people, may)
        return replace(found, notes=drawn.fit.notes, details={"fit": drawn.fit})

    def drawn(self, release: Release, known: Shown, given: Given, progress: Progress) -> Draws:
        """Plausible tables, drawn once for all attacks that look at them."""

        def find() -> Draws:
            return draw(known.view, self.tables, model=self.model, secret=secret_of(release), progress=progress)

        return given.once(f"drawn {self.tables} {self.model}", find)

    def blind(self, release: Release, people: pa.Table, given: Given) -> Guesses:
        """Any value of the person's group, the most frequent ones if they are not equally frequent."""
        return blindly(release, given.once("shown", lambda: shown(release)), people)

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        return scored(self, release, given, progress=progress)


def _of_tables(known: Shown, rows: Sequence[Coded], tables: npt.NDArray[Any]) -> Model:
    """A model of what rows hold in some plausible tables."""
    repeated = [Coded(np.tile(each.codes, len(tables)), each.values) for each in rows]
    return fit(repeated, tables.reshape(-1).astype(np.int64), known.view.values)


def _unseen(known: Shown, tables: npt.NDArray[Any], people: pa.Table, seen: Flags, may: Flags) -> tuple[Ints, Floats]:
    """Guesses of people who look like nobody, by a model of some tables; of others, none."""
    best, sure = np.zeros(seen.size, np.int64), np.zeros(seen.size)
    if not seen.all():
        rows, asked = jointly([known.columns, people.filter(pa.array(~seen)).columns])
        model = _of_tables(known, rows, tables)
        best[~seen], sure[~seen] = likeliest(model, model.chances([each.codes for each in asked]), may)
    return best, sure
