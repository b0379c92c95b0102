"""What a full permutation shows of its groups, from the released files alone: the values of each column by itself.

A group implies a box, the generalization with the same groups: from its smallest to its largest number, date or
time, and of other columns the set of its values. What a column's whole extent is, nobody who holds
a release knows; it is taken to be what all rows together show.

    from low to high     their distance, and its share of the extent
    a set of values      those values among all of the column, nothing if it is one
    a missing value      nothing if a group holds no other, else the whole extent

Source: Li et al., "Permutation anonymization", J. Intell. Inf. Syst. 2015, definition 3 and example 4.
Cost: one sort of the rows for each column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.audit.files import read_tables
from discreet.audit.metrics.boxes import BoxSpans, Counts, Floats
from discreet.release import Release
from discreet.release.layouts import layout_of
from discreet.values.boxes import ends
from discreet.values.columns import UNORDERED
from discreet.values.positions import measured


@dataclass(frozen=True)
class Margin:
    """One column: its values in ascending order, a missing one last, and a line per group and value that occurs.

    Lines are ordered by value and group; `counts` says how many rows of the group hold the value. `rows` is the
    line of every row, `measured` whether values have distances.
    """

    domain: pa.Array
    measured: bool
    values: Counts
    groups: Counts
    counts: Counts
    rows: Counts

    @property
    def missing(self) -> bool:
        return bool(self.domain.null_count)

    @cached_property
    def starts(self) -> Counts:
        """Where the lines of each value start, and where the last ends."""
        return np.searchsorted(self.values, np.arange(len(self.domain) + 1))


@dataclass(frozen=True)
class Margins:
    """The groups of a release, numbered from 0: the size of each, and its columns by name.

    `group` is that of every row, `value` is the column of sensitive values, a row per person, if there is one.
    """

    sizes: Counts
    group: Counts
    columns: dict[str, Margin]
    value: Margin | None


def read_margins(release: Release) -> Margins | None:
    """The margins of a release; None if its rows are whole."""
    promise = release.promise
    if layout_of(promise).matching != "margins":
        return None
    tables = read_tables(release)
    numbers, group = np.unique(_whole(tables.qit[promise.group]), return_inverse=True)
    kinds = {name: kind for resource in release.manifest.resources for name, kind in resource.kinds().items()}
    columns = {name: _margin(tables.qit[name], group, measured=kinds[name] not in UNORDERED) for name in promise.quasi}
    value = None
    if promise.sensitive is not None:
        person = np.repeat(np.arange(len(tables.st)), _whole(tables.st["n"]))
        holders = np.searchsorted(numbers, _whole(tables.st["grp"]))[person]
        value = _margin(tables.st["value"].take(pa.array(person)), holders, measured=False)
    return Margins(np.bincount(group), group, columns, value)


def _margin(column: pa.ChunkedArray, group: Counts, *, measured: bool) -> Margin:
    domain = column.unique()
    domain = domain.take(pc.array_sort_indices(domain, null_placement="at_end"))
    codes = _whole(pc.index_in(column, value_set=domain))
    pairs, rows, counts = np.unique(codes * (group.max() + 1) + group, return_inverse=True, return_counts=True)
    values, groups = np.divmod(pairs, group.max() + 1)
    return Margin(domain, measured, values, groups, counts, rows)


def implied(margins: Margins) -> BoxSpans:
    """The boxes of the generalized table that has the same groups."""
    groups = margins.sizes.size
    spans, shares = [], []
    for margin in margins.columns.values():
        if margin.measured:
            span, share = _range(margin, groups)
            spans.append(span)
        else:
            share = _set(margin, groups)
        shares.append(share)
    none, unknown = np.zeros((groups, 0)), np.full(groups, np.nan)
    sides = np.stack(spans, 1) if spans else none
    return BoxSpans(np.arange(groups), margins.sizes, sides, np.stack(shares, 1), unknown)


def _range(margin: Margin, groups: int) -> tuple[Floats, Floats]:
    places = measured(margin.domain)
    present = margin.values < len(places) - margin.missing
    low, high = ends(places[margin.values[present]], margin.groups[present], groups)
    ended = high >= low
    mixed = ended & (np.bincount(margin.groups[~present], minlength=groups) > 0)
    with np.errstate(invalid="ignore", divide="ignore"):  # values may be infinite
        extent = high[ended].max() - low[ended].min() if ended.any() else 0.0
        span = np.where(ended & (low != high), high - low, 0.0)
        share = np.where(span == 0, 0.0, np.nan_to_num(span / extent, nan=1.0))
    return np.where(mixed, extent, span), np.where(mixed, 1.0, share)


def _set(margin: Margin, groups: int) -> Floats:
    distinct = np.bincount(margin.groups, minlength=groups)
    return np.where(distinct > 1, distinct / len(margin.domain), 0.0)


def _whole(numbers: pa.ChunkedArray) -> Counts:
    return np.asarray(numbers.cast(pa.int64()), np.int64)
