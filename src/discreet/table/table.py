"""A private table that lives in an engine, and its columns as integer codes over ordered domains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.engines import Engine
from discreet.errors import EngineError, InputError
from discreet.values.codes import Codes, encode
from discreet.values.columns import Column

if TYPE_CHECKING:
    from discreet.table.profile import Profile

RELATION = "private"


@dataclass(frozen=True)
class Table:
    """The private table. Rows keep the order in which the engine scans them; nothing of it is ever released."""

    engine: Engine = field(repr=False)
    columns: tuple[Column, ...]
    name: str = "microdata"
    path: Path | None = None

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
        rows = self.select([self.columns[0].name], present=present).subquery("t")
        return int(self._column(exp.select(exp.Count(this=exp.Star())).from_(rows))[0].as_py())

    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def __getitem__(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def select(self, names: Sequence[str], *, present: str | None = None) -> exp.Select:
        """The query for some of the columns, of all rows or only of those where `present` is not missing."""
        query = exp.select(*(exp.column(name, quoted=True) for name in names)).from_(RELATION)
        if present is None:
            return query
        return query.where(exp.column(present, quoted=True).is_(exp.null()).not_())

    def codes(self, name: str, *, present: str | None = None, at: npt.NDArray[np.integer[Any]] | None = None) -> Codes:
        """One column as integer codes, in row order: of all rows, or of those at some places."""
        column = self._column(self.select([name], present=present))
        return encode(column if at is None else column.take(pa.array(at)))

    def _column(self, query: exp.Select) -> pa.ChunkedArray:
        """The first column of a query over the table."""
        try:
            return self.engine.run(query).column(0)
        except EngineError as error:
            raise InputError(f"`{self.path or self.name}` cannot be read: {error.message}") from None

    def inspect(self, *, quasi: Sequence[str] = (), sensitive: str | None = None) -> Profile:
        """What an outsider could do with this table as it is today."""
        from discreet.table.profile import profile

        return profile(self, quasi=quasi, sensitive=sensitive)

    def close(self) -> None:
        """Let go of the engine and what it spilled."""
        self.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Table {self.name}: {self.rows:,} rows, {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p><b>{escape(self.name)}</b>: {self.rows:,} rows, {len(self.columns)} columns</p>"
