"""Tables of a database: described when they are opened, and read when rows are needed, or counted where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.engines import Engine, connect, source_of
from discreet.errors import InputError, InternalError
from discreet.table.table import Table, named
from discreet.values.codes import Codes, encode
from discreet.values.columns import Column
from discreet.values.written import Csv

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.engines.postgres.engine import Postgres
    from discreet.engines.postgres.source import Origin

DRAWN = 50_000  # rows, if a table has more
SAMPLE, TEXTS = "discreet_sample", "different texts"
ENDS = {
    "date": ("0001-01-01", "9999-12-31"),
    "timestamp": ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"),
    "time": ("00:00:00", "23:59:59.999999"),
}


class Remote(Table):
    """A table of a database, all rows of which are read at one moment, when the first of them is needed."""

    if TYPE_CHECKING:
        origin: Origin

    def __init__(self, origin: Origin, columns: tuple[Column, ...], name: str, reading: Callable[..., Engine]) -> None:
        self.__dict__.update(
            origin=origin, columns=columns, name=name, path=None, csv=Csv(), kept=None, _mark=(), _opening=reading
        )

    @cached_property
    def engine(self) -> Engine:
        opening: Callable[..., Engine] = self.__dict__["_opening"]
        return opening()

    def of_rows(self, rows: pa.Table) -> Table:
        """A table of some columns, of rows that were read already."""
        columns = tuple(column for column in self.columns if column.name in rows.column_names)
        return Table(self.__dict__["_opening"](rows), columns, self.name)

    def different(self, name: str, most: int) -> tuple[list[Any], bool]:
        if "engine" in self.__dict__:
            return super().different(name, most)
        found = self._values(name, most).column(0).to_pylist()
        return found, len(found) < most

    def over_values(self, name: str, figures: Sequence[exp.Expr]) -> list[int]:
        if "engine" in self.__dict__:
            return super().over_values(name, figures)
        with closing(connect(private=True)) as engine:
            return _over(engine, self._values(name, None), figures)

    def _values(self, name: str, most: int | None) -> pa.Table:
        """The different values of a column, without reading all rows."""
        found: pa.Table = source_of(self.origin.address).different(self.origin, name, most)
        return found

    def close(self) -> None:
        if "engine" in self.__dict__:
            super().close()

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<Table {self.name}: {len(self.columns)} columns of a database>"


class Counted(Table):
    """A table that stays in its server: what is known of it are counts, and no row.

    Its codes are those of all rows, but in the order of values.
    """

    engine: Postgres
    if TYPE_CHECKING:
        place: str

    def read(self, names: Sequence[str]) -> tuple[pa.Table, pa.ChunkedArray]:
        """Some columns of all rows, and the place of each; both leave the server, and are for this process alone."""
        columns = [exp.column(name, quoted=True) for name in names]
        place = exp.alias_(exp.cast(exp.column(self.place, quoted=True), "TEXT"), self.place, quoted=True)
        with self._reading():
            rows = self.engine.copied(self.select([]).select(*columns, place))
        return rows.drop_columns([self.place]), rows.column(self.place)

    def codes(self, name: str, *, present: str | None = None, at: npt.NDArray[np.integer[Any]] | None = None) -> Codes:
        if at is not None:
            raise InternalError("rows of a server have no places")
        [codes] = self._counted([name], self.select([name], present=present))
        return codes

    def together(self, names: Sequence[str], other: str, *, present: str | None) -> Iterator[tuple[Codes, Codes]]:
        """Each of some columns beside another, of all rows, or of some that are drawn once for all of them."""
        for name in names:
            one, two = self._counted([name, other], self._some([name, other], present))
            yield one, two

    def draw(self, names: Sequence[str]) -> None:
        """Draw rows of a large table once, for all looks at these columns that need not see every row."""
        if self.sampled:
            share = exp.Literal.number(DRAWN / self.rows)
            self.engine.keep(SAMPLE, self.select(names).where(exp.LT(this=exp.Rand(), expression=share)))

    def _some(self, names: Sequence[str], present: str | None = None) -> exp.Select:
        if not self.sampled:
            return self.select(names, present=present)
        rows = exp.select(*(exp.column(name, quoted=True) for name in names)).from_(named(SAMPLE))
        return rows if present is None else rows.where(exp.column(present, quoted=True).is_(exp.null()).not_())

    @property
    def sampled(self) -> bool:
        """Whether columns are laid beside each other of some rows only."""
        return self.rows > DRAWN

    def different(self, name: str, most: int) -> tuple[list[Any], bool]:
        found = self.engine.copied(self._some([name]).distinct().limit(most)).column(0).to_pylist()
        return found, len(found) < most and not self.sampled

    def over_values(self, name: str, figures: Sequence[exp.Expr]) -> list[int]:
        """Computed here: a server forgets how to read more than 32 patterns, and learns each anew for every value."""
        return _over(self.engine, self.engine.copied(self.select([name]).distinct()), figures)

    def _counted(self, names: Sequence[str], rows: exp.Select) -> list[Codes]:
        columns = [exp.column(name, quoted=True) for name in names]
        numbered = [exp.alias_(column.copy(), f"c{i}") for i, column in enumerate(columns)]
        query = exp.select(*numbered, exp.alias_(exp.Count(this=exp.Star()), "n")).from_(rows.subquery("rows"))
        with self._reading():
            found = self.engine.copied(query.group_by(*(column.copy() for column in columns)))
        times = found.column("n").to_numpy()
        coded = [encode(found.column(i).cast(self[name].type)) for i, name in enumerate(names)]
        order = np.argsort(coded[0].codes, kind="stable")
        return [Codes(np.repeat(each.codes[order], times[order]), each.domain, each.missing) for each in coded]

    def check_in_range(self, names: Sequence[str]) -> None:
        """Raise if a date or time is infinite, or a decimal number none, or one that a file could not hold."""
        for name in names:
            if (outside := _outside(self[name])) is None:
                continue
            query = exp.select(exp.CountIf(this=outside)).from_(self.select([name]).subquery("rows"))
            if self._column(query)[0].as_py():
                what = "number" if pa.types.is_decimal(self[name].type) else "date or time"
                raise InputError(
                    f"a {what} of `{name}` is infinite or out of range",
                    hint="leave such rows out with a query, or make the value missing with NULLIF",
                )


def _outside(column: Column) -> exp.Expr | None:
    """Whether a value of a column is one that a file could not hold; none if there is no such value."""
    value, kind = exp.column(column.name, quoted=True), column.kind or ""
    if pa.types.is_decimal(column.type):  # which may be NaN in a server
        return exp.IsNan(this=value)
    if kind not in ENDS:
        return None
    low, high = (exp.cast(exp.Literal.string(end), exp.DataType.build(kind)) for end in ENDS[kind])
    return exp.not_(exp.Between(this=value, low=low, high=high))


def _over(engine: Engine, values: pa.Table, figures: Sequence[exp.Expr]) -> list[int]:
    """Numbers that are computed here of values of a server."""
    engine.load(TEXTS, values, keep=False)
    try:
        return [int(column[0].as_py() or 0) for column in engine.run(exp.select(*figures).from_(named(TEXTS))).columns]
    finally:
        engine.forget(TEXTS)
