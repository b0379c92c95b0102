"""Which boxes of a release could be whose: of people whose quasi-identifiers are known, the boxes that hold them.

A range holds what lies between its ends, and missing values if it says so; a label what it stands for. Texts with ends
are compared as texts.
Cost: people are taken by stretches of one column, that which leaves the fewest boxes to look at: people x those boxes.
Claim: boxes_that_hold_people_are_found — the same as by looking at every box for every person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from discreet.audit.files import numbers
from discreet.errors import InputError, ReleaseError
from discreet.release import Release
from discreet.release.layouts import layout_of
from discreet.release.layouts.file import column, named
from discreet.release.manifest import BoxColumn
from discreet.release.relations import loaded
from discreet.values.columns import UNORDERED
from discreet.values.positions import measured

STRETCHES = 1024  # of people, in the column that narrows most
MOST = 50_000_000  # people and boxes that hold them
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Shown:
    """The boxes of a release, a line each: group, rows, and the columns that show it; the labels that are explained."""

    group: Ints
    rows: Ints
    boxes: pa.Table
    sides: tuple[BoxColumn, ...]
    labels: pa.Table | None


@dataclass(frozen=True)
class Pairs:
    """People and boxes that hold them, by person: those of person i from `ends[i]` to `ends[i + 1]`."""

    ends: Ints
    boxes: Ints

    @property
    def people(self) -> Ints:
        """The person of each pair."""
        return np.repeat(np.arange(self.ends.size - 1), np.diff(self.ends))


def read_shown(release: Release) -> Shown:
    """The boxes of a release that shows any."""
    promise = release.promise
    sides = promise.boxes or ()
    names = [*(name for side in sides for name in side.columns), promise.group]
    with loaded(release) as engine:
        rows = layout_of(promise).relations(promise)["qit"].subquery("rows")
        keys = [column(name) for name in names]
        query = exp.select(*keys, "COUNT(*)").from_(rows).group_by(*(key.copy() for key in keys))
        found = engine.run(query.order_by(column(promise.group)))
        labelled = any(side.label is not None for side in sides)
        labels = engine.run(exp.select("*").from_(named("labels file"))) if labelled else None
    boxes = found.rename_columns([*names, "rows of box"])
    return Shown(numbers(boxes[promise.group]), numbers(boxes["rows of box"]), boxes, tuple(sides), labels)


def enclosing(shown: Shown, people: pa.Table) -> Pairs:
    """The boxes that hold each of some people, of whom every quasi-identifier is known."""
    axes = [_axis(shown, side, people[side.name]) for side in shown.sides]
    narrow = min(axes, key=lambda axis: axis.breadth())
    found = [_look(axes, some, narrow.near(some)) for some in narrow.stretches()]
    persons = np.concatenate([persons for persons, _ in found]) if found else np.zeros(0, np.int64)
    boxes = np.concatenate([boxes for _, boxes in found]) if found else np.zeros(0, np.int64)
    order = np.argsort(persons, kind="stable")
    return Pairs(np.searchsorted(persons[order], np.arange(len(people) + 1)), boxes[order])


@dataclass(frozen=True)
class _Axis:
    """One column: where people lie, and what boxes hold of it.

    In a range, `place` of a person lies between `low` and `high` of a box, or is missing (NaN) where the box holds
    `gaps`. With labels, `allowed` says of each label (`low` of a box) whether it stands for each value (`place`).
    """

    place: Floats
    low: Floats
    high: Floats
    gaps: Flags
    allowed: Flags

    def stretches(self) -> list[Ints]:
        """People who lie near one another."""
        order = np.argsort(self.place, kind="stable")
        if self.allowed.size:
            return np.split(order, np.flatnonzero(np.diff(self.place[order])) + 1) if order.size else []
        return [part for part in np.array_split(order, STRETCHES) if part.size]

    def near(self, some: Ints) -> Ints:
        """The boxes that may hold some of these people."""
        if self.allowed.size:
            return np.flatnonzero(self.allowed[self.low.astype(np.int64), int(self.place[some[0]])])
        places = self.place[some]
        lacks = np.isnan(places)
        kept = self.gaps & lacks.any()
        if not lacks.all():
            kept = kept | ((self.low <= np.nanmax(places)) & (self.high >= np.nanmin(places)))
        return np.flatnonzero(kept)

    def breadth(self) -> float:
        """The boxes to look at for an average person."""
        return sum(some.size * self.near(some).size for some in self.stretches()) / max(self.place.size, 1)


def _axis(shown: Shown, side: BoxColumn, known: pa.ChunkedArray) -> _Axis:
    none = np.zeros((0, 0), np.bool_)
    if side.label is not None:
        return _labelled(shown, side, known)
    low, high = shown.boxes[side.low or ""], shown.boxes[side.high or ""]
    if side.type in UNORDERED:
        ends = pa.chunked_array([*low.chunks, *high.chunks, *_as(known, low.type, side.name).chunks], low.type)
        ends = ends.unique().drop_null()
        ends = ends.take(pc.sort_indices(ends))
        place, low_at, high_at = (
            measured(pc.index_in(each, value_set=ends)) for each in (_as(known, low.type, side.name), low, high)
        )
    else:
        place, low_at, high_at = measured(_as(known, low.type, side.name)), measured(low), measured(high)
    open_ended = np.isnan(low_at)
    gaps = np.zeros(low_at.size, np.bool_)
    if side.missing is not None:
        gaps = np.asarray(pc.fill_null(shown.boxes[side.missing], False))
    anything = open_ended & ~gaps
    return _Axis(
        place,
        np.where(open_ended, np.where(anything, -np.inf, np.inf), low_at),
        np.where(open_ended, np.where(anything, np.inf, -np.inf), high_at),
        gaps | anything,
        none,
    )


def _labelled(shown: Shown, side: BoxColumn, known: pa.ChunkedArray) -> _Axis:
    """A missing label stands for a missing value, and one that is not explained for itself."""
    if shown.labels is None:
        raise ReleaseError(
            "the release does not say what its labels stand for", hint="check the release with `discreet verify`"
        )
    mine = shown.labels.filter(pc.equal(shown.labels["column"], side.name))
    texts = _as(_as(known, None, side.name), pa.string(), side.name)
    values = pa.chunked_array([*texts.chunks, *mine["value"].cast(pa.string()).chunks], pa.string()).unique()
    tags = shown.boxes[side.label or ""].cast(pa.string())
    distinct = tags.unique()
    allowed = np.zeros((len(distinct), len(values)), np.bool_)
    at = numbers(pc.fill_null(pc.index_in(mine["label"].cast(pa.string()), value_set=distinct), -1))
    to = numbers(pc.index_in(mine["value"].cast(pa.string()), value_set=values))
    allowed[at[at >= 0], to[at >= 0]] = True
    own = numbers(pc.fill_null(pc.index_in(distinct, value_set=values), -1))
    for tag in np.flatnonzero(~allowed.any(axis=1)):
        if distinct[int(tag)].as_py() is None:
            allowed[tag, [i for i, value in enumerate(values.to_pylist()) if value is None]] = True
        elif own[tag] >= 0:
            allowed[tag, own[tag]] = True
    place = numbers(pc.index_in(texts, value_set=values)).astype(np.float64)
    tag_of = numbers(pc.index_in(tags, value_set=distinct)).astype(np.float64)
    return _Axis(place, tag_of, tag_of, np.zeros(tag_of.size, np.bool_), allowed)


def _as(known: pa.ChunkedArray, kind: pa.DataType | None, name: str) -> pa.ChunkedArray:
    try:
        return known if kind is None else known.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"`{name}` holds {known.type} where the release has {kind}", hint="give both the same type"
        ) from None


def _look(axes: list[_Axis], some: Ints, boxes: Ints) -> tuple[Ints, Ints]:
    """The pairs of some people and some boxes that hold them."""
    persons = np.repeat(some, boxes.size) if some.size * boxes.size <= MOST // 10 else None
    if persons is None:  # by halves: what is looked at at once is kept small
        half = some.size // 2
        if not half:
            raise ReleaseError("the release has too many boxes to look for people in", hint="name fewer people")
        (a, b), (c, d) = _look(axes, some[:half], boxes), _look(axes, some[half:], boxes)
        return np.concatenate([a, c]), np.concatenate([b, d])
    kept = np.ones(persons.size, np.bool_)
    held = np.tile(boxes, some.size)
    for axis in axes:
        _within(kept, persons, held, axis.place, axis.low, axis.high, axis.gaps, axis.allowed)
    return persons[kept], held[kept]


@nb.njit(cache=True, nogil=True)
def _within(
    kept: Flags, persons: Ints, held: Ints, place: Floats, low: Floats, high: Floats, gaps: Flags, allowed: Any
) -> None:
    """Strike out the pairs that a column rules out."""
    for i in range(kept.size):
        if not kept[i]:
            continue
        at, box = place[persons[i]], held[i]
        if allowed.size:
            kept[i] = allowed[int(low[box]), int(at)]
        elif np.isnan(at):
            kept[i] = gaps[box]
        else:
            kept[i] = low[box] <= at <= high[box]
