"""Files as Spark reads them, and rows on their way in and out of it, as Arrow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types
from sqlglot import exp

from discreet.errors import InputError, InternalError

UNSIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
SEVERAL = r"([\[\]{}*?,\\])"  # what could stand for several files in a path


def address(path: Path) -> str:
    """A path as Spark reads it: of this machine's files, and nothing in it stands for several."""
    return re.sub(SEVERAL, r"\\\1", target(path))


def target(path: Path) -> str:
    """A path as Spark writes to it: nothing stands for several there, and every sign is part of a name."""
    return f"file://{path.absolute()}"


def scanned(paths: Sequence[Path]) -> list[exp.Expr]:
    """What stands in CREATE VIEW to read Parquet files of one folder, one or many."""
    place = address(paths[0])
    if len(paths) > 1:
        if len({path.parent for path in paths}) > 1:
            raise InternalError("parts of a table lie in one folder")
        names = ",".join(re.sub(SEVERAL, r"\\\1", path.name) for path in paths)
        place = f"{address(paths[0].parent)}/{{{names}}}"
    option = exp.Property(this=exp.var("path"), value=exp.Literal.string(place))
    return [exp.FileFormatProperty(this=exp.var("PARQUET")), exp.OptionsProperty(expressions=[option])]


def check_types(path: Path) -> None:
    """Raise for a Parquet file with a column that Spark reads as something else."""
    for field in pq.read_schema(path):
        if types.is_timestamp(field.type) and field.type.unit == "ns":
            raise InputError(
                f"the column `{field.name}` holds times down to nanoseconds, and Spark only has microseconds",
                hint="round it in the table, and publish it again",
            )


def sent(rows: pa.Table) -> pa.Table:
    """Rows of this process as Spark takes them."""
    fields = [pa.field(field.name, _taken(field.type)) for field in rows.schema]
    return rows.cast(pa.schema(fields))


def _taken(type_: pa.DataType) -> pa.DataType:
    if types.is_dictionary(type_):
        return _taken(type_.value_type)
    if types.is_large_string(type_):
        return pa.string()
    if types.is_time(type_):
        return pa.time64("us")
    if types.is_timestamp(type_):
        return pa.timestamp("us", type_.tz)
    return UNSIGNED.get(type_, type_)


def fetched(frame: Any) -> pa.Table:
    """The rows of a frame; moments are in UTC, and a column may always miss values."""
    found: pa.Table = frame.toArrow()
    fields = [pa.field(field.name, _given(field.type)) for field in found.schema]
    return pa.Table.from_arrays(
        [column.cast(to.type) for column, to in zip(found.columns, fields, strict=True)], schema=pa.schema(fields)
    )


def _given(type_: pa.DataType) -> pa.DataType:
    if types.is_large_string(type_):
        return pa.string()
    if types.is_timestamp(type_) and type_.tz is not None:
        return pa.timestamp("us", "UTC")
    if types.is_time(type_):
        return pa.time64("us")
    return type_
