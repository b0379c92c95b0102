"""Downcoding: a box that is no larger than it must be tells where some of its rows lie.

If boxes are as small as their rows allow, one row lies at each end of each range, and of a list of values each is held
by a row. The attacker guesses of each row of a group the exact value of every column that is blurred: the likeliest one
inside the box, where rows that must lie somewhere do, and the others as rows of all boxes are spread (each over its
box, evenly). Where all boxes follow one grid, ends tell nothing, and he has only the spread. The blind guesser knows as
much of boxes and nothing of the spread: he says either end where both are held, else any value inside. How often any
value inside is right, for one who does not know that ends are held, is told as well. So a small group hardly hides its
quasi-identifiers, whatever k is promised.

Source: Cohen, "Attacks on deidentification's defenses", 2021 (USENIX Security 2022), of minimal generalization.
Cost: rows, then groups x the width of their boxes in whole numbers, or the values that a label stands for.
Claim: ends_of_tight_boxes_are_guessed — as often as counted by hand, and more often than blindly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numba as nb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.audit.attacks.attack import Given, Progress, Rate, Success, Threat, silent
from discreet.audit.enclosed import Shown, enclosing, read_shown
from discreet.audit.files import numbers
from discreet.audit.guessing.guesses import Floats, Ints, Scored
from discreet.audit.metrics.truth import places
from discreet.errors import InputError
from discreet.release import Release
from discreet.release.layouts import layout_of
from discreet.release.manifest import BoxColumn
from discreet.values.coded import whole_numbers

GRIDS = {"full_domain"}  # partitions whose boxes are cells of one grid
WIDE = 1 << 20  # whole numbers in a column: beyond, only values that some box ends at
HIDDEN = "a person's quasi-identifiers are what is guessed here, and not a sensitive value"


@dataclass(frozen=True, eq=False)
class Column:
    """A column that is blurred: its values in order, and of every box the likeliest, how likely, and how many it has.

    A box that shows one value exactly has the width 1; one that may hold anything, or missing values too, the width 0:
    nothing is guessed of it.
    """

    name: str
    values: pa.Array
    guess: Ints
    likely: Floats
    width: Ints
    ends: tuple[Ints, Ints] | None  # the lowest and highest value of every box, where each is held by a row

    def blindly(self, held: Ints, box: Ints) -> Floats:
        """How likely one who knows nothing of the spread is right of rows that hold these values."""
        if self.ends is None:
            return np.asarray(1 / np.maximum(self.width[box], 1), np.float64)
        low, high = self.ends
        return np.asarray(0.5 * (held == low[box]) + 0.5 * (held == high[box]), np.float64)

    def same(self, other: Column) -> bool:
        return self.values.equals(other.values) and np.array_equal(self.guess, other.guess)


@dataclass(frozen=True, eq=False)
class Inside:
    """What is guessed of the rows of every box."""

    shown: Shown
    columns: tuple[Column, ...]

    def same(self, other: Inside) -> bool:
        return all(mine.same(theirs) for mine, theirs in zip(self.columns, other.columns, strict=True))


@dataclass(frozen=True)
class Downcoding:
    """The attack on tight boxes."""

    name: ClassVar[str] = "downcoding"
    threat: ClassVar[Threat] = Threat(
        knows="that boxes are as small as their rows allow",
        wants="the exact quasi-identifiers of the rows of a box",
        given="the release alone",
    )

    def suits(self, release: Release, given: Given) -> str | None:
        del given
        if layout_of(release.promise).matching == "boxes" and release.promise.join is None:
            return None
        return f"a release by `{release.promise.publication}` shows no boxes of its own rows"

    def guesses(self, release: Release, people: pa.Table, given: Given, *, progress: Progress = silent) -> Inside:
        """The same of all people: it is rows that are guessed."""
        del people, given
        progress("looking into boxes")
        shown = read_shown(release)
        tight = release.promise.partition not in GRIDS
        return Inside(shown, tuple(_column(shown, side, tight=tight) for side in shown.sides))

    def run(self, release: Release, given: Given, *, progress: Progress = silent) -> Success:
        truth = given.scores().select([*release.promise.quasi])
        found = self.guesses(release, truth, given, progress=progress)
        pairs = enclosing(found.shown, truth)
        asked = np.diff(pairs.ends) == 1  # whoever two boxes could hold is nobody's row for sure
        person = np.flatnonzero(asked)
        box = pairs.boxes[pairs.ends[person]]
        right, blind, sure, several, inside = (np.zeros(person.size) for _ in range(5))
        for column in found.columns:
            blurred = column.width[box] > 1
            held = places(truth[column.name].take(pa.array(person)), column.values)
            right += blurred & (held == column.guess[box])
            blind += np.where(blurred, column.blindly(held, box), 0)
            inside += np.where(blurred, 1 / np.maximum(column.width[box], 1), 0)
            sure += np.where(blurred, column.likely[box], 0)
            several += blurred
        some = several > 0
        if not some.any():
            raise InputError(
                "nobody of the truth is in one box that blurs anything", hint="name the table that was published"
            )
        scored = Scored(right[some] / several[some], sure[some] / several[some])
        return Success(
            self.name,
            self.threat,
            scored.people,
            scored.rate(),
            Rate.of(float((blind[some] / several[some]).sum()), scored.people),
            None,
            None,
            scored.at_recall(),
            (
                HIDDEN,
                f"any value inside the box is right of {inside[some].sum() / several[some].sum():.1%} of the cells",
                f"{several[some].mean():.1f} columns are blurred of an average row; the share is of its cells",
            ),
            {"columns": {column.name: _shares(column, truth, person, box) for column in found.columns}},
        )


def _shares(column: Column, truth: pa.Table, person: Ints, box: Ints) -> dict[str, float]:
    """How often a column is guessed rightly, and how often blindly, where it is blurred."""
    blurred = column.width[box] > 1
    if not blurred.any():
        return {"right": 0.0, "blind": 0.0, "inside": 0.0, "rows": 0}
    held = places(truth[column.name].take(pa.array(person[blurred])), column.values)
    at = box[blurred]
    right, blind, inside = (
        np.mean(held == column.guess[at]),
        np.mean(column.blindly(held, at)),
        np.mean(1 / column.width[at]),
    )
    return {"right": float(right), "blind": float(blind), "inside": float(inside), "rows": int(blurred.sum())}


def _column(shown: Shown, side: BoxColumn, *, tight: bool) -> Column:
    return _of_labels(shown, side, tight=tight) if side.label is not None else _of_ends(shown, side, tight=tight)


def _of_ends(shown: Shown, side: BoxColumn, *, tight: bool) -> Column:
    """Whole numbers and days are known to lie between the ends; of others only the ends that any box shows are."""
    low, high = shown.boxes[side.low or ""], shown.boxes[side.high or ""]
    ends = pa.chunked_array([*low.chunks, *high.chunks], low.type).unique().drop_null()
    values = ends.take(pc.sort_indices(ends))
    whole = pa.types.is_integer(low.type) or pa.types.is_date32(low.type)
    if whole and len(values):
        kind = pa.int32() if pa.types.is_date32(low.type) else pa.int64()
        first, last = (values.cast(kind)[i].as_py() for i in (0, -1))
        if last - first < WIDE:
            values = whole_numbers(first, last, kind).cast(low.type)
    start, end = (numbers(pc.fill_null(pc.index_in(of, value_set=values), -1)) for of in (low, high))
    known = start >= 0
    if side.missing is not None:
        known &= ~np.asarray(pc.fill_null(shown.boxes[side.missing], False))
    start, end = np.where(known, start, 0), np.where(known, end, -1)
    guess, likely = _ranges(start, end, shown.rows, len(values), tight)
    return Column(side.name, values, guess, likely, end - start + 1, (start, end) if tight else None)


def _of_labels(shown: Shown, side: BoxColumn, *, tight: bool) -> Column:
    if shown.labels is None:
        raise InputError("the labels of the release are not explained", hint="check it with `discreet verify`")
    mine = shown.labels.filter(pc.equal(shown.labels["column"], side.name))
    tags = shown.boxes[side.label or ""]
    values, label = mine["value"].unique(), mine["label"].unique()
    at, code = (
        numbers(pc.index_in(mine[name], value_set=found)) for name, found in (("label", label), ("value", values))
    )
    order = np.lexsort((code, at))
    at, code = at[order], code[order]
    starts = np.searchsorted(at, np.arange(len(label) + 1))
    of = numbers(pc.fill_null(pc.index_in(tags, value_set=label), -1))
    guess, likely = _lists(of, starts, code, shown.rows, len(values), tight)
    width = np.where(of >= 0, np.diff(starts, append=starts[-1])[np.maximum(of, 0)], 1)
    return Column(side.name, values, guess, likely, width, None)


@nb.njit(cache=True, nogil=True)
def _ranges(start: Ints, end: Ints, rows: Ints, values: int, tight: bool) -> tuple[Ints, Floats]:  # noqa: FBT001
    """The likeliest value between the ends of every box, and how likely it is of a row."""
    spread = np.zeros(values + 1)
    for box in range(start.size):
        width = end[box] - start[box] + 1
        if width < 1:
            continue
        forced = min(2, rows[box]) if tight and width > 1 else 0
        spread[start[box] : end[box] + 1] += (rows[box] - forced) / width
        spread[start[box]] += forced / 2
        spread[end[box]] += forced / 2
    guess, likely = np.zeros(start.size, np.int64), np.zeros(start.size)
    for box in range(start.size):
        if end[box] < start[box]:
            continue
        total = spread[start[box] : end[box] + 1].sum()
        forced = min(2, rows[box]) if tight and end[box] > start[box] else 0
        for value in range(start[box], end[box] + 1):
            must = forced / 2 if value in (start[box], end[box]) else 0.0
            chance = (must + (rows[box] - forced) * spread[value] / max(total, 1e-300)) / rows[box]
            if chance > likely[box]:
                guess[box], likely[box] = value, chance
    return guess, likely


@nb.njit(cache=True, nogil=True)
def _lists(of: Ints, starts: Ints, codes: Ints, rows: Ints, values: int, tight: bool) -> tuple[Ints, Floats]:  # noqa: FBT001
    """The likeliest value of every box's label, and how likely it is of a row."""
    spread = np.zeros(values)
    for box in range(of.size):
        if of[box] >= 0:
            held = codes[starts[of[box]] : starts[of[box] + 1]]
            spread[held] += rows[box] / held.size
    guess, likely = np.zeros(of.size, np.int64), np.zeros(of.size)
    for box in range(of.size):
        if of[box] < 0:
            continue
        held = codes[starts[of[box]] : starts[of[box] + 1]]
        forced = held.size if tight and held.size <= rows[box] else 0
        for value in held:
            must = 1.0 if forced else 0.0
            chance = (must + (rows[box] - forced) * spread[value] / spread[held].sum()) / rows[box]
            if chance > likely[box]:
                guess[box], likely[box] = value, chance
    return guess, likely
