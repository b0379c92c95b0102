"""Recognise people in several releases by the quasi-identifiers that all of these show.

People who agree in all of them cannot be told apart: they are a *kind* of people. In every release a kind has its
places: the groups that hold rows of it, and how many. A missing quasi-identifier is equal only to itself.
Where releases number people, who may have several rows, a kind has people and rows; those who are known to be the same
with the same rows are told apart by how many these are, too.
Cost: linear in the rows of all releases, and one sort of each by kind and group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.composition.blocks import find
from discreet.audit.files import Tables, read_tables
from discreet.audit.sequence.groups import Counts, Numbers, counts_of, together, whole
from discreet.errors import InputError
from discreet.release import Release
from discreet.release.layouts import layout_of
from discreet.values.codes import Codes, encode
from discreet.values.names import fresh

Floats = npt.NDArray[np.float64]


class Places(NamedTuple):
    """Of each kind of people the groups in which they can be, in one run from `starts` on, and how many rows are there.

    Where only blocks are shown, that number is what is expected.
    """

    starts: Numbers
    groups: Numbers
    rows: Floats

    def only(self, kinds: npt.NDArray[np.bool_]) -> Places:
        """The same of some kinds; the others are nowhere."""
        lengths = np.diff(self.starts)
        kept = np.repeat(kinds, lengths)
        return Places(np.concatenate([[0], np.cumsum(lengths * kinds)]), self.groups[kept], self.rows[kept])


@dataclass(frozen=True)
class Shown:
    """One release: where people can be, what each group holds, and whether its rows are `whole`, so that they count.

    Where a release lacks some of the columns, kinds of people may look the same in it: `looks` has the look of every
    kind, -1 if nobody looks so, and `places` are those of looks, which releases `by` the same columns number alike.
    Without them every kind is a look.
    """

    places: Places
    held: Counts
    whole: bool
    people: Numbers  # how many of each kind: as many as rows, unless people may have several
    most: Numbers  # how many rows one of them has at most
    looks: Numbers | None = None
    by: int = 0

    @property
    def rows(self) -> Numbers:
        """How many rows each kind of people has; of blocks it is not known."""
        sums = np.concatenate([[0], np.cumsum(self.places.rows)])
        return np.asarray(np.round(sums[self.places.starts[1:]] - sums[self.places.starts[:-1]]), np.int64)

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """The kinds of people that may be there."""
        there = np.diff(self.places.starts) > 0
        return there if self.looks is None else np.append(there, False)[self.looks]


@dataclass(frozen=True)
class People:
    """Kinds of people, a row each in `kinds`; their places in each release; sensitive values by code, in order.

    `truth` is the kind and the value of every row of the private table, if that is known.
    """

    kinds: pa.Table
    shown: tuple[Shown, ...]
    values: Codes
    truth: tuple[Numbers, Numbers] | None


def recognise(
    releases: Sequence[Release], quasi: Sequence[str], truth: pa.Table | None, *, by_rows: bool = False
) -> People:
    """Find all people of releases in each of them; `truth` has the columns `quasi` and the sensitive one, last.

    If `by_rows`, people are told apart by how many rows they have, too: then all releases number them.
    """
    tables = [read_tables(release) for release in releases]
    persons = [_persons(of.qit, release.promise.person) for of, release in zip(tables, releases, strict=True)]
    if by_rows:
        name = fresh("rows", [column for of in tables for column in of.qit.column_names])
        rows_of = [pa.array(rows[who]) for who, rows in persons]
        tables = [replace(of, qit=of.qit.append_column(name, own)) for of, own in zip(tables, rows_of, strict=True)]
        quasi = (*quasi, name)
    entire = [len(layout_of(release.promise).blocks(release.promise)) == 1 for release in releases]
    rosters = [of.qit for of, rows in zip(tables, entire, strict=True) if rows]
    if not rosters and truth is None:
        raise InputError(
            "none of the releases shows whole rows, so nobody can be found in them",
            hint="name the people with the truth: `discreet audit --truth FILE`",
        )
    keys, known = kinds_of([*rosters, *([] if truth is None else [truth])], quasi)
    values, codes = coded_values(tables, releases[0].promise.sensitive_column, truth)
    theirs = iter(keys)
    shown = []
    for release, of, rows, code, person in zip(releases, tables, entire, codes, persons, strict=False):
        kind = next(theirs) if rows else None
        places, held = found_in(release, of, kind, known, code)
        people, most = np.zeros(len(known), np.int64), np.ones(len(known), np.int64)
        if kind is not None:
            people, most = _heads(kind, *person, len(known))
        shown.append(Shown(places, held, rows, people, most))
    told = None if truth is None else (next(theirs), np.asarray(codes[-1], np.int64))
    return People(known, tuple(shown), values, told)


def coded_values(tables: Sequence[Tables], name: str, truth: pa.Table | None) -> tuple[Codes, list[npt.NDArray[Any]]]:
    """The sensitive values of releases and of a private table, whose last column they are, on one coding."""
    listed = [of.st["value"] for of in tables] + ([] if truth is None else [truth.column(truth.num_columns - 1)])
    values = encode(together(listed, name))
    return values, np.split(values.codes, np.cumsum([len(of) for of in listed])[:-1])


def found_in(
    release: Release, of: Tables, kind: Numbers | None, known: pa.Table, code: npt.NDArray[Any]
) -> tuple[Places, Counts]:
    """Where the known people are in one release, and what its groups hold.

    `kind` is that of every row, if whole rows are shown; else they are looked for by the columns of every block.
    """
    numbers, group = np.unique(whole(of.qit[release.promise.group]), return_inverse=True)
    held = counts_of(of.st, numbers, np.asarray(code, np.int64))
    if kind is not None:
        return _places(kind, group, len(known)), held
    blocks = layout_of(release.promise).blocks(release.promise)
    asked = [tuple(name for name in block if name in known.column_names) for block in blocks]
    coded = [tuple(kinds_of([known, of.qit], block)[0]) for block in asked if block]
    kind, places, expected = find(coded, group, release.path)
    return Places(_starts(kind, len(known)), places, expected), held


def _persons(rows: pa.Table, name: str | None) -> tuple[Numbers, Numbers]:
    """The person of every row, from 0, and how many rows each has; without numbers every row is a person."""
    if name is None:
        return np.arange(len(rows)), np.ones(len(rows), np.int64)
    _, person, own = np.unique(whole(rows[name]), return_inverse=True, return_counts=True)
    return person, own


def _heads(kind: Numbers, person: Numbers, own: Numbers, kinds: int) -> tuple[Numbers, Numbers]:
    """How many people are of each kind, and how many rows one of them has at most, but one."""
    of_person = np.zeros(own.size, np.int64)
    of_person[person] = kind
    most = np.ones(kinds, np.int64)
    np.maximum.at(most, of_person, own)
    return np.bincount(of_person, minlength=kinds), most


def kinds_of(tables: Sequence[pa.Table], quasi: Sequence[str]) -> tuple[list[Numbers], pa.Table]:
    """The kind of every row of each table, and a table of the kinds, in the order in which they first occur."""
    rows = sum(len(table) for table in tables)
    key, room = np.zeros(rows, np.int64), 1
    every = {name: together([table[name] for table in tables], name) for name in quasi}
    for column in every.values():
        coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        if room * len(coded.dictionary) >= 2**62:
            key, room = _dense(key)
        key = key * len(coded.dictionary) + whole(coded.indices)
        room *= max(len(coded.dictionary), 1)
    key, _ = _dense(key)
    first = np.flatnonzero(np.diff(np.maximum.accumulate(key), prepend=-1) > 0)
    kinds = pa.table(every).take(pa.array(first))
    return np.split(key, np.cumsum([len(table) for table in tables])[:-1]), kinds


def _dense(key: Numbers) -> tuple[Numbers, int]:
    """The same numbers counted from 0 in the order in which they first occur, and how many there are."""
    coded = pa.array(key).dictionary_encode()
    return whole(coded.indices), len(coded.dictionary)


def _places(kind: Numbers, group: Numbers, kinds: int) -> Places:
    groups = int(group.max(initial=0)) + 1
    pairs, rows = np.unique(kind * groups + group, return_counts=True)
    return Places(_starts(pairs // groups, kinds), pairs % groups, rows.astype(np.float64))


def _starts(ascending: Numbers, kinds: int) -> Numbers:
    return np.searchsorted(ascending, np.arange(kinds + 1)).astype(np.int64)
