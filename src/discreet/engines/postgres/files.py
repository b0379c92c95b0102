"""Rows on their way in and out of PostgreSQL: by COPY, which is as fast as the server reads, and exact.

They travel as CSV, which Arrow writes and reads in compiled code: a text is quoted, what is empty is missing.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import psycopg
import pyarrow as pa
from psycopg import sql
from pyarrow import csv

from discreet.engines.postgres.dialect import MOST_DIGITS, arrow_type, type_in_server
from discreet.errors import InputError
from discreet.values.columns import WIDE

ROWS = 65_536  # that are written at once
PADDED = 1042  # the type char(n), whose blanks at the end mean nothing
BLOCK = 8 << 20  # bytes that Arrow reads at once

TYPES = """
    SELECT t.oid::bigint, t.typname::text, t.typtype::text FROM pg_catalog.pg_type t WHERE t.oid = ANY(%s)
"""


def schema_of(
    cursor: psycopg.Cursor[tuple[Any, ...]],
    columns: Sequence[list[Any]] = (),
    unbounded: Callable[[list[Any]], pa.DataType] | None = None,
) -> pa.Schema:
    """The columns of what a cursor has found, as Arrow has them; of numbers of any length, what `unbounded` says."""
    described = cursor.description or []
    oids = [column.type_code for column in described]
    found = cursor.connection.execute(TYPES, [oids]).fetchall()
    kinds = {oid: (str(name), str(kind)) for oid, name, kind in found}
    result = cursor.pgresult
    fields = []
    for i, column in enumerate(described):
        name, kind = kinds[column.type_code]
        modifier = -1 if result is None else result.fmod(i)
        if unbounded is not None and (name, modifier) == ("numeric", -1):
            fields.append(pa.field(column.name, unbounded(columns[i])))
        else:
            fields.append(pa.field(column.name, arrow_type(column.name, name, modifier, kind)))
    return pa.schema(fields)


def fetched(cursor: psycopg.Cursor[tuple[Any, ...]]) -> pa.Table:
    """The rows that a cursor has found, where they are few."""
    rows = cursor.fetchall()
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in cursor.description or ()]
    schema = schema_of(cursor, columns, _unbounded)
    return pa.Table.from_arrays(
        [pa.array(_fitting(column, field.type), field.type) for column, field in zip(columns, schema, strict=True)],
        schema=schema,
    )


def _unbounded(values: list[Any]) -> pa.DataType:
    """The type of numbers of any length, which the server computes with: exact, as long as Arrow can hold them."""
    there = [value for value in values if value is not None]
    if not all(value.is_finite() for value in there):
        return pa.float64()
    scale = max((-int(value.as_tuple().exponent) for value in there), default=0)
    digits = scale + max((value.adjusted() + 1 for value in there if value), default=1)
    if scale <= 0 or all(value == value.to_integral_value() for value in there):
        return WIDE
    return pa.decimal128(MOST_DIGITS, scale) if max(digits, scale) <= MOST_DIGITS else pa.float64()


def _fitting(column: list[Any], type_: pa.DataType) -> list[Any]:
    if pa.types.is_floating(type_):
        return [None if value is None else float(value) for value in column]
    if pa.types.is_string(type_):
        return [None if value is None else str(value) for value in column]
    if pa.types.is_decimal(type_):
        return [None if value is None else Decimal(value) for value in column]
    return column


def described_as(connection: psycopg.Connection[tuple[Any, ...]], query: str) -> pa.Schema:
    """The columns of a query."""
    return schema_of(connection.execute(_composed(f"SELECT * FROM ({query}\n) AS rows_to_read LIMIT 0"), binary=True))


def copied_out(connection: psycopg.Connection[tuple[Any, ...]], query: str) -> pa.Table:
    """The rows of a query, whatever their number."""
    empty = connection.execute(_composed(f"SELECT * FROM ({query}\n) AS rows_to_read LIMIT 0"), binary=True)
    schema, padded = schema_of(empty), {column.name for column in empty.description or () if column.type_code == PADDED}
    if padded and len({*schema.names}) == len(schema):
        shown = sql.SQL(", ").join(
            sql.SQL("CAST({0} AS text) AS {0}" if name in padded else "{}").format(sql.Identifier(name))
            for name in schema.names
        )
        query = f"SELECT {shown.as_string(connection)} FROM ({query}\n) AS rows_to_read"
    statement = _composed(f"COPY ({query}\n) TO STDOUT (FORMAT csv)")
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        text = io.BytesIO()
        for block in copy:
            text.write(block)
    if not len(schema) or not text.tell():
        return schema.empty_table()
    text.seek(0)
    # every column must be told apart from others of the same name; an empty line is a missing value
    names = [f"c{i}" for i in range(len(schema))]
    try:
        found = csv.read_csv(
            text,
            read_options=csv.ReadOptions(column_names=names, block_size=BLOCK),
            parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
            convert_options=csv.ConvertOptions(
                column_types=dict(zip(names, schema.types, strict=True)),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                true_values=["t"],
                false_values=["f"],
            ),
        )
    except pa.ArrowInvalid:
        raise InputError(
            "a date, time or number of the table is infinite or out of range",
            hint="leave such rows out with a query, or make the value missing with NULLIF",
        ) from None
    return found.rename_columns(schema.names).cast(schema)


def copied_in(connection: psycopg.Connection[tuple[Any, ...]], table: sql.Composable, rows: pa.Table) -> None:
    """Put rows into a table that has such columns."""
    statement = sql.SQL("COPY {} FROM STDIN (FORMAT csv)").format(table)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for part in _written(rows):
            copy.write(part)


def _written(rows: pa.Table) -> Iterator[bytes]:
    options = csv.WriteOptions(include_header=False, quoting_style="needed")
    for batch in rows.to_batches(max_chunksize=ROWS):
        text = io.BytesIO()
        csv.write_csv(batch, text, write_options=options)
        yield text.getvalue()


def columns_of(schema: pa.Schema) -> sql.Composed:
    """The columns of a table that holds such rows, as CREATE TABLE has them."""
    return sql.SQL(", ").join(
        sql.SQL("{} " + type_in_server(field.name, field.type)).format(sql.Identifier(field.name)) for field in schema
    )


def _composed(text: str) -> sql.SQL:
    return sql.SQL(text)
