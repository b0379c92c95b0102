"""Whether a private table is the one that a release was made of: how much of the release it accounts for.

All that a release shows came from its table, so the table accounts for every row of it: by the quasi-identifiers of
whole rows where these are shown, else by people whom a box or a group can hold, and by the sensitive values in any
case. Rows of the table that were withheld or suppressed do not matter. Each person who looks like a row, or is in a
box, or whose values a group has, must also hold a sensitive value of such a group. Another release that is said to be
of the same people is held against it in the same way: by rows or columns that both show, and by all sensitive values.
Cost: one sort of the rows of both, and rows x values of their groups; of boxes and columns, so many people are drawn at
random, and looked for in those near them.
Claim: the_table_that_was_published_belongs — it accounts for all of its release, and a shuffled one does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.audit.enclosed import enclosing, read_shown
from discreet.audit.files import Tables, numbers, read_tables
from discreet.audit.metrics.margins import read_margins
from discreet.audit.metrics.truth import likeliest, places
from discreet.errors import InputError, InternalError
from discreet.release import Release
from discreet.release.layouts import layout_of
from discreet.values.coded import combined

LEAST = 0.9  # of the rows, below which it is another table; the rest may be rounding, or a correction made later
AT_ONCE = 1 << 22  # pairs of a row and a value
DRAWN = 10_000  # people who are looked for in boxes, or in groups by the values of each column

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Belongs:
    """Of the `rows` of a release those that the table accounts for, and of the people in both those whose value fits.

    `looked_at` says by what: whole rows, boxes, or columns by themselves. Of the last two, people are those who were
    drawn, and how many rows the table accounts for is reckoned from these. Whether values fit cannot be told (None)
    where a release does not show the values of its groups of rows.
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
    layout = layout_of(promise)
    tally = layout.tally(promise)
    values = [] if promise.sensitive is None else [_of_values(tables, truth[promise.sensitive])]
    if layout.matching in {"boxes", "margins"}:
        some = _drawn(truth)
        if layout.matching == "boxes":
            looked_at, (there, fits) = "boxes", _in_boxes(release, tables, some)
        else:
            looked_at, (there, fits) = "columns", _in_groups(release, some)
            values += [_shared(tables.qit[name], truth[name]) for name in promise.quasi]
        reached = round(int(there.sum()) * len(truth) / max(len(some), 1))
        accounted = min([*values, reached, tally.people])
        if promise.sensitive is None or tally.apart:
            return Belongs(looked_at, tally.people, accounted)
        known = there & (places(some[promise.sensitive], pc.unique(tables.st["value"])) >= 0)
        return Belongs(looked_at, tally.people, accounted, int(known.sum()), int((known & fits).sum()))
    found = looks(tables, truth, promise.quasi)
    rows, persons = found[: len(tables.qit)], found[len(tables.qit) :]
    size = int(found.max(initial=-1)) + 1
    both = np.minimum(np.bincount(rows, minlength=size), np.bincount(persons[persons >= 0], minlength=size))
    accounted = min([*values, int(both.sum())])
    if layout.matching != "counted" or promise.sensitive is None:
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


def _drawn(truth: pa.Table) -> pa.Table:
    """All people of a table, or some at random."""
    if len(truth) <= DRAWN:
        return truth
    return truth.take(pa.array(np.sort(np.random.default_rng(len(truth)).choice(len(truth), DRAWN, replace=False))))


def _in_boxes(release: Release, tables: Tables, people: pa.Table) -> tuple[Flags, Flags]:
    """Whom a box holds, and who also holds a value of the group of such a box."""
    boxes = read_shown(release)
    pairs = enclosing(boxes, people)
    there = np.diff(pairs.ends) > 0
    if release.promise.sensitive is None:
        return there, there
    domain = pc.unique(tables.st["value"])
    shown = numbers(tables.st["grp"]) * len(domain) + places(tables.st["value"], domain)
    held = places(people[release.promise.sensitive], domain)[pairs.people]
    hits = np.isin(boxes.group[pairs.boxes] * len(domain) + held, shown) & (held >= 0)
    return there, np.bincount(pairs.people[hits], minlength=len(people)) > 0


def _in_groups(release: Release, people: pa.Table) -> tuple[Flags, Flags]:
    """Whose quasi-identifiers are all among the values of a group, and whose sensitive value is as well."""
    margins = read_margins(release)
    if margins is None:
        raise InternalError("a release that shows columns by themselves has none")
    found = likeliest(margins, people)
    return found.groups > 0, found.group >= 0


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
