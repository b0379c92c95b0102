"""Frames of pandas, Polars, pyarrow and DuckDB as Arrow: without an index, and with what their types say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyarrow import types

from discreet.errors import InputError
from discreet.table.header import check_names
from discreet.values.columns import kind_of

BY_HAND = (
    "turn them into UTC, or into local times without a zone (in pandas: .dt.tz_convert('UTC'), .dt.tz_localize(None))"
)
UTC = {"UTC", "Etc/UTC", "Z", "+00:00", "GMT"}


def as_arrow(frame: Any) -> pa.Table:
    """The rows of a frame."""
    if not hasattr(frame, "__arrow_c_stream__"):
        raise InputError(
            f"cannot read a {type(frame).__name__}: expected a path, or a frame that offers `__arrow_c_stream__`",
            hint="pandas 2.2+, Polars, pyarrow and DuckDB frames do",
        )
    try:
        table = pa.table(frame)
    except (ValueError, TypeError, OverflowError, pa.ArrowException) as error:
        check_names(str(column) for column in getattr(frame, "columns", ["column"]))
        raise InputError(
            f"the frame cannot be read as Arrow: a column holds values of mixed types ({type(error).__name__})",
            hint="give every column one type, like frame.astype({'COLUMN': 'string'}) in pandas",
        ) from None
    for field in table.schema:
        if isinstance(field.type, pa.BaseExtensionType):
            raise InputError(
                f"the column `{field.name}` has a type that cannot be read, {field.type}",
                hint="turn it into text, dates or numbers first",
            )
    # pandas sends its index along as a column; it may hold row numbers or names.
    about = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
    index = [column for column in about.get("index_columns", []) if column in table.column_names]
    table = table.drop_columns(index).replace_schema_metadata(None)
    # engines know neither such floats nor such decimals: the one is widened, the other cannot be published
    for i, field in enumerate(table.schema):
        if types.is_float16(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.float32()))
        elif types.is_decimal256(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(pa.string()).cast(pa.binary()))
    return table


def zoned(schema: pa.Schema) -> dict[str, str]:
    """The columns whose times are of another zone than UTC, into which the engine would turn them; and what to do."""
    return {
        field.name: f"holds times of the zone {field.type.tz}, which a release would show as UTC; {BY_HAND}"
        for field in schema
        if types.is_timestamp(field.type) and field.type.tz is not None and field.type.tz not in UTC
    }


def orders_of(columns: Mapping[str, pa.ChunkedArray]) -> dict[str, tuple[str, ...]]:
    """The labels of texts that are ordered categories, in their order, by column."""
    found = {}
    for name, column in columns.items():
        if types.is_dictionary(column.type) and column.type.ordered:
            column = column.unify_dictionaries()  # noqa: PLW2901
            labels = column.chunk(0).dictionary if column.num_chunks else pa.array([], column.type.value_type)
            if kind_of(labels.type) == "string":
                found[name] = tuple(labels.cast(pa.string()).to_pylist())
    return found
