"""Read a private table from a CSV or Parquet file, or from any frame that speaks Arrow."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from discreet.engines import Engine, connect
from discreet.engines.dialect import sql_type
from discreet.engines.separators import separator_of
from discreet.errors import DiscreetError, InputError
from discreet.table.faults import unreadable
from discreet.table.table import RELATION, WHOLE, Table
from discreet.values.columns import WIDE, Column, columns_of

SOURCE = "source table"


def read(
    source: Any, *, name: str | None = None, memory_limit: str | None = None, texts: Collection[str] = ()
) -> Table:
    """Read `source` — a path to a `.csv` or `.parquet` file, or a pandas, Polars, Arrow or DuckDB frame.

    `name` is what the table is called here; the policy names the release. `memory_limit` (like `8GB`)
    makes the engine spill to disk beyond it. Columns of a CSV file that are among `texts` stay text, whatever they
    look like; the types of the others follow from what they hold. Rows are read when they are needed, and of a file
    only the columns that are: it must stay as it is until then.
    """
    as_they_are: list[str] = []
    if isinstance(source, str | Path):
        path = Path(source)
        as_they_are = [column for column in _header(path) if column in texts]
        rows: pa.Table | Path = path
        name = name or re.sub(r"\W", "_", path.stem)
    else:
        rows = _arrow(source)
        _check_names(rows.column_names)
    engine = connect(memory_limit=memory_limit, private=True)
    try:
        columns = _load(engine, rows, as_they_are)
    except BaseException:
        engine.close()
        raise
    return Table(engine, columns, name or "microdata", rows if isinstance(rows, Path) else None)


def _load(engine: Engine, rows: pa.Table | Path, texts: Collection[str]) -> tuple[Column, ...]:
    try:
        engine.load(SOURCE, rows, keep=False, texts=texts)
        columns = columns_of(engine.schema(SOURCE))
    except DiscreetError as error:
        if isinstance(rows, Path):
            raise unreadable(rows, error) from None
        raise
    source = exp.Table(this=exp.to_identifier(SOURCE, quoted=True))
    for relation in (RELATION, WHOLE):
        engine.load(relation, exp.select(*map(_cleaned, columns)).from_(source), keep=False)
    return columns_of(engine.schema(RELATION))


def _cleaned(column: Column) -> exp.Expr:
    """NaN is missing, minus zero is zero, categories are their labels; everything else is as it came."""
    value: exp.Expr = exp.column(column.name, quoted=True)
    if column.kind == "float":
        zero = exp.cast(exp.Literal.number(0), sql_type(column.type))
        value = exp.Case().when(exp.IsNan(this=value.copy()), exp.null()).else_(exp.Add(this=value, expression=zero))
    elif column.kind == "string":
        value = exp.cast(value, sql_type(pa.string()))
    elif column.kind == "time" or column.type == WIDE:  # Parquet has neither longer integers nor a time's zone
        value = exp.cast(value, sql_type(column.type))
    return exp.alias_(value, column.name, quoted=True)


def _header(path: Path) -> list[str]:
    """The columns of a file that can be read."""
    try:
        missing = not path.exists()
    except PermissionError:
        raise InputError(f"`{path}` cannot be read: permission denied") from None
    except OSError:  # a name that no file can have
        missing = True
    if missing:
        raise InputError(f"there is no file `{path}`", hint="check the path and the spelling")
    if path.is_dir():
        raise InputError(f"`{path}` is a folder, expected a file", hint="name one `.csv` or `.parquet` file")
    if path.suffix.lower() not in {".csv", ".parquet"}:
        raise InputError(
            f"`{path}` is not a `.csv` or `.parquet` file",
            hint="save it as one of these, or read it into a pandas, Polars or Arrow frame and pass that",
        )
    try:
        if path.suffix.lower() == ".parquet":
            names = pq.read_schema(path).names
        else:
            with path.open(encoding="utf-8-sig", newline="") as file:
                names = next(csv.reader(file, delimiter=separator_of(path)), [])
    except OSError as error:
        raise InputError(f"`{path}` cannot be read: {error.strerror or 'input or output error'}") from None
    except (UnicodeDecodeError, csv.Error, pa.ArrowException) as error:
        raise unreadable(path, error) from None
    if not names:
        raise InputError(f"`{path}` is empty, expected a header and rows")
    _check_names(names)
    return list(names)


def _check_names(names: Iterable[str]) -> None:
    listed = list(names)
    if not listed:
        raise InputError("the table has no columns")
    if any(not name.strip() for name in listed):
        raise InputError("a column has no name", hint="name every column in the header")
    # Engines take names that differ only in case for the same.
    repeated = [name for name, times in Counter(name.strip().lower() for name in listed).items() if times > 1]
    if repeated:
        raise InputError(
            f"the column name `{repeated[0]}` stands twice (upper and lower case count as the same)",
            hint="give every column a name of its own",
        )


def _arrow(frame: Any) -> pa.Table:
    if not hasattr(frame, "__arrow_c_stream__"):
        raise InputError(
            f"cannot read a {type(frame).__name__}: expected a path, or a frame that offers `__arrow_c_stream__`",
            hint="pandas 2.2+, Polars, pyarrow and DuckDB frames do",
        )
    try:
        table = pa.table(frame)
    except (ValueError, TypeError, OverflowError, pa.ArrowException) as error:
        columns = [str(column) for column in getattr(frame, "columns", [])]
        _check_names(columns)
        raise InputError(
            f"the frame cannot be read as Arrow: a column holds values of mixed types ({type(error).__name__})"
        ) from None
    for field in table.schema:
        if isinstance(field.type, pa.BaseExtensionType):
            raise InputError(
                f"the column `{field.name}` is of a type of its own kind, {field.type}",
                hint="turn it into text, dates or numbers first",
            )
    # pandas sends its index along as a column; it may hold row numbers or names.
    about = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
    index = [column for column in about.get("index_columns", []) if column in table.column_names]
    table = table.drop_columns(index).replace_schema_metadata(None)
    # engines know neither such floats nor such decimals: the one is widened, the other cannot be published
    for i, field in enumerate(table.schema):
        if pa.types.is_float16(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.float32()))
        elif pa.types.is_decimal256(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.string()).cast(pa.binary()))
    return table
