"""Private rows as Spark finds them: files or a frame, their columns, and what is counted of these."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from pyspark.sql import types as t

from discreet.engines.spark.errors import translating
from discreet.engines.spark.session import is_connect
from discreet.engines.spark.words import functions, quoted
from discreet.errors import EngineError, InputError

TYPES: dict[type, pa.DataType] = {
    t.BooleanType: pa.bool_(),
    t.ByteType: pa.int8(),
    t.ShortType: pa.int16(),
    t.IntegerType: pa.int32(),
    t.LongType: pa.int64(),
    t.FloatType: pa.float32(),
    t.DoubleType: pa.float64(),
    t.StringType: pa.string(),
    t.DateType: pa.date32(),
    t.TimestampType: pa.timestamp("us", tz="UTC"),
    t.TimestampNTZType: pa.timestamp("us"),
}
BINARY = "UTF8_BINARY"
SEEN = ("file_path", "file_size", "file_modification_time")


def is_frame(thing: Any) -> bool:
    """Whether something is a frame of Spark, classic or Connect."""
    return type(thing).__name__ == "DataFrame" and type(thing).__module__.startswith("pyspark.sql.")


def frame_of(session: Any, place: str) -> Any:
    """The rows of Parquet files, which a pattern may name."""
    if urlsplit(place).scheme in {"", "file"} and not place.endswith((".parquet", "/", "*")):
        raise InputError(
            f"`{place}` names no Parquet files", hint="Spark publishes these: name them like 'rows/*.parquet'"
        )
    try:
        with translating():
            found = session.read.parquet(place)
            schema_of(found)  # a client asks its server only now
    except EngineError as error:
        raise InputError(
            f"`{place}` cannot be read by Spark: {error.message}",
            hint="name Parquet files of the same columns that every executor sees, like 'rows/*.parquet'",
        ) from None
    return found


def schema_of(frame: Any) -> Any:
    """The columns of a frame as Spark has them."""
    with translating():
        return frame.schema


def size_of(frame: Any) -> int:
    """How many rows a frame has."""
    with translating():
        return int(frame.count())


def types_of(frame: Any) -> list[tuple[str, pa.DataType | None, str]]:
    """Every column, its type as Arrow has it (None if it has none), and what Spark calls it."""
    fields = schema_of(frame).fields
    return [(field.name, _type_of(field.dataType), field.dataType.simpleString()) for field in fields]


def _type_of(type_: Any) -> pa.DataType | None:
    if isinstance(type_, t.DecimalType):
        return pa.decimal128(type_.precision, type_.scale)
    if isinstance(type_, t.StringType) and getattr(type_, "collation", BINARY) != BINARY:
        return None
    return TYPES.get(type(type_)) or (pa.string() if isinstance(type_, t.CharType | t.VarcharType) else None)


def cleaned(frame: Any, names: Sequence[str], *, present: str | None) -> Any:
    """Some columns, of the rows where `present` is not missing: NaN is missing, and minus zero is zero."""
    if present is not None:
        frame = frame.where(_clean(frame, present).isNotNull())
    return frame.select(*(_clean(frame, name).alias(name) for name in names))


def _clean(frame: Any, name: str) -> Any:
    f = functions(frame)
    column, type_ = f.col(quoted(name)), frame.schema[name].dataType
    if isinstance(type_, t.FloatType | t.DoubleType):
        return f.when(~f.isnan(column), column + f.lit(0.0).cast(type_))
    return column


def seen(session: Any, source: Any, schema: Any) -> list[tuple[Any, ...]]:
    """What changes when somebody writes to the files that rows come from: their names, sizes and times.

    Files are looked at by this process where it has them as the driver has; else by the executors.
    """
    with translating():
        frame = session.read.schema(schema).parquet(source) if isinstance(source, str) else source
        found = sorted(_stat(file) for file in frame.inputFiles())
        if not isinstance(source, str) or (not is_connect(session) and all(len(about) > 1 for about in found)):
            return found
        looked = session.read.parquet(source).select(*(f"_metadata.{name}" for name in SEEN)).distinct()
        return sorted(tuple(row) for row in looked.collect())


def _stat(file: str) -> tuple[Any, ...]:
    path = Path(unquote(urlsplit(file).path))  # Spark writes a space as %20
    if urlsplit(file).scheme != "file" or not path.exists():
        return (file,)
    about = path.stat()
    return file, about.st_size, about.st_mtime_ns, about.st_ino


def of_people(rows: Any, names: Sequence[str]) -> tuple[int, int, int, list[int], list[int]]:
    """Of identifiers: rows, those that have none, different people; and of each its rows, and its different values."""
    f = functions(rows)
    columns = [f.col(quoted(name)) for name in names]
    nobody = f.lit(True)
    for column in columns:
        nobody = nobody & column.isNull()
    figures = [f.count(f.lit(1)), f.coalesce(f.count_if(nobody), f.lit(0)), f.count_distinct(f.struct(*columns))]
    each = [figure for column in columns for figure in (f.count(column), f.count_distinct(column))]
    with translating():
        all_, none, people, *counts = rows.agg(*figures, *each).collect()[0]
    return int(all_), int(none), int(people), counts[::2], counts[1::2]


def counted(rows: Any, name: str, most: int) -> pa.Table:
    """How often each value of a column occurs; raise if there are more than so many."""
    told = counted_together(rows, [name], most)
    if told is None:
        raise InputError(
            f"the column `{name}` has more than {most:,} different values, which cannot be counted on Spark",
            hint="make its values coarser, or drop it",
        )
    return told.rename_columns(["value", "n"])


def counted_together(rows: Any, names: Sequence[str], most: int) -> pa.Table | None:
    """How often each combination of the values of some columns occurs, as the last column; none if there are more."""
    f = functions(rows)
    columns = [f.col(quoted(name)).alias(f"c{i}") for i, name in enumerate(names)]
    with translating():
        told = rows.groupBy(*columns).agg(f.count(f.lit(1)).alias("n")).limit(most + 1).toArrow()
    return told if told.num_rows <= most else None


def drawn(rows: Any, names: Sequence[str], share: float) -> pa.Table:
    """About so many of the rows, at random; or all."""
    with translating():
        some = rows if share >= 1 else rows.where(functions(rows).rand() < share)
        return some.select(*map(quoted, names)).toArrow()
