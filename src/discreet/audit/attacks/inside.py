"""Guess people's values by a model, and by the values of the groups that they may be in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from discreet.audit.attacks.guesses import Flags, Floats, Guesses, Ints, may_guess
from discreet.audit.attacks.model import Model, jointly
from discreet.audit.attacks.posterior import ROUNDS, Likely, factors, likely
from discreet.audit.attacks.shown import Shown
from discreet.audit.attacks.without import likeliest
from discreet.release import Release
from discreet.values.coded import Coded, combined


def guessed(
    known: Shown, model: Model, rows: Sequence[Coded], asked: Sequence[Coded], people: pa.Table, may: Flags
) -> Guesses:
    """What people hold, by a model; of rows and people the quasi-identifiers are codes of the same values."""
    look, first = combined([each.codes for each in asked])
    row, of_row = combined([each.codes for each in rows])
    chances = model.chances([each.codes[of_row] for each in rows])
    kind = model.kinds.of.astype(np.int32)
    factor = factors(known.view.starts, row.astype(np.int64), known.held, kind, chances, ROUNDS)
    asked_of = model.chances([each.codes[first] for each in asked])
    where = known.where(people.take(pa.array(first)))
    found = likely(where, known.held, factor, np.arange(first.size), kind, asked_of, may)
    return _with_others(known, found, look.astype(np.int64), np.diff(where.ends) > 0, likeliest(model, asked_of, may))


def blindly(release: Release, known: Shown, people: pa.Table) -> Guesses:
    """Any value of the groups that people may be in; of those who may be in none, the most frequent of all."""
    may = may_guess(release, known.view.values)
    [asked] = jointly([[people[name] for name in known.view.quasi]])
    look, first = combined([each.codes for each in asked])
    same = np.zeros((first.size, 1), np.float32)
    where = known.where(people.take(pa.array(first)))
    kind = np.zeros(may.size, np.int32)
    found = likely(where, known.held, np.log(known.held.several), np.arange(first.size), kind, same, may)
    counts = np.where(may, np.bincount(known.view.held, minlength=may.size), 0)
    frequent = np.full(first.size, counts.argmax()), np.full(first.size, counts.max() / known.view.rows)
    return _with_others(known, found, look.astype(np.int64), np.diff(where.ends) > 0, frequent)


def _with_others(known: Shown, found: Likely, look: Ints, seen: Flags, others: tuple[Ints, Floats]) -> Guesses:
    """Guesses by look, and for looks that nobody in the release may have those of `others`."""
    of, unseen = np.arange(seen.size), np.flatnonzero(~seen)
    of[unseen] = seen.size + np.arange(unseen.size)
    starts = np.concatenate([found.starts, found.starts[-1] + 1 + np.arange(unseen.size)])
    codes = np.concatenate([found.codes, others[0][unseen]])
    sure = np.concatenate([found.sure, others[1][unseen]])
    return Guesses(known.view.values, of[look], starts, codes, sure, seen[look])
