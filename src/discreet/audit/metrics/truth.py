"""Hold the private table against a full permutation: in which group each person may be, and how much that group tells.

For auditors who have the private table; nothing of it is kept. It is read by the engine, like any data file.
Cost: for each different beginning of a person's values the groups that hold all but its last, each looked for in the
list of groups that hold the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from discreet.audit.metrics.boxes import Counts, Floats
from discreet.audit.metrics.margins import Margins
from discreet.engines import connect
from discreet.errors import DiscreetError, InputError
from discreet.release.layouts.file import column
from discreet.words import nearest

FILES = {".csv", ".parquet"}


def read_truth(
    truth: str | Path | Any, columns: Sequence[str] | None, called: str = "truth", texts: Sequence[str] = ()
) -> pa.Table:
    """Some columns of the private table, or all of a table that is called otherwise, as they were published.

    `truth` is a file, or a frame that Arrow can read. Columns of a CSV file that are said to be `texts` are read as
    such: where all are `F`, they would be taken for false.
    """
    engine = connect(private=True)
    try:
        source = _source(truth, called)
        engine.load("truth", source, keep=False)
        found = engine.schema("truth")
        known = found.names
        if isinstance(source, Path) and source.suffix.lower() == ".csv":
            other = [name for name in texts if name in known and not pa.types.is_string(found.field(name).type)]
            if other:
                engine.load("truth", source, keep=False, texts=other)
        for name in columns or ():
            if name not in known:
                raise InputError(f"the {called} has no column `{name}`", hint=nearest(name, known))
        return engine.run(exp.select(*map(column, known if columns is None else columns)).from_("truth"))
    except DiscreetError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the {called} cannot be read: {error.message}") from None
    finally:
        engine.close()


def _source(truth: str | Path | Any, called: str) -> pa.Table | Path:
    if not isinstance(truth, str | Path):
        try:
            return pa.table(truth)
        except (TypeError, ValueError, pa.ArrowException):
            raise InputError(
                f"the {called} cannot be a {type(truth).__name__}", hint="pass a file or a frame"
            ) from None
    path = Path(truth)
    if not path.is_file():
        raise InputError(f"there is no file `{path}`", hint="check the path and the spelling")
    if path.suffix.lower() not in FILES:
        raise InputError(f"`{path}` is not a `.csv` or `.parquet` file", hint="name the file that was published")
    return path


class People(NamedTuple):
    """For each person the likeliest group of those that hold all of their values (-1: none does) and presence there.

    `holders` of it have the person's sensitive value (nobody, if there is no such column); `groups` hold all of the
    person's quasi-identifiers.
    """

    group: Counts
    presence: Floats
    holders: Counts
    groups: Counts


def likeliest(margins: Margins, people: pa.Table) -> People:
    """Look for each person in the groups of a release."""
    columns = [*margins.columns.values(), *([] if margins.value is None else [margins.value])]
    slots = np.empty((len(people), len(columns)), np.int64)
    first = 0
    for i, (margin, values) in enumerate(zip(columns, people.columns, strict=True)):
        codes = places(values, margin.domain)
        slots[:, i] = np.where(codes < 0, -1, codes + first)
        first += len(margin.domain)
    lines = np.cumsum([0, *(margin.counts.size for margin in columns)])
    ends = [margin.starts[:-1] + at for margin, at in zip(columns, lines, strict=False)]
    # first what tells most; sensitive values stay last
    narrow = np.argsort([-len(margin.domain) for margin in margins.columns.values()], kind="stable")
    order = [*narrow, *range(len(narrow), len(columns))]
    different, person = np.unique(slots[:, order], axis=0, return_inverse=True)
    group, delta, held, could = _likeliest(
        different,
        np.append(np.concatenate(ends), lines[-1]),
        np.concatenate([margin.groups for margin in columns]),
        np.concatenate([margin.counts for margin in columns]),
        margins.sizes,
        len(margins.columns),
    )
    at = person.reshape(-1)
    return People(group[at], delta[at], held[at], could[at])


def places(values: pa.ChunkedArray, domain: pa.Array) -> Counts:
    """The places of values in the domain of a column, -1 for those that were not published."""
    try:
        same = values.cast(domain.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"the truth holds {values.type} where the release has {domain.type}", hint="give both the same type"
        ) from None
    if pa.types.is_floating(same.type):
        same = pc.if_else(pc.is_nan(same), pa.scalar(None, same.type), pc.add(same, pa.scalar(0, same.type)))
    found = pc.index_in(same, value_set=domain)
    return np.asarray(pc.fill_null(found, -1).cast(pa.int64()), np.int64)


@nb.njit(cache=True, nogil=True)
def _likeliest(
    slots: npt.NDArray[np.int64],
    ends: Counts,
    groups: Counts,
    counts: Counts,
    sizes: Counts,
    quasi: int,
) -> tuple[Counts, Floats, Counts, Counts]:
    """The same for rows of slots, in order; each slot is the number of a list of groups and counts.

    The counts of the first `quasi` are multiplied. People who agree in their first columns share the groups that these
    leave.
    """
    people, columns = slots.shape
    best, delta, held = np.full(people, -1, np.int64), np.zeros(people), np.zeros(people, np.int64)
    could = np.zeros(people, np.int64)
    left = np.empty((columns + 1, sizes.size), np.int64)
    share = np.ones((columns + 1, sizes.size))
    count = np.zeros(sizes.size, np.int64)
    many = np.zeros(columns + 1, np.int64)
    left[0], many[0] = np.arange(sizes.size), sizes.size
    for person in range(people):
        same = 0
        while person > 0 and same < columns - 1 and slots[person, same] == slots[person - 1, same]:
            same += 1
        for i in range(same, columns):
            many[i + 1] = 0
            if slots[person, i] < 0:
                continue
            line, end = ends[slots[person, i]], ends[slots[person, i] + 1]
            for at in range(many[i]):
                group = left[i, at]
                line = _from(groups, line, end, group)
                if line == end:
                    break
                if groups[line] == group:
                    to = many[i + 1]
                    left[i + 1, to], count[to] = group, counts[line]
                    part = counts[line] / sizes[group] if i < quasi else 1.0
                    share[i + 1, to] = share[i, at] * part
                    many[i + 1] = to + 1
        could[person] = many[quasi]
        for at in range(many[columns]):
            if share[columns, at] > delta[person]:
                best[person], delta[person] = left[columns, at], share[columns, at]
                held[person] = count[at] if columns > quasi else 0
    return best, delta, held, could


@nb.njit(cache=True, nogil=True)
def _from(groups: Counts, low: int, end: int, group: int) -> int:
    """The first line of an ascending list that is not before a group, looked for in steps that double."""
    step = 1
    while low + step < end and groups[low + step] < group:
        low += step
        step *= 2
    high = min(low + step, end)
    while low < high:
        middle = (low + high) // 2
        if groups[middle] < group:
            low = middle + 1
        else:
            high = middle
    return low
