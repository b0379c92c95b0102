"""Guess people's values by a model, and by the values of the groups that they may be in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from discreet.audit.guessing.guesses import Flags, Floats, Guesses, Ints, may_guess
from discreet.audit.guessing.model import Model, jointly
from discreet.audit.guessing.posterior import ROUNDS, Likely, Places, factors, likely
from discreet.audit.guessing.without import likeliest
from discreet.audit.places.shown import Shown
from discreet.release import Release
from discreet.values.coded import Coded, combined


def guessed(
    known: Shown,
    model: Model,
    rows: Sequence[Coded],
    asked: Sequence[Coded],
    people: pa.Table,
    may: Flags,
    groups: Ints | None = None,
) -> Guesses:
    """What people hold, by a model; of rows and people the quasi-identifiers are codes of the same values.

    Where the groups of all people are told, each is looked for in theirs alone. Where rows are not shown but drawn,
    the people themselves stand for them, each in one of the groups that may be theirs.
    """
    look, first, where = placed(known, people, groups)
    starts = known.view.starts
    if known.drawn:
        at, starts = _standing(where, look, known.view.groups)
        rows = [Coded(each.codes[at], each.values) for each in asked]
    row, of_row = combined([each.codes for each in rows])
    chances = model.chances([each.codes[of_row] for each in rows])
    kind = model.kinds.of.astype(np.int32)
    factor = factors(starts, row.astype(np.int64), known.held, kind, chances, ROUNDS)
    asked_of = model.chances([each.codes[first] for each in asked])
    found = likely(where, known.held, factor, np.arange(first.size), kind, asked_of, may)
    return _with_others(known, found, look, np.diff(where.ends) > 0, likeliest(model, asked_of, may))


def blindly(release: Release, known: Shown, people: pa.Table, groups: Ints | None = None) -> Guesses:
    """Any value of the groups that people may be in; of those who may be in none, the most frequent of all."""
    may = may_guess(release, known.view.values)
    look, first, where = placed(known, people, groups)
    same, kind = np.zeros((first.size, 1), np.float32), np.zeros(may.size, np.int32)
    found = likely(where, known.held, np.log(known.held.several), np.arange(first.size), kind, same, may)
    counts = np.where(may, np.bincount(known.view.held, minlength=may.size), 0)
    frequent = np.full(first.size, counts.argmax()), np.full(first.size, counts.max() / known.view.rows)
    return _with_others(known, found, look, np.diff(where.ends) > 0, frequent)


def placed(known: Shown, people: pa.Table, groups: Ints | None = None) -> tuple[Ints, Ints, Places]:
    """The look of everybody, somebody of each look, and where those may be; a group that is told is part of a look."""
    [exact] = jointly([[people[name] for name in known.view.quasi]])
    look, first = combined([*(each.codes for each in exact), *([] if groups is None else [groups])])
    if groups is None:
        return look.astype(np.int64), first, known.where(people.take(pa.array(first)))
    return look.astype(np.int64), first, Places(np.arange(first.size + 1), groups[first], np.ones(first.size))


def _standing(where: Places, look: Ints, groups: int) -> tuple[Ints, Ints]:
    """People in the order of a group that each may be in, one drawn by its weight, and where each group starts."""
    upto = np.concatenate([[0.0], np.cumsum(where.weight)])
    person = np.flatnonzero(np.diff(where.ends)[look] > 0)
    first, last = where.ends[look[person]], where.ends[look[person] + 1]
    drawn = upto[first] + np.random.default_rng(0).random(person.size) * (upto[last] - upto[first])
    at = np.clip(np.searchsorted(upto, drawn, side="right") - 1, first, last - 1)
    order = np.argsort(where.group[at], kind="stable")
    return person[order], np.searchsorted(where.group[at][order], np.arange(groups + 1))


def _with_others(known: Shown, found: Likely, look: Ints, seen: Flags, others: tuple[Ints, Floats]) -> Guesses:
    """Guesses by look, and for looks that nobody in the release may have those of `others`."""
    of, unseen = np.arange(seen.size), np.flatnonzero(~seen)
    of[unseen] = seen.size + np.arange(unseen.size)
    starts = np.concatenate([found.starts, found.starts[-1] + 1 + np.arange(unseen.size)])
    codes = np.concatenate([found.codes, others[0][unseen]])
    sure = np.concatenate([found.sure, others[1][unseen]])
    return Guesses(known.view.values, of[look], starts, codes, sure, seen[look])
