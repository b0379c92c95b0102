"""A model of other people: what one who never saw a release guesses of a person, by the quasi-identifiers alone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from discreet.audit.attacks.attack import Given, Rate
from discreet.audit.guessing.guesses import Flags, Floats, Guesses, Ints, may_guess, score
from discreet.audit.guessing.model import FEW, FITTED, Model, Singles, fit, jointly
from discreet.audit.metrics.truth import places
from discreet.errors import InputError
from discreet.release import Release
from discreet.values.coded import Coded, combined

FOLDS = {False: 2, True: 6}  # of the truth; more make better models
AT_ONCE = 1 << 23  # numbers


def without(release: Release, values: pa.Array, given: Given) -> Rate | None:
    """How often a model of the population guesses those of the truth rightly, without the release; None of nobody.

    If no population is given, it is the rest of the truth for each part of it, in turns: nobody is guessed by a model
    that has seen them.
    """
    truth = given.scores()
    found = score(release, _guessed(release, values, truth, given.population), truth)
    return found.rate() if found.people else None


def known_values(release: Release, values: pa.Array, population: pa.Table) -> Ints:
    """The codes of what a population holds, -1 for what nobody in the release does; raise if that is all."""
    held = places(population[release.promise.sensitive_column], values)
    if not (held >= 0).any():
        raise InputError("nobody of the population holds a value of the release", hint="name people of the same kind")
    return held


def _guessed(release: Release, values: pa.Array, people: pa.Table, population: pa.Table | None) -> Guesses:
    others = people if population is None else population
    held, may = known_values(release, values, others), may_guess(release, values)
    names = release.promise.quasi
    asked, learned = jointly([[people[name] for name in names], [others[name] for name in names]])
    more = FEW < len(people) < 2 * FITTED  # of few people they take long, of many each is fitted to as many anyway
    several = FOLDS[more] if population is None else 1
    fold = np.random.default_rng(0).permutation(len(people)) % several
    best, sure = np.zeros(len(people), np.int64), np.zeros(len(people))
    model = None if population is None else _of(learned, held, held >= 0, values)
    for turn in range(several):
        test, train = fold == turn, (fold != turn) & (held >= 0) if population is None else held >= 0
        if test.any() and train.any():
            used = model or _of(learned, held, train, values)
            look, first = combined([each.codes[test] for each in asked])
            found = likeliest(used, used.chances([each.codes[test][first] for each in asked]), may)
            best[test], sure[test] = found[0][look], found[1][look]
    return Guesses.single(values, best, sure)


def _of(columns: list[Coded], held: Ints, rows: Flags, values: pa.Array) -> Model:
    return fit([Coded(each.codes[rows], each.values) for each in columns], held[rows], values)


def likeliest(model: Model, chances: Singles, may: Flags) -> tuple[Ints, Floats]:
    """The likeliest value for each row of chances, and its probability."""
    best, sure = np.zeros(len(chances), np.int64), np.zeros(len(chances))
    step = max(AT_ONCE // may.size, 1)
    for start in range(0, len(chances), step):
        some = slice(start, start + step)
        score = np.where(may, chances[some][:, model.kinds.of] + model.within, -np.inf)
        best[some] = score.argmax(1)
        sure[some] = np.exp(score.max(1, initial=-np.inf))
    return best, sure
