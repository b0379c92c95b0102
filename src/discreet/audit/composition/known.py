"""Recognise people in several releases, in each by all of its columns that the attacker knows.

Who attacks a release knows of people what it shows of them: the *kinds* of people are those who agree in all of its
quasi-identifiers. Another release may lack some of these. Then several kinds look the same in it, and each of them may
be wherever one who looks so is; how many of each are there is what the first release has of them, in proportion. What
another release shows beyond the columns of the first one is no use to this attacker. Rows of other releases in which
nobody of the first one can be are people, too: they are kinds of their own, who are told apart by fewer columns.
Cost: linear in the rows of all releases, and one sort of each by look and group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.audit.composition.people import Places, Shown, coded_values, found_in, kinds_of
from discreet.audit.files import Tables, read_tables
from discreet.audit.sequence.groups import Counts, Numbers
from discreet.release import Release
from discreet.release.layouts import layout_of
from discreet.values.codes import Codes

Columns = tuple[str, ...]


@dataclass(frozen=True)
class Known:
    """Releases, where kinds of people are in each of them; the sensitive values; of everybody asked for, the kind."""

    shown: tuple[Shown, ...]
    values: Codes
    of_person: Numbers


@dataclass(frozen=True)
class _Found:
    """One release, by looks: `looks` has that of every kind, `extra` says how many looks are of no kind."""

    places: Places
    held: Counts
    looks: Numbers
    extra: int


def known_columns(release: Release, other: Release) -> Columns:
    """The quasi-identifiers of a release that another one shows, too."""
    return tuple(name for name in release.promise.quasi if name in other.promise.quasi)


def recognise_known(releases: Sequence[Release], people: pa.Table) -> Known:
    """Find people, of whom the quasi-identifiers of the first release are told, in all releases."""
    promise = releases[0].promise
    tables = [read_tables(release) for release in releases]
    columns = [known_columns(releases[0], release) for release in releases]
    whole = [len(layout_of(release.promise).blocks(release.promise)) == 1 for release in releases]
    rosters = [of.qit for of, by, rows in zip(tables, columns, whole, strict=True) if rows and by == promise.quasi]
    keys, kinds = kinds_of([*rosters, people.select([*promise.quasi])], promise.quasi)
    values, codes = coded_values(tables, promise.sensitive_column, None)
    levels = list(dict.fromkeys(columns))
    found: dict[int, _Found] = {}
    for by in levels:
        mine = {i: tables[i] for i in range(len(releases)) if columns[i] == by}
        found.update(_by(by, releases, mine, codes, kinds, whole))
    extra = {columns[i]: of.extra for i, of in found.items()}
    shown, none = [], np.zeros(0, np.int64)
    for i, (by, rows) in enumerate(zip(columns, whole, strict=True)):
        of = found[i]
        looks = [of.looks, *(_strangers(of) if each == by else np.full(extra[each], -1) for each in levels)]
        shown.append(Shown(of.places, of.held, rows, none, none, np.concatenate(looks), levels.index(by)))
    return Known(tuple(shown), values, keys[-1])


def _by(
    by: Columns,
    releases: Sequence[Release],
    tables: Mapping[int, Tables],
    codes: Sequence[Numbers],
    kinds: pa.Table,
    whole: Sequence[bool],
) -> dict[int, _Found]:
    """The releases that show the same of the known columns; looks are numbered as they occur, those of kinds first."""
    entire = [i for i in tables if whole[i]]
    (looks, *rows), every = kinds_of([kinds, *(tables[i].qit for i in entire)], by)
    extra = len(every) - int(looks.max(initial=-1)) - 1
    row = dict(zip(entire, rows, strict=True))
    return {
        i: _Found(*found_in(releases[i], of, row.get(i), every, codes[i]), looks, extra) for i, of in tables.items()
    }


def _strangers(of: _Found) -> Numbers:
    """The looks that no kind has: of people whom the first release does not show."""
    return np.arange(of.extra) + int(of.looks.max(initial=-1)) + 1
