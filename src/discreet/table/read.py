"""Read a private table from a CSV, Parquet or Excel file, or from any frame that speaks Arrow."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlglot import exp

from discreet.engines import Address, Engine, connect, source_of
from discreet.engines.dialect import sql_type
from discreet.errors import DiscreetError, InputError
from discreet.table.database import Counted, Remote
from discreet.table.digits import as_number, numbers
from discreet.table.faults import unreadable
from discreet.table.files import Opened, open_file
from discreet.table.frames import as_arrow, orders_of, zoned
from discreet.table.header import check_names
from discreet.table.table import RELATION, WHOLE, Table
from discreet.values.columns import WIDE, Column, columns_of
from discreet.values.written import CSV_KEYS, EXCEL_KEYS, PLAIN, Csv, Excel, csv_faults, excel_faults
from discreet.words import nearest

SOURCE = "source table"
OFFSETS = "source offsets"  # times as texts
OF_UTC = r"(Z|z|[+-]00(:?00)?)$"


def read(
    source: Any,
    *,
    name: str | None = None,
    memory_limit: str | None = None,
    texts: Collection[str] = (),
    csv: Mapping[str, Any] | None = None,
    excel: Mapping[str, Any] | None = None,
    table: str | None = None,
    query: str | None = None,
) -> Table:
    """Read `source`: a path to a CSV, Parquet or Excel file, or a pandas, Polars, Arrow or DuckDB frame.

    Of a database, `source` is its URL (`postgresql://host/database`), and a `table` or a `query` says which rows: those
    that the role sees at one moment, all of them read at once when they are needed.

    `name` is what the table is called here; the policy names the release. `memory_limit` (like `8GB`)
    makes the engine spill to disk beyond it. Columns of a CSV file that are among `texts` stay text, whatever they
    look like; the types of the others follow from what they hold. `csv` and `excel` say how the file is written, with
    the keys of a policy's `[csv]` and `[excel]`. Rows are read when they are needed, and of a file
    only the columns that are: it must stay as it is until then.
    """
    written = Csv.of(_sound("csv", csv or {})), Excel.of(_sound("excel", excel or {}))
    address = Address.of(source)
    if address is not None:
        return _remote(address, table, query, name, memory_limit)
    if table is not None or query is not None:
        raise InputError("only a database has tables and queries", hint="leave them out, or give the URL of a database")
    path = Path(source) if isinstance(source, str | Path) else None
    opened = _of_frame(source) if path is None else open_file(path, *written, texts)
    return _table(opened, path, name, memory_limit, texts)


def read_first(path: Path, lines: int, csv: Mapping[str, Any]) -> Table:
    """The first lines of a CSV file, as a table of its own."""
    return _table(open_file(path, Csv.of(_sound("csv", csv)), Excel(), (), lines), path)


def _table(
    opened: Opened,
    path: Path | None,
    name: str | None = None,
    memory_limit: str | None = None,
    texts: Collection[str] = (),
) -> Table:
    check_names(opened.names)
    if path is not None:
        name = name or re.sub(r"\W", "_", path.name.split(".")[0])
    engine, columns = _opened(path, opened, [column for column in opened.names if column in texts], memory_limit)
    in_file = path if isinstance(opened.rows, Path) else None
    return Table(engine, columns, name or "microdata", in_file, opened.csv, opened.kept)


def _opened(
    path: Path | None, opened: Opened, texts: Collection[str], memory_limit: str | None
) -> tuple[Engine, tuple[Column, ...]]:
    engine = connect(memory_limit=memory_limit, private=True)
    try:
        return engine, _load(engine, path, opened, texts)
    except BaseException:
        engine.close()
        if opened.kept is not None:
            opened.kept.close()
        raise


def _remote(
    address: Address, table: str | None, query: str | None, name: str | None, memory_limit: str | None
) -> Table:
    """A table of a database: its columns, and its rows once they are needed."""
    source = source_of(address)
    origin = source.described(address, table, query)
    check_names(origin.schema.names, 'give every column a name of its own in a query: SELECT x, "X" AS other, …')
    engine, columns = _opened(None, _of_frame(origin.schema.empty_table()), (), memory_limit)
    engine.close()

    def reading(rows: pa.Table | None = None) -> Engine:
        return _opened(None, _of_frame(source.read_rows(origin) if rows is None else rows), (), memory_limit)[0]

    return Remote(origin, columns, name or _last(table) or "microdata", reading)


def counted(connection: Any, table: Remote) -> Counted:
    """A table as it is seen inside a transaction of its server, where it stays."""
    engine = source_of(table.origin.address).session(connection, table.origin, SOURCE)
    of_source = columns_of(table.origin.schema)
    cleaned = [_byte_by_byte(_cleaned(column, None, PLAIN), column) for column in of_source]
    cleaned.append(exp.column(table.origin.place, quoted=True))
    source = exp.Table(this=exp.to_identifier(SOURCE, quoted=True))
    for relation in (RELATION, WHOLE):
        engine.load(relation, exp.select(*cleaned).from_(source), keep=False)
    found = Counted(engine, table.columns, table.name)
    found.__dict__["place"] = table.origin.place
    return found


def _byte_by_byte(value: exp.Expr, column: Column) -> exp.Expr:
    """A text that is equal to no other: a column of a server may have a collation by which `a` and `A` are equal."""
    if column.kind == "string":
        value.set("this", exp.Collate(this=value.this, expression=exp.to_identifier("C", quoted=True)))
    return value


def _last(table: str | None) -> str | None:
    """The name of a table without that of its schema."""
    return None if table is None else re.sub(r"\W", "_", table.rpartition(".")[2].strip('"'))


def _sound(key: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options, if there is no fault in them."""
    keys, faults = (CSV_KEYS, csv_faults) if key == "csv" else (EXCEL_KEYS, excel_faults)
    for option in given:
        if option not in keys:
            raise InputError(f"`{key}.{option}` is not an option", hint=nearest(str(option), keys))
    for option, wrong in faults(given):
        raise InputError(f"`{key}.{option}`: {wrong}")
    return given


