"""A private table that lives in an engine, and its columns as integer codes over ordered domains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.engines import Engine
from discreet.errors import EngineError, InputError
from discreet.table.faults import unreadable
from discreet.values.codes import Codes, encode
from discreet.values.columns import Column
from discreet.values.written import Csv

if TYPE_CHECKING:
    from discreet.table.looks import Look
    from discreet.table.profile import Profile

RELATION = "private"  # every column, or those that are held
COPY = "private copy"  # what is held of a file
WHOLE = "private as it came"  # every column, read where it is


@dataclass(frozen=True)
class Table:
    """The private table. Rows keep the order in which the engine scans them; nothing of it is ever released."""

    engine: Engine = field(repr=False)
    columns: tuple[Column, ...]
    name: str = "microdata"
    path: Path | None = None
    csv: Csv = field(default_factory=Csv, repr=False)
    kept: IO[bytes] | None = field(default=None, repr=False)  # what the engine reads, where it has no name

    def __post_init__(self) -> None:
        object.__setattr__(self, "_mark", self._marked())

    def _marked(self) -> tuple[int, ...]:
        """What changes about the file when somebody writes to it."""
        if self.path is None or not self.path.exists():
            return ()
        about = self.path.stat()
        return about.st_size, about.st_mtime_ns, about.st_ino

    def check_unchanged(self) -> None:
        """Raise if the file was written to since it was first read: rows are read more than once."""
        if self._marked() != self.__dict__["_mark"]:
            raise InputError(f"`{self.path}` changed while it was read; nothing was published", hint="publish it again")

    @cached_property
    def rows(self) -> int:
        """How many rows there are."""
        return self.count()

    def count(self, *, present: str | None = None) -> int:
        """How many rows there are, or how many where `present` is not missing."""
        any_column = next(name for name in self.names() if self._held is None or name in self._held)
        rows = self.select([any_column], present=present).subquery("t")
        return int(self._column(exp.select(exp.Count(this=exp.Star())).from_(rows))[0].as_py())

    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def hold(self, names: Iterable[str]) -> None:
        """Parse a CSV file once, for these columns alone; what is not named is never in memory, nor spilled to disk.

        The others can still be selected, from the file. Parquet and Arrow are read where they are, column by column.
        """
        wanted = {*names} | (self._held or set())
        if self.path is None or self.path.suffix.lower() == ".parquet" or wanted == self._held:
            return
        columns = (exp.column(name, quoted=True) for name in self.names() if name in wanted)
        with self._reading():
            self.engine.load(COPY, exp.select(*columns).from_(named(WHOLE)))
        self.engine.load(RELATION, exp.select("*").from_(named(COPY)), keep=False)
        self.__dict__["_held"] = wanted

    @property
    def _held(self) -> set[str] | None:
        """The columns that are held apart from their file; None if every one is read where it is."""
        held: set[str] | None = self.__dict__.get("_held")
        return held

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def select(self, names: Sequence[str], *, present: str | None = None) -> exp.Select:
        """The query for some of the columns, of all rows or only of those where `present` is not missing."""
        asked = {*names, *([] if present is None else [present])}
        relation = RELATION if self._held is None or asked <= self._held else WHOLE
        query = exp.select(*(exp.column(name, quoted=True) for name in names)).from_(named(relation))
        if present is None:
            return query
        return query.where(exp.column(present, quoted=True).is_(exp.null()).not_())

    def codes(self, name: str, *, present: str | None = None, at: npt.NDArray[np.integer[Any]] | None = None) -> Codes:
        """One column as integer codes, in row order: of all rows, or of those at some places."""
        column = self._column(self.select([name], present=present))
        return encode(column if at is None else column.take(pa.array(at)))

    def _column(self, query: exp.Select) -> pa.ChunkedArray:
        """The first column of a query over the table."""
        with self._reading():
            return self.engine.run(query).column(0)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Rows are read: say what is wrong with the file that they come from."""
        try:
            yield
        except InputError as error:
            raise error if self.path is None else unreadable(self.path, error, self.csv) from None
        except EngineError as error:
            raise InputError(f"`{self.path or self.name}` cannot be read: {error.message}", hint=error.hint) from None

    def different(self, name: str, most: int) -> tuple[list[Any], bool]:
        """The first different values of a column that are found, and whether these are all."""
        found = self.engine.run(self.select([name]).distinct().limit(most)).column(0).to_pylist()
        return found, len(found) < most

    def over_values(self, name: str, figures: Sequence[exp.Expr]) -> list[int]:
        """Numbers that are computed of the different values of a column."""
        query = exp.select(*figures).from_(self.select([name]).distinct().subquery("texts"))
        return [int(column[0].as_py() or 0) for column in self.engine.run(query).columns]

    def look(self, name: str) -> Look | None:
        """What the texts of a column look like, if that is something else."""
        from discreet.table.looks import looks

        return next(looks(self, [name]), None)

    def inspect(
        self,
        *,
        quasi: Sequence[str] = (),
        sensitive: str | None = None,
        person: str | None = None,
        harmless: Sequence[Any] = (),
    ) -> Profile:
        """What an outsider could do with this table as it is today."""
        from discreet.table.profile import profile

        return profile(self, quasi=quasi, sensitive=sensitive, person=person, harmless=harmless)

    def close(self) -> None:
        """Let go of the engine and what it spilled."""
        self.engine.close()
        if self.kept is not None:
            self.kept.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Table {self.name}: {self.rows:,} rows, {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p><b>{escape(self.name)}</b>: {self.rows:,} rows, {len(self.columns)} columns</p>"


def named(relation: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(relation, quoted=True))
