"""Which rows of a release could be a person's, by some quasi-identifiers: for attacks that look for people in it.

Where rows are shown as they are, those that look like the person; where boxes are, the rows of boxes that hold the
person; where columns are shuffled by themselves, the rows of groups that hold all values.
Cost: a sort of rows and people, or the boxes near each different person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.audit.enclosed import enclosing, read_shown
from discreet.audit.files import read_tables
from discreet.audit.metrics.margins import read_margins
from discreet.audit.metrics.truth import likeliest
from discreet.errors import InputError
from discreet.release import Release
from discreet.release.layouts import layout_of
from discreet.values.coded import code, combined

Ints = npt.NDArray[np.int64]


def looks(people: pa.Table) -> Ints:
    """One number for all who look the same."""
    return combined([code(column).codes for column in people.columns])[0].astype(np.int64)


def candidates(release: Release, people: pa.Table) -> Ints:
    """How many rows of a release could be each person's; `people` have some or all of its quasi-identifiers."""
    matching = layout_of(release.promise).matching
    missing = [name for name in release.promise.quasi if name not in people.column_names]
    if missing and matching in {"boxes", "margins"}:
        raise InputError(
            f"people are found in a release by `{release.promise.publication}` by all of its quasi-identifiers,"
            f" and `{missing[0]}` is not known of them",
            hint="give a table that has it",
        )
    if matching == "boxes":
        return _in_boxes(release, people)
    if matching == "margins":
        margins = read_margins(release)
        if margins is None:
            return np.zeros(len(people), np.int64)
        without = people.select([*margins.columns])
        average = round(release.promise.rows / release.promise.groups)
        return likeliest(replace(margins, value=None), without).groups * average
    return _in_rows(read_tables(release).qit, people)


def _in_rows(rows: pa.Table, people: pa.Table) -> Ints:
    same = looks(both(rows, people, people.column_names))
    counts = np.bincount(same[: len(rows)], minlength=int(same.max(initial=-1)) + 1)
    return np.asarray(counts[same[len(rows) :]], np.int64)


def _in_boxes(release: Release, people: pa.Table) -> Ints:
    shown = read_shown(release)
    same, first = combined([code(column).codes for column in people.columns])
    pairs = enclosing(shown, people.take(pa.array(first)))
    rows = np.bincount(pairs.people, shown.rows[pairs.boxes], first.size).astype(np.int64)
    return rows[same]


def both(first: pa.Table, second: pa.Table, names: Sequence[str]) -> pa.Table:
    """Some columns of two tables, one below the other, in the types of the first."""
    columns = []
    for name in names:
        kind = first[name].type
        try:
            columns.append(pa.chunked_array([*first[name].chunks, *second[name].cast(kind).chunks], kind))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(
                f"`{name}` holds {second[name].type} where {kind} is expected", hint="give both the same type"
            ) from None
    return pa.table(columns, names=[*names])


def known_of(release: Release, table: pa.Table, called: str) -> Sequence[str]:
    """The quasi-identifiers of a release that another table has; raise if it has none."""
    names = [name for name in release.promise.quasi if name in table.column_names]
    if not names:
        raise InputError(
            f"the {called} has none of the quasi-identifiers: `{'`, `'.join(release.promise.quasi)}`",
            hint="people are found by these: give a table that has some of them",
        )
    return names
