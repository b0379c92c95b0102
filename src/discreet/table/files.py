"""A file of rows before any row is read: that it is there, how it is written, what its columns are called."""

from __future__ import annotations

import csv as reader
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import types

from discreet.errors import InputError
from discreet.table.excel import ENDINGS, read_excel
from discreet.table.faults import likely_separator, separated, spelled, unreadable
from discreet.table.frames import orders_of, zoned
from discreet.table.text_file import in_utf_8, opened, place, separator_of
from discreet.values.written import Csv, Excel

READABLE = "`.csv`, `.csv.gz`, `.parquet` or `.xlsx`"


@dataclass(frozen=True, slots=True)
class Opened:
    """What the engine is to read: a file or rows, how it is written, and what its columns say beyond what SQL knows.

    See `Column` for `refused` and `orders`. `kept` is a file without a name, open as long as rows are read.
    """

    rows: pa.Table | Path
    names: tuple[str, ...]
    csv: Csv = field(default_factory=Csv)
    refused: dict[str, str] = field(default_factory=dict)
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)
    kept: IO[bytes] | None = None


def open_file(path: Path, csv: Csv, excel: Excel, texts: Collection[str], lines: int | None = None) -> Opened:
    """Look at a file that can be read, or at the first lines of a CSV file; say what is wrong with any other."""
    _there(path)
    endings = [ending.lower() for ending in path.suffixes]
    try:
        if endings[-1:] == [".parquet"]:
            return _parquet(path)
        if endings[-1:] == [".csv"] or endings[-2:] == [".csv", ".gz"]:
            return _csv(path, csv, lines)
        if endings and endings[-1] in ENDINGS:
            with path.open("rb"):
                rows, refused = read_excel(path, excel, texts)
            return Opened(rows, tuple(rows.column_names), refused=refused)
    except OSError as error:
        if error.strerror is None:  # not the system's, but of what the file holds
            raise unreadable(path, error, csv) from None
        raise InputError(f"`{path}` cannot be read: {error.strerror}") from None
    except (UnicodeError, EOFError, reader.Error, pa.ArrowException) as error:
        raise unreadable(path, error, csv) from None
    raise InputError(
        f"`{path}` is not a {READABLE} file",
        hint="save it as one of these, or read it into a pandas, Polars or Arrow frame and pass that",
    )


def _there(path: Path) -> None:
    try:
        missing = not path.exists()
    except PermissionError:
        raise InputError(f"`{path}` cannot be read: permission denied") from None
    except (OSError, ValueError):  # a name that no file can have
        missing = True
    if missing:
        raise InputError(f"there is no file `{path}`", hint="check the path and the spelling")
    if path.is_dir():
        raise InputError(f"`{path}` is a folder, expected a file", hint=f"name one {READABLE} file")


def _parquet(path: Path) -> Opened:
    schema = pq.read_schema(path)
    ordered = [each.name for each in schema if types.is_dictionary(each.type) and each.type.ordered]
    columns = pq.read_table(path, columns=ordered) if ordered else pa.table({})
    held = {name: columns.column(name) for name in columns.column_names}
    return Opened(path, tuple(schema.names), refused=zoned(schema), orders=orders_of(held))


def _csv(path: Path, csv: Csv, lines: int | None) -> Opened:
    sign = separator_of(path, csv)
    with opened(path, csv.encoding) as text:
        names = next(reader.reader(text, delimiter=sign), [])
    if not names:
        raise InputError(f"`{path}` is empty, expected a header and rows")
    likely = likely_separator(path, csv) if len(names) == 1 else None
    if likely is not None and likely != sign:
        raise InputError(
            f"`{path}` has one column if {spelled(sign)} separates them, but looks separated by {spelled(likely)}",
            hint=separated(likely),
        )
    kept = None if csv.utf_8 and lines is None else in_utf_8(path, csv.encoding, lines)
    rows = path if kept is None else place(kept)
    return Opened(rows, tuple(names), replace(csv, separator=sign), kept=kept)
