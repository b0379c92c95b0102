"""The groups of a release, read from its files: where their rows and values start, and the values as codes.

Whoever goes over all groups begins here: the compiled pass that answers, and the models that learn from a release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numba as nb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.engines import Engine
from discreet.engines.dialect import sql_type
from discreet.release.cache import Cache
from discreet.release.layouts.file import named
from discreet.release.manifest import Promise
from discreet.values.coded import DENSE, Coded, code, has_many, narrow, to_numpy, whole_numbers

Ints: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]
Codes: TypeAlias = npt.NDArray[Any]  # of one, two or four bytes

NONE = np.zeros(0, np.int32)
CODED, GROUPS = ("codes", "values"), ""  # a column of the release has a name


class Groups(NamedTuple):
    """Where the rows and the values of each group start, and of each value its code and how many rows hold it."""

    rows: Longs
    held: Longs
    n: Ints
    values: Coded


def read_groups(engine: Engine, promise: Promise, cache: Cache) -> Groups | None:
    """The groups of a release, from its files as the engine sees them; None if they are not whole, or not in order."""
    source = PUBLICATIONS.get(promise.publication)
    if source is None or promise.sensitive is None:
        return None
    groups = _kept(cache, promise)
    if groups is None:
        groups = source.read(engine, promise, promise.sensitive)
        if groups is None:
            return None
        cache.put(GROUPS, {"rows": groups.rows, "held": groups.held, "n": groups.n, **groups.values.arrays()})
    counted = np.add.reduceat(groups.n, groups.held[:-1], dtype=np.int64) if groups.n.size else np.diff(groups.held)
    return groups if np.array_equal(np.diff(groups.rows), counted) else None


def _kept(cache: Cache, promise: Promise) -> Groups | None:
    """What an earlier process left, if it can be so."""
    arrays = cache.get(GROUPS, ("rows", "held", "n", *CODED))
    if arrays is None:
        return None
    rows, held, n = arrays["rows"], arrays["held"], arrays["n"]
    if not (_are_offsets(rows, promise) and _are_offsets(held, promise) and n.dtype == np.int32):
        return None
    values = Coded.of(arrays, int(held[-1]))
    sound = values is not None and n.shape in {(0,), (held[-1],)} and rows[-1] == promise.rows
    return Groups(rows, held, n, values) if sound and values is not None and (n > 0).all() else None


def _are_offsets(offsets: Longs, promise: Promise) -> bool:
    return (
        offsets.shape == (promise.groups + 1,)
        and offsets.dtype == np.int64
        and offsets[0] == 0
        and bool((np.diff(offsets) > 0).all())
    )


def _anatomy(engine: Engine, promise: Promise, sensitive: str) -> Groups | None:
    [of_rows] = _columns(engine, "qit file", promise.group)
    [of_values] = _columns(engine, "st file", promise.group)
    rows, held = _offsets(of_rows, promise), _offsets(of_values, promise)
    if rows is None or held is None:
        return None
    n = NONE
    if _ranges(engine, "st file", [promise.count])[promise.count] != (1, 1):
        [counts] = _columns(engine, "st file", promise.count)
        n = counts.astype(np.int32)
    return Groups(rows, held, n, read_all(engine, "st file", [sensitive])[sensitive])


def _permutation(engine: Engine, promise: Promise, sensitive: str) -> Groups | None:
    [row] = _columns(engine, "permuted file", promise.row)
    same, groups = _columns(engine, "mapping file", promise.row, promise.group)
    rows = _offsets(groups, promise)
    if rows is None or not ((np.diff(row) > 0).all() and np.array_equal(row, same)):
        return None
    coded = read_all(engine, "permuted file", [sensitive])[sensitive]
    held, codes, n = distinct(rows, coded.codes, len(coded.values))
    return Groups(rows, held, NONE if n.max(initial=1) == 1 else n, Coded(codes, coded.values))


class Source(NamedTuple):
    """How groups are read, and the relations of their rows and of their values."""

    read: Callable[[Engine, Promise, str], Groups | None]
    rows: str
    values: str


# The publications whose rows can be counted.
PUBLICATIONS = {
    "anatomy": Source(_anatomy, "qit file", "st file"),
    "permutation": Source(_permutation, "permuted file", "permuted file"),
}


def _columns(engine: Engine, relation: str, *names: str) -> list[npt.NDArray[Any]]:
    """Columns of whole numbers, none missing."""
    query = exp.select(*(exp.column(name, quoted=True) for name in names))
    return [to_numpy(column) for column in engine.run(query.from_(named(relation))).columns]


def read_all(engine: Engine, relation: str, names: Sequence[str]) -> dict[str, Coded]:
    """Columns as codes, however many values they have."""
    found = {}
    for name, coded in read_coded(engine, relation, names).items():
        column = exp.select(exp.column(name, quoted=True)).from_(named(relation))
        found[name] = code(engine.run(column).column(0)) if coded is None else coded
    return found


def _offsets(groups: npt.NDArray[Any], promise: Promise) -> Longs | None:
    """Where each group starts; None if rows do not lie in the order of groups, all of which have some."""
    if not groups.size or groups.dtype.kind not in "iu":
        return None
    offsets: Longs = offsets_of(groups, int(groups[0]), promise.groups)
    return offsets if offsets.size and _are_offsets(offsets, promise) else None


def read_coded(engine: Engine, relation: str, names: Sequence[str]) -> dict[str, Coded | None]:
    """Columns as codes; None where nearly every row has a value of its own.

    Whole numbers in a small range leave the engine as their codes: that takes less than the numbers.
    """
    columns = {name: exp.column(name, quoted=True) for name in names}
    kinds = engine.run(exp.select(*columns.values()).from_(named(relation)).limit(0)).schema
    whole = [name for name, kind in zip(names, kinds.types, strict=True) if pa.types.is_integer(kind)]
    ranges = {name: each for name, each in _ranges(engine, relation, whole).items() if each is not None}
    wanted = [_distance(columns[name], *ranges[name]) if name in ranges else columns[name] for name in names]
    table = engine.run(exp.select(*wanted).from_(named(relation)))
    found: dict[str, Coded | None] = {}
    for name, column, kind in zip(names, table.columns, kinds.types, strict=True):
        if name in ranges:
            found[name] = Coded(to_numpy(column), whole_numbers(*ranges[name], kind))
        else:
            found[name] = None if has_many(column) else code(column)
    return found


def _ranges(engine: Engine, relation: str, names: Sequence[str]) -> dict[str, tuple[int, int] | None]:
    """The smallest and the largest of columns of whole numbers; None if one is missing, or they are far apart."""
    if not names:
        return {}
    query = exp.select().from_(named(relation))
    for name in names:
        column = exp.column(name, quoted=True)
        gaps = exp.Sub(this=exp.Count(this=exp.Star()), expression=exp.Count(this=column.copy()))
        query = query.select(exp.Min(this=column), exp.Max(this=column.copy()), gaps)
    [row] = zip(*(column.to_pylist() for column in engine.run(query).columns), strict=True)
    found: dict[str, tuple[int, int] | None] = {}
    for name, low, high, gaps in zip(names, row[::3], row[1::3], row[2::3], strict=True):
        fits = low is not None and not gaps and high - low < DENSE and low > -(2**62) and high < 2**62
        found[name] = (low, high) if fits else None
    return found


def _distance(column: exp.Expr, low: int, high: int) -> exp.Expr:
    """How far a whole number is from the smallest."""
    number = exp.Sub(this=exp.cast(column.copy(), "BIGINT"), expression=exp.Literal.number(low))
    return exp.cast(number, sql_type(pa.from_numpy_dtype(narrow(high - low + 1))))


@nb.njit(cache=True, nogil=True, error_model="numpy")
def offsets_of(groups: Codes, first: int, count: int) -> Longs:
    """Where each of `count` groups starts, the first having the number `first`; empty if they are out of order."""
    offsets = np.zeros(count + 1, np.int64)
    before = np.int64(-1)
    for i in range(groups.size):
        group = np.int64(groups[i]) - first
        if group < before or group >= count:
            return np.zeros(0, np.int64)
        before = group
        offsets[group + 1] += 1
    for g in range(count):
        offsets[g + 1] += offsets[g]
    return offsets


@nb.njit(cache=True, nogil=True, error_model="numpy")
def distinct(offsets: Longs, codes: Codes, values: int) -> tuple[Longs, Codes, Ints]:
    """Per group, its distinct codes in their order and how many entries have each."""
    found = np.empty(offsets.size, np.int64)
    held, n = np.empty(codes.size, codes.dtype), np.empty(codes.size, np.int32)
    seen = np.zeros(values, np.int32)
    end = 0
    for g in range(offsets.size - 1):
        start = end
        for i in range(offsets[g], offsets[g + 1]):
            code = codes[i]
            if seen[code] == 0:
                held[end] = code
                end += 1
            seen[code] += 1
        held[start:end].sort()
        found[g] = start
        for i in range(start, end):
            n[i] = seen[held[i]]
            seen[held[i]] = 0
    found[offsets.size - 1] = end
    return found, held[:end].copy(), n[:end].copy()
