"""Plausible tables of a release, for any analysis: complete, and each consistent with the release to the last row.

They come from the release itself, if it carries any; else they are drawn from its files, and kept in the cache outside
of it for the next time. Chance is seeded by the digests of the files, so whoever holds the release draws the same.
Cost: what the model takes; then one sort of the rows, and the memory of one code per row and table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.engines import connect
from discreet.learn.drawn import Draws, Fit, Name, Progress
from discreet.learn.draws import VERSION, check_tables, draw
from discreet.learn.learned import keeps
from discreet.learn.view import View, present
from discreet.release.cache import Cache
from discreet.release.groups import read_all
from discreet.release.layouts.file import column, named
from discreet.release.layouts.plausible import NAME, drawn
from discreet.release.manifest import PlausibleTables, Promise
from discreet.release.relations import load_file
from discreet.release.release import Release
from discreet.values import frames
from discreet.values.coded import Coded, code, narrow, to_arrow
from discreet.values.random import RandomSource

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

TABLES = 20
OLDER = "the manifest does not state by what chance rows came to their groups; a model has to do without"
ONE_GROUP = "the release has one group: nothing tells its rows apart, and all assignments are taken as equally likely"
SAME = "every group holds one value: all plausible tables are the same"
ONCE = "no value of `{}` occurs twice: a model learns of each from one row, and from values that are near"


@dataclass(frozen=True, eq=False)
class Plausible(Sequence[pa.Table]):
    """Tables with the columns of the release: the quasi-identifiers in its order, then the sensitive one.

    Row i is the same row in every table; rows follow their quasi-identifiers, and those that agree in all of them
    follow no order that means anything. `shown` is what all tables share, `values[codes[m, i]]` what row i holds in
    table m. `notes` are what is to be said beside any result.
    """

    shown: pa.Table
    sensitive: str
    values: pa.Array
    codes: npt.NDArray[Any]
    fit: Fit
    notes: tuple[str, ...] = ()

    @property
    def tables(self) -> list[pa.Table]:
        return [*self]

    def to_pandas(self) -> list[pd.DataFrame]:
        return [frames.to_pandas(table) for table in self]

    def to_polars(self) -> list[pl.DataFrame]:
        return [frames.to_polars(table) for table in self]

    def beside(self, names: Sequence[str]) -> pa.Table:
        """All tables in one: what they share, and beside it a column for each, as codes into the values."""
        columns = [pa.DictionaryArray.from_arrays(to_arrow(codes), self.values) for codes in self.codes]
        return pa.table([*self.shown.columns, *columns], names=[*self.shown.column_names, *names[: len(self)]])

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, at: int) -> pa.Table: ...
    @overload
    def __getitem__(self, at: slice) -> list[pa.Table]: ...
    def __getitem__(self, at: int | slice) -> pa.Table | list[pa.Table]:
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        return self.shown.append_column(self.sensitive, self.values.take(to_arrow(self.codes[at])))

    def __iter__(self) -> Iterator[pa.Table]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        return f"<Plausible: {len(self)} tables of {len(self.shown):,} rows by the model `{self.fit.model}`>"


def plausible(
    release: Release, tables: int = TABLES, *, model: Name = "learned", progress: Progress = lambda _: None
) -> Plausible:
    """So many plausible tables of a release; see `Release.plausible`."""
    check_tables(tables)
    carried = release.promise.plausible
    if carried is not None and carried.model == model and tables <= carried.tables:
        return _carried(release, carried, tables)
    view = View.of(release)
    cache, item = Cache.of(release, least=0), f"plausible {model} {tables} {VERSION}"
    draws = _kept(cache, item, view, tables)
    if draws is None:
        draws = draw(view, tables, model=model, secret=secret_of(release), progress=progress)
        told = np.frombuffer(json.dumps(asdict(draws.fit)).encode(), np.uint8)
        cache.put(item, {"codes": draws.codes, "fit": told})
    return _ordered(release, view.shown, view.values, draws)


def secret_of(release: Release) -> int:
    """The seed of chance: from the digests of the files that tables are drawn from, which anyone can compute."""
    others = (resource for resource in release.manifest.resources if resource.name != NAME)
    hashes = (digest for resource in others for digest in resource.digests)
    return int.from_bytes(hashlib.sha256("\n".join(hashes).encode()).digest(), "big")


def _kept(cache: Cache, item: str, view: View, tables: int) -> Draws | None:
    """What an earlier process drew, if it can be so."""
    arrays = cache.get(item, ("codes", "fit"))
    if arrays is None:
        return None
    codes = arrays["codes"]
    if codes.shape != (tables, view.rows) or codes.dtype != narrow(len(view.values)):
        return None
    seed = RandomSource().words(1)[0]
    if not all(keeps(view.starts, view.held, table, seed) for table in codes):
        return None
    try:
        told = json.loads(arrays["fit"].tobytes())
        return Draws(codes, Fit(**{**told, "notes": tuple(told["notes"])}))
    except (ValueError, TypeError, KeyError):
        return None


def _carried(release: Release, carried: PlausibleTables, tables: int) -> Plausible:
    """The first tables of those that the release carries."""
    promise = release.promise
    with closing(connect(groups=promise.groups)) as engine:
        load_file(engine, release.path, release.manifest.resource(NAME))
        shown = read_all(engine, f"{NAME} file", promise.shown)
        wanted = [column(name) for name in drawn(promise)[:tables]]
        found = engine.run(exp.select(*wanted).from_(named(f"{NAME} file")))
    values = present(code(pa.chunked_array([chunk for each in found.columns for chunk in each.chunks])))
    fit = Fit(carried.model, rhat=carried.rhat, notes=carried.notes or ())
    return _ordered(release, shown, values.values, Draws(values.codes.reshape(tables, -1), fit))


def _ordered(release: Release, shown: dict[str, Coded], values: pa.Array, draws: Draws) -> Plausible:
    """The tables in the order of what their rows show."""
    order = np.lexsort([_mixed(draws.codes), *reversed(_keys(shown))])
    at = to_arrow(order)
    rows = pa.table({name: coded.decode().take(at) for name, coded in shown.items()})
    codes, sensitive = np.ascontiguousarray(draws.codes[:, order]), release.promise.sensitive_column
    notes = (*draws.fit.notes, *_told(release.promise, codes, len(values)))
    return Plausible(rows, sensitive, values, codes, draws.fit, notes)


def _told(promise: Promise, codes: npt.NDArray[Any], values: int) -> Iterator[str]:
    """What is to be said where there is little to learn."""
    if promise.estimator is None:
        yield OLDER
    if promise.groups == 1:
        yield ONE_GROUP
    if (codes == codes[0]).all():
        yield SAME
    if values == promise.rows:
        yield ONCE.format(promise.sensitive)


def _keys(columns: dict[str, Coded]) -> list[npt.NDArray[np.int64]]:
    """Columns as few keys that sort alike, the first the most important."""
    found: list[npt.NDArray[np.int64]] = []
    room = 0
    for coded in columns.values():
        size = max(len(coded.values), 1)
        if room < size:
            found.append(np.zeros(coded.codes.size, np.int64))
            room = 2**62
        found[-1] = found[-1] * size + coded.codes
        room //= size
    return found


def _mixed(codes: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """A number for each row that follows from its values in all tables, and is in no order with any."""
    found = np.zeros(codes.shape[1], np.uint64)
    for table in codes:
        found = (found ^ table.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return found
