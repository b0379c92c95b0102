"""The learner: who fits a model to the released files guesses people's values better than blindly; here, how much.

The attacker knows a person's quasi-identifiers and that the person is in the table. He guesses the value that rows
which look like the person hold most often in plausible tables (`learn/`), drawn from the files alone. To count how
often that is right takes the private table. Beside it stand
    blind     the guess of one who takes all values of a group as equally likely
    frequent  the table's most frequent value, for everybody
    without   a model of other people, for one who never saw the release: naive Bayes, fitted to one half of the private
              table and asked about the other, in turns
Where several values are equally good guesses, one is taken at random: the share is the expected one. Harmless values
are nobody's guess, and people who hold them are not counted.
Cost: that of the tables; then rows x tables, rows x rows of a group, and different people x values.
Claim: learner_beats_the_promise_where_values_follow — and only guesses blindly where they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple, Self

import numba as nb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.audit.metrics.truth import places, read_truth
from discreet.errors import InputError
from discreet.learn.draws import Fit, Name, draw
from discreet.learn.plausible import secret_of
from discreet.learn.view import View
from discreet.release import Release
from discreet.release.groups import PUBLICATIONS
from discreet.release.harmless import Told, harmless_values
from discreet.values.coded import combined
from discreet.values.columns import is_ordered

TABLES = 50  # in which a person's likeliest value is looked for
NORMAL = 1.96  # of 100 intervals, 95 hold what they are about
BANDS = 64  # of the values of a quasi-identifier, for naive Bayes
WEIGHT = 5.0  # people that the whole table counts for, beside those who hold a value
AT_ONCE = 1 << 22  # numbers
SAME = 1e-9  # votes, for rounding

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rate:
    """The share of people whose value a guess gets right, and between what it lies at 95 % (Wilson 1927)."""

    share: float
    low: float
    high: float

    @classmethod
    def of(cls, right: float, people: int) -> Self:
        share, z = right / people, NORMAL * NORMAL / people
        middle, reach = (
            (share + z / 2) / (1 + z),
            NORMAL / (1 + z) * sqrt(share * (1 - share) / people + z / people / 4),
        )
        return cls(share, max(middle - reach, 0.0), min(middle + reach, 1.0))


@dataclass(frozen=True, slots=True)
class Guessed:
    """How often guesses are right: the learner's, and those beside it; see the module's docstring."""

    people: int
    learner: Rate
    blind: Rate
    frequent: Rate
    without: Rate
    fit: Fit


def fits(release: Release) -> bool:
    """Whether a release shows rows as they are and the values of their groups."""
    return release.promise.publication in PUBLICATIONS


def attack(
    release: Release,
    truth: str | Path | Any,
    *,
    tables: int = TABLES,
    model: Name = "learned",
    progress: Callable[[str], None] = lambda _: None,
) -> Guessed:
    """Fit a model to a release, and count with the `truth`, a file or a frame, how often its best guess is right.

    Chance follows from the files, as that of the plausible tables that they give.
    """
    view = View.of(release)
    known = Known.of(view, read_truth(truth, release.promise.columns))
    may = _guesses(view, release.promise.harmless or ())
    people = int(may[known.held].sum())
    if not people:
        raise InputError("nobody of the truth is in the release", hint="name the table that was published")
    drawn = draw(view, tables, model=model, secret=secret_of(release), progress=progress)
    progress("guessing")
    sizes = np.diff(view.starts)
    of_tables = Votes(drawn.codes.T.reshape(-1), np.arange(view.rows) * tables, np.full(view.rows, tables))
    of_groups = Votes(view.held, np.repeat(view.starts[:-1], sizes), np.repeat(sizes, sizes))
    frequent = np.where(may, np.bincount(view.held, minlength=may.size), -1).argmax()
    return Guessed(
        people,
        learner=Rate.of(_right(*known.alike(), *of_tables, may), people),
        blind=Rate.of(_right(*known.alike(), *of_groups, may), people),
        frequent=Rate.of(int(np.sum(known.held == frequent)), people),
        without=Rate.of(_without(known, may), people),
        fit=drawn.fit,
    )


class Votes(NamedTuple):
    """The values that each row may hold, one as likely as another: `several` of them, from the place `first`."""

    values: npt.NDArray[Any]
    first: Ints
    several: Ints


@dataclass(frozen=True)
class Known:
    """Rows of a view and people of the truth, both sorted by how they look.

    Those of look i are the `rows` from `row_ends[i]` to `row_ends[i + 1]`, and likewise the people, of whom are known
    the code of the value that they `held` and of each quasi-identifier the `band` that theirs is in.
    """

    rows: Ints
    row_ends: Ints
    person_ends: Ints
    held: Ints
    bands: list[Ints]

    @classmethod
    def of(cls, view: View, people: pa.Table) -> Self:
        """People who look like nobody in the release, or hold a value that nobody in it does, are left out."""
        *quasi, held = (
            places(column, domain)
            for column, domain in zip(
                people.columns, [*(coded.values for coded in view.quasi.values()), view.values], strict=True
            )
        )
        there = np.logical_and.reduce([codes >= 0 for codes in (*quasi, held)])
        looks, _ = combined(
            [
                np.concatenate([coded.codes, codes[there]])
                for coded, codes in zip(view.quasi.values(), quasi, strict=True)
            ]
        )
        rows, persons = looks[: view.rows], looks[view.rows :]
        seen = np.isin(persons, rows)
        kept = np.flatnonzero(there)[seen][np.argsort(persons[seen], kind="stable")]
        ends = np.arange(looks.max(initial=-1) + 2)
        bands = [_banded(codes[kept], coded.values) for codes, coded in zip(quasi, view.quasi.values(), strict=True)]
        return cls(
            np.argsort(rows, kind="stable"),
            np.searchsorted(np.sort(rows), ends),
            np.searchsorted(np.sort(persons[seen]), ends),
            held[kept],
            bands,
        )

    def alike(self) -> tuple[Ints, Ints, Ints, Ints]:
        return self.rows, self.row_ends, self.person_ends, self.held


def _guesses(view: View, harmless: Sequence[Told]) -> npt.NDArray[np.bool_]:
    """Which values are guessed at all."""
    if not harmless:
        return np.ones(len(view.values), np.bool_)
    return ~np.asarray(pc.is_in(view.values, value_set=harmless_values(harmless, view.values.type)))


def _banded(codes: Ints, values: pa.Array) -> Ints:
    """Few bands in the place of many values: stretches with about as many people each, or the most frequent ones."""
    if len(values) <= BANDS:
        return codes
    counts = np.bincount(codes, minlength=len(values))
    if is_ordered(values.type):
        return (np.cumsum(counts) * BANDS // (codes.size + 1))[codes]
    rank = np.empty(counts.size, np.int64)
    rank[np.argsort(-counts, kind="stable")] = np.arange(counts.size)
    return np.minimum(rank, BANDS - 1)[codes]


def _without(known: Known, may: npt.NDArray[np.bool_]) -> int:
    """How many people a model of the other half of them guesses."""
    half = np.random.default_rng(0).permutation(known.held.size) % 2 == 0
    return sum(_naive_bayes(known, may, train, ~train) for train in (half, ~half))


def _naive_bayes(
    known: Known, may: npt.NDArray[np.bool_], train: npt.NDArray[np.bool_], test: npt.NDArray[np.bool_]
) -> int:
    """How many of the people to be guessed hold the likeliest value, by the shares of each band among its holders."""
    held, many = known.held[train], may.size
    holders = np.bincount(held, minlength=many).astype(np.float64)
    likely = []
    for codes in known.bands:
        size = int(codes.max(initial=0)) + 1
        both = np.bincount(codes[train] * many + held, minlength=size * many).reshape(size, many)
        share = (both.sum(axis=1, keepdims=True) + 1 / size) / (held.size + 1)
        likely.append(np.log((both + WEIGHT * share) / (holders + WEIGHT)))
    prior = np.where(may, np.log(holders + 1 / many), -np.inf)
    looks, first = combined([codes[test] for codes in known.bands])
    best = np.empty(first.size, np.int64)
    step = max(AT_ONCE // many, 1)
    for start in range(0, first.size, step):
        some = first[start : start + step]
        score = prior + sum(table[codes[test][some]] for table, codes in zip(likely, known.bands, strict=True))
        best[start : start + step] = score.argmax(axis=1)
    return int(np.count_nonzero(best[looks] == known.held[test]))


@nb.njit(cache=True, nogil=True)
def _right(
    rows: Ints,
    row_ends: Ints,
    person_ends: Ints,
    held: Ints,
    values: npt.NDArray[Any],
    first: Ints,
    several: Ints,
    may: npt.NDArray[np.bool_],
) -> float:
    """How many people, in expectation, hold the value that most votes of the rows which look like them are for."""
    right, weight = 0.0, np.zeros(may.size)
    for look in range(row_ends.size - 1):
        start, end = row_ends[look], row_ends[look + 1]
        most = 0.0
        for row in rows[start:end]:
            for value in values[first[row] : first[row] + several[row]]:
                if may[value]:
                    weight[value] += 1 / several[row]
                    most = max(most, weight[value])
        ties, hits = 0, 0
        for person in range(person_ends[look], person_ends[look + 1]):
            if may[held[person]] and weight[held[person]] > most - SAME:
                hits += 1
        for row in rows[start:end]:
            for value in values[first[row] : first[row] + several[row]]:
                ties += weight[value] > most - SAME
                weight[value] = 0
        if hits and most > 0:
            right += hits / ties
    return right
