"""Whether a private table is the one that a release was made of: how much of the release it accounts for.

All that a release shows came from its table, so the table accounts for every row of it: by the quasi-identifiers of
whole rows where these are shown, else by those of each column that is, and by the sensitive values in any case. Rows of
the table that were withheld or suppressed do not matter. Where rows and the values of their groups are shown, each
person who looks like a row must also hold a value of such a row's group. Another release that is said to be of the same
people is held against it in the same way: by rows or columns that both show, and by all sensitive values.
Cost: one sort of the rows of both, and rows x values of their groups.
Claim: the_table_that_was_published_belongs — it accounts for all of its release, and a shuffled one does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.audit.files import Tables, read_tables
from discreet.audit.metrics.truth import places
from discreet.errors import InputError
from discreet.release import Release
from discreet.release.layouts import layout_of
from discreet.values.coded import combined

LEAST = 0.9  # of the rows, below which it is another table; the rest may be rounding, or a correction made later
AT_ONCE = 1 << 22  # pairs of a row and a value

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Belongs:
    """Of the `rows` of a release those that the table accounts for, and of the people in both those whose value fits.

    `looked_at` says by what: whole rows, columns by themselves, or sensitive values alone. Whether values fit cannot be
    told (None) where a release does not show rows beside the values of their group.
    """

    looked_at: str
    rows: int
    accounted: int
    people: int | None = None
    fitting: int | None = None

    @property
    def share(self) -> float:
        """The smaller of the two shares."""
        fits = 1.0 if self.people is None or not self.people else (self.fitting or 0) / self.people
        return min(self.accounted / self.rows, fits)


def belongs(release: Release, truth: pa.Table) -> Belongs:
    """Hold a private table, its published columns in their order, against a release."""
    promise, tables = release.promise, read_tables(release)
    matching = layout_of(promise).matching
    values = [] if promise.sensitive is None else [_of_values(tables, truth[promise.sensitive])]
    if matching == "boxes":
        return Belongs("sensitive values", promise.rows, min(values))
    if matching == "margins":
        columns = [_shared(tables.qit[name], truth[name]) for name in promise.quasi]
        return Belongs("columns", promise.rows, min([*values, *columns]))
    found = looks(tables, truth, promise.quasi)
    rows, persons = found[: len(tables.qit)], found[len(tables.qit) :]
    size = int(found.max(initial=-1)) + 1
    both = np.minimum(np.bincount(rows, minlength=size), np.bincount(persons[persons >= 0], minlength=size))
    accounted = min([*values, int(both.sum())])
    if matching != "counted" or promise.sensitive is None:
        return Belongs("rows", promise.rows, accounted)
    known, fits = fitting(tables, release, truth, rows, persons)
    return Belongs("rows", promise.rows, accounted, int(known.sum()), int(fits.sum()))


def check_belongs(release: Release, truth: pa.Table) -> Belongs:
    """The same; raise if it is another table."""
    found = belongs(release, truth)
    if found.share < LEAST:
        raise InputError(
            f"the truth is not the table that was published: it accounts for {found.share:.1%} of the release, looked"
            f" at by {found.looked_at}, expected all of it",
            hint="name the table that this release was made of, as it was then",
        )
    return found


def in_common(release: Release, other: Release, quasi: Sequence[str]) -> float:
    """The share of a release that another accounts for, by quasi-identifiers that both show and by all values."""
    mine, theirs = read_tables(release), read_tables(other)
    values = _of_values(mine, _listed(theirs))
    if all(layout_of(each.promise).matching == "counted" for each in (release, other)):
        found = looks(mine, theirs.qit, tuple(quasi))
        rows, others = np.split(found, [len(mine.qit)])
        size = int(found.max(initial=-1)) + 1
        both = np.minimum(np.bincount(rows, minlength=size), np.bincount(others[others >= 0], minlength=size))
        return min(values, int(both.sum())) / release.promise.rows
    columns = [_shared(mine.qit[name], theirs.qit[name]) for name in quasi]
    return min([values, *columns]) / release.promise.rows


def _listed(tables: Tables) -> pa.ChunkedArray:
    """Every sensitive value as often as it is held."""
    times = np.asarray(tables.st["n"].cast(pa.int64()))
    return tables.st["value"].take(pa.array(np.repeat(np.arange(times.size), times)))


def _shared(shown: pa.ChunkedArray, held: pa.ChunkedArray) -> int:
    """How many values of a column are among those of another, each as often as in both."""
    domain = shown.unique()
    codes = [places(column, domain) for column in (shown, held)]
    counts = [np.bincount(each[each >= 0], minlength=len(domain)) for each in codes]
    return int(np.minimum(*counts).sum())


def _of_values(tables: Tables, held: pa.ChunkedArray) -> int:
    """How many sensitive values of a release are those of the table."""
    times = np.asarray(tables.st["n"].cast(pa.int64()))
    domain = tables.st["value"].unique()
    shown = np.bincount(places(tables.st["value"], domain), weights=times, minlength=len(domain))
    codes = places(held, domain)
    return int(np.minimum(shown, np.bincount(codes[codes >= 0], minlength=len(domain))).sum())


def looks(tables: Tables, truth: pa.Table, quasi: tuple[str, ...]) -> Ints:
    """A number for each look of the rows and then of the people; -1 of people whose values are not in the release."""
    columns, there = [], np.ones(len(truth), np.bool_)
    for name in quasi:
        domain = tables.qit[name].unique()
        domain = domain.combine_chunks() if isinstance(domain, pa.ChunkedArray) else domain
        codes = places(truth[name], domain)
        there &= codes >= 0
        columns.append(np.concatenate([places(tables.qit[name], domain), np.maximum(codes, 0)]))
    looks = combined(columns)[0].astype(np.int64)
    looks[len(tables.qit) :][~there] = -1
    return looks


def fitting(tables: Tables, release: Release, truth: pa.Table, rows: Ints, persons: Ints) -> tuple[Flags, Flags]:
    """Who looks like a row and holds a value of the release, and who of them holds one of such a row's group.

    `rows` and `persons` are numbers of looks.
    """
    promise = release.promise
    domain = pc.unique(tables.st["value"])
    many, held = len(domain), places(truth[promise.sensitive_column], domain)
    known = np.isin(persons, rows) & (persons >= 0) & (held >= 0)
    wanted, person = np.unique(persons[known] * many + held[known], return_inverse=True)
    fits = np.zeros(wanted.size, np.bool_)
    for keys in _possible(tables, places(tables.st["value"], domain), promise.group, rows, many):
        at = np.searchsorted(wanted, keys)
        hit = at < wanted.size
        hit[hit] = wanted[at[hit]] == keys[hit]
        fits[at[hit]] = True
    found = known.copy()
    found[known] = fits[person]
    return known, found


def _possible(tables: Tables, values: Ints, group: str, rows: Ints, many: int) -> Iterator[Ints]:
    """Every look with every value of its groups, as one number, some at a time."""
    order = np.argsort(groups := np.asarray(tables.st["grp"].cast(pa.int64())), kind="stable")
    groups, values = groups[order], values[order]
    own = np.asarray(tables.qit[group].cast(pa.int64()))
    start, end = np.searchsorted(groups, own), np.searchsorted(groups, own, side="right")
    sizes = end - start
    parts = np.searchsorted(np.cumsum(sizes), np.arange(0, sizes.sum(), AT_ONCE))
    for first, last in zip(parts, [*parts[1:], own.size], strict=True):
        several = sizes[first:last]
        within = np.arange(several.sum()) - np.repeat(np.cumsum(several) - several, several)
        yield np.repeat(rows[first:last] * many, several) + values[np.repeat(start[first:last], several) + within]