def _of_frame(frame: Any) -> Opened:
    rows = as_arrow(frame)
    orders = orders_of({column: rows.column(i) for i, column in enumerate(rows.column_names)})
    return Opened(rows, tuple(rows.column_names), refused=zoned(rows.schema), orders=orders)


def _load(engine: Engine, path: Path | None, opened: Opened, texts: Collection[str]) -> tuple[Column, ...]:
    try:
        engine.load(SOURCE, opened.rows, keep=False, texts=texts, csv=opened.csv)
        columns = columns_of(engine.schema(SOURCE))
        refused = {**opened.refused, **dict(_offsets(engine, opened, columns))}
        strings = [column.name for column in columns if column.kind == "string" and column.name not in texts]
        grouped = numbers(engine, SOURCE, strings, opened.csv)
    except DiscreetError as error:
        if path is not None:
            raise unreadable(path, error, opened.csv) from None
        raise
    source = exp.Table(this=exp.to_identifier(SOURCE, quoted=True))
    cleaned = [_cleaned(column, grouped.get(column.name), opened.csv) for column in columns]
    for relation in (RELATION, WHOLE):
        engine.load(relation, exp.select(*cleaned).from_(source), keep=False)
    return tuple(
        replace(column, refused=refused.get(column.name), order=opened.orders.get(column.name))
        for column in columns_of(engine.schema(RELATION))
    )


def _offsets(engine: Engine, opened: Opened, columns: Iterable[Column]) -> Iterator[tuple[str, str]]:
    """The columns of a CSV file whose times have other offsets than that of UTC, and what to do."""
    in_csv = isinstance(opened.rows, Path) and opened.rows.suffix.lower() != ".parquet"
    zoned = [column.name for column in columns if column.kind == "timestamp" and column.type.tz is not None]
    if not (in_csv and zoned) or opened.csv.zone is not None:
        return
    engine.load(OFFSETS, opened.rows, keep=False, texts=zoned, csv=opened.csv)
    for name in zoned:
        utc = exp.RegexpLike(this=exp.column(name, quoted=True), expression=exp.Literal.string(OF_UTC))
        query = exp.select(exp.CountIf(this=exp.not_(utc))).from_(exp.to_identifier(OFFSETS, quoted=True))
        if engine.run(query).column(0)[0].as_py():
            what = "holds times with offsets, which a release would show as UTC"
            yield name, f'{what}; set zone = "UTC" under [csv] if it may, or write local times without offsets'


def _cleaned(column: Column, number: pa.DataType | None, csv: Csv) -> exp.Expr:
    """NaN is missing, minus zero is zero, categories are their labels, and a text that is a `number` becomes it."""
    value: exp.Expr = exp.column(column.name, quoted=True)
    if number is not None:
        value = as_number(value, number, csv)
    elif column.kind == "float":
        zero = exp.cast(exp.Literal.number(0), sql_type(column.type))
        value = exp.Case().when(exp.IsNan(this=value.copy()), exp.null()).else_(exp.Add(this=value, expression=zero))
    elif column.kind == "string":
        value = exp.cast(value, sql_type(pa.string()))
    elif column.kind == "time" or column.type == WIDE:  # Parquet has neither longer integers nor a time's zone
        value = exp.cast(value, sql_type(column.type))
    return exp.alias_(value, column.name, quoted=True)
