"""Tables of the user's own, to be joined with plausible ones: frames as they are, or files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlglot import exp

from discreet.engines import connect
from discreet.errors import DiscreetError, QueryError
from discreet.release.layouts.file import named

KINDS = "give an Arrow table, a pandas or Polars frame, or the path of a .csv or .parquet file"


def read_given(tables: Mapping[str, Any] | None, own: Collection[str]) -> dict[str, pa.Table]:
    """Each by its name, which is not told from one that differs in capitals; `own` are those of the release's table."""
    if not isinstance(tables, Mapping | None) or not all(isinstance(name, str) for name in tables or ()):
        raise QueryError("`tables` are your own tables by name", hint='write it like tables={"towns": frame}')
    found = {name: _read(name, table) for name, table in (tables or {}).items()}
    if len({name.lower() for name in found}) < len(found):
        raise QueryError("two tables have the same name", hint="capitals make no difference in SQL")
    both = {*own} & {name.lower() for name in found}
    if both:
        raise QueryError(f"`{min(both)}` is the table of the release", hint="give your own table another name")
    return found


def told_unused(given: Collection[str], used: Collection[str] = ()) -> Iterator[str]:
    """Say which tables were given, and have no part in the answer."""
    unused = [name for name in given if name.lower() not in used]
    if unused:
        several = ", ".join(f"`{name}`" for name in unused)
        yield f"of the tables that were given, the question does not name {several}; nothing was taken from there"


def _read(name: str, table: Any) -> pa.Table:
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, str | Path):
        with closing(connect()) as engine:
            try:
                engine.load("given", Path(table), keep=False)
                return engine.run(exp.select("*").from_(named("given")))
            except DiscreetError as error:
                raise QueryError(f"the table `{name}` cannot be read: {error.message}", hint=KINDS) from None
    try:
        return pa.table(table)
    except (TypeError, ValueError, pa.ArrowException):
        raise QueryError(f"the table `{name}` is of the type `{type(table).__name__}`", hint=KINDS) from None
