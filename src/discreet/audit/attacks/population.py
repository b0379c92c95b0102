"""A model of other people: what one who never saw a release guesses of a person, by the quasi-identifiers alone.

Naive Bayes over bands of every quasi-identifier, of a population that is given; else of one half of the people for the
other, in turns, so that nobody is guessed by a model that has seen them.
Cost: different people x values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.attacks.attack import Given, Rate
from discreet.audit.attacks.guesses import Flags, Floats, Guesses, Ints, may_guess, score
from discreet.audit.metrics.truth import places
from discreet.errors import InputError
from discreet.release import Release
from discreet.values.coded import code, combined
from discreet.values.columns import is_ordered

BANDS = 64  # of the values of a quasi-identifier
WEIGHT = 5.0  # people that the whole table counts for, beside those who hold a value
AT_ONCE = 1 << 22  # numbers


def without(release: Release, values: pa.Array, given: Given) -> Rate | None:
    """How often a model of other people guesses those of the truth rightly, without the release; None of nobody."""
    truth = given.scores()
    found = score(release, guessed(release, values, truth, given.population), truth)
    return found.rate() if found.people else None


def guessed(release: Release, values: pa.Array, people: pa.Table, population: pa.Table | None) -> Guesses:
    """What a model of a population guesses of people; if there is none, one of the other half of the people."""
    others = people if population is None else population
    held, may = places(others[release.promise.sensitive_column], values), may_guess(release, values)
    if not (held >= 0).any():
        raise InputError("nobody of the population holds a value of the release", hint="name people of the same kind")
    learned, asked = together(others, people, release.promise.quasi)
    half = np.random.default_rng(0).permutation(len(people)) % 2
    best, sure = np.zeros(len(people), np.int64), np.zeros(len(people))
    for test in (half == 0, half == 1):
        train = (held >= 0) & (~test if population is None else True)
        if train.any() and test.any():
            known = [codes[train] for codes in learned]
            best[test], sure[test] = naive_bayes(known, held[train], [codes[test] for codes in asked], may)
    return Guesses.single(values, best, sure)


def together(others: pa.Table, people: pa.Table, quasi: Sequence[str]) -> tuple[list[Ints], list[Ints]]:
    """The bands of quasi-identifiers of two tables."""
    mine, theirs = [], []
    for name in quasi:
        column = people[name]
        both = code(pa.chunked_array([*others[name].cast(column.type).chunks, *column.chunks], column.type))
        codes = both.codes.astype(np.int64)
        bands = banded(codes, both.values, np.bincount(codes, minlength=len(both.values)))
        theirs.append(bands[: len(others)])
        mine.append(bands[len(others) :])
    return theirs, mine


def naive_bayes(learned: Sequence[Ints], held: Ints, asked: Sequence[Ints], may: Flags) -> tuple[Ints, Floats]:
    """The likeliest value of those who are asked about, and its probability, by the shares of bands among its holders.

    Bands that are -1 are not known, and tell nothing.
    """
    many = may.size
    holders = np.bincount(held, minlength=many).astype(np.float64)
    likely = []
    for mine, theirs in zip(learned, asked, strict=True):
        size = int(max(mine.max(initial=0), theirs.max(initial=0))) + 1
        known = mine >= 0
        both = np.bincount(mine[known] * many + held[known], minlength=size * many).reshape(size, many)
        share = (both.sum(axis=1, keepdims=True) + 1 / size) / (holders.sum() + 1)
        likely.append(np.concatenate([np.log((both + WEIGHT * share) / (holders + WEIGHT)), np.zeros((1, many))]))
    prior = np.where(may, np.log(holders + 1 / many), -np.inf)
    looks, first = combined([codes + 1 for codes in asked])
    best, sure = np.empty(first.size, np.int64), np.empty(first.size)
    step = max(AT_ONCE // many, 1)
    for start in range(0, first.size, step):
        some = first[start : start + step]
        score = prior + sum(table[codes[some]] for table, codes in zip(likely, asked, strict=True))
        best[start : start + step] = score.argmax(axis=1)
        sure[start : start + step] = 1 / np.exp(score - score.max(axis=1, keepdims=True)).sum(axis=1)
    return best[looks], sure[looks]


def banded(codes: Ints, values: pa.Array, counts: Ints) -> Ints:
    """Few bands in the place of many values: stretches with about as many rows each, or the most frequent ones."""
    if len(values) <= BANDS:
        return codes
    if is_ordered(values.type):
        band = np.cumsum(counts) * BANDS // (counts.sum() + 1)
    else:
        rank = np.empty(counts.size, np.int64)
        rank[np.argsort(-counts, kind="stable")] = np.arange(counts.size)
        band = np.minimum(rank, BANDS - 1)
    found: npt.NDArray[np.int64] = np.where(codes < 0, -1, band[codes])
    return found
