"""Score an attack that guesses sensitive values, beside blind guesses, a model without the release, and a holdout."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from discreet.audit.attacks.attack import Attack, Given, Progress, Rate, Success, check_found, silent
from discreet.audit.guessing.guesses import Guesses, Scored, may_guess, score
from discreet.audit.guessing.without import without
from discreet.audit.metrics.truth import places
from discreet.release import Release

NO_HOLDOUT = "no holdout was given: how often it is right of people who were not in the table is not known"


class Guesser(Attack, Protocol):
    """An attack that guesses the sensitive values of people."""

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Guesses: ...

    def blind(self, release: Release, people: pa.Table, given: Given) -> Guesses:
        """The guesses of one who knows as much, and takes all that the release leaves open as equally likely."""
        ...


def scored(attack: Guesser, release: Release, given: Given, *, progress: Progress = silent, tried: int = 1) -> Success:
    """Let an attack guess, and score it; of the best of several guesses that were `tried`, with a wider interval."""
    truth, bare = given.scores(), replace(given, truth=None, holdout=None)
    people = truth.select([*release.promise.quasi])
    if given.holdout is not None:
        others = given.holdout.select(people.column_names).cast(people.schema)
        people = pa.concat_tables([people, others])
    found = attack.guesses(release, people, bare, progress=progress)
    inside, outside = slice(0, len(truth)), slice(len(truth), None)
    mine = score(release, found.about(inside), truth)
    check_found(mine.people)
    blind = score(release, attack.blind(release, people.slice(0, len(truth)), bare), truth)
    notes, holdout = (*_left_out(truth, mine), *found.notes), None
    if given.holdout is None:
        notes += (NO_HOLDOUT,)
    else:
        out = score(release, found.about(outside), given.holdout, everybody=True)
        holdout = out.rate() if out.people else None
    progress("guessing without the release")
    return Success(
        attack.name,
        attack.threat,
        mine.people,
        mine.rate(tried=tried),
        blind.rate(),
        given.once("without", lambda: without(release, found.values, given)),
        holdout,
        mine.at_recall(tried=tried),
        notes,
        {"frequent": _frequent(release, found.values, truth), **found.details},
    )


def _frequent(release: Release, values: pa.Array, truth: pa.Table) -> Rate:
    """How often the table's most frequent value, said of everybody, is right."""
    held = places(truth[release.promise.sensitive_column], values)
    counts = np.bincount(held[held >= 0], minlength=len(values))[may_guess(release, values)]
    return Rate.of(float(counts.max()), int(counts.sum()))


def _left_out(truth: pa.Table, counted: Scored) -> tuple[str, ...]:
    """What is to be said of people who do not count."""
    several = len(truth) - counted.people
    if not several:
        return ()
    why = "the release can hold nobody who looks like them or has their value, or the value is harmless"
    return (f"{several:,} of {len(truth):,} people of the truth are not counted: {why}",)
