"""Read a sheet of an Excel workbook: its first row names the columns, every other row is one row of the table.

Cells know what they hold, so nothing is guessed: a column holds numbers, dates, texts or truth values. One that holds
several of these is read as text, and refused if it is to be published.
Cost: one pass over the cells in Python; a sheet has a million rows at most.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from discreet.errors import InputError, MissingExtraError
from discreet.table.looks import MARKS
from discreet.values.toml import as_toml
from discreet.values.written import Excel
from discreet.words import nearest

EXACT = 2**53  # every whole number up to here is a float, which all numbers of Excel are
ENDINGS = {".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"}
WORDS: dict[type, str] = {
    bool: "truth values",
    int: "numbers",
    float: "numbers",
    dt.datetime: "dates",
    dt.date: "dates",
    dt.time: "times",
    str: "texts",
}


def read_excel(path: Path, excel: Excel, texts: Collection[str] = ()) -> tuple[pa.Table, dict[str, str]]:
    """The rows of a sheet, and why some columns cannot be published. Columns among `texts` are always text."""
    names, *rows = _cells(path, excel)
    missing = {"", *excel.missing}
    columns, refused = [], {}
    for name, cells in zip(map(_text, names), zip(*rows, strict=True) if rows else [()] * len(names), strict=True):
        values = [None if isinstance(cell, str) and cell in missing else cell for cell in cells]
        kinds = {_word(value) for value in values if value is not None}
        if len(kinds) > 1 and name not in texts:
            refused[name] = _mixed(values)
        columns.append(_column(values, set() if name in texts else kinds))
    return pa.table(columns, names=list(map(_text, names))), refused


def _cells(path: Path, excel: Excel) -> list[list[Any]]:
    """The cells of the sheet from its header on, without the empty rows below the last one that holds something."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum
    except ModuleNotFoundError:
        raise MissingExtraError(
            "python-calamine, which reads Excel files, is not installed",
            hint="pip install 'discreet[excel]', or save the sheet as CSV",
        ) from None
    try:
        workbook = CalamineWorkbook.from_path(path)
        shown = [sheet.name for sheet in workbook.sheets_metadata if sheet.visible == SheetVisibleEnum.Visible]
        rows = workbook.get_sheet_by_name(_sheet(path, shown, excel.sheet)).to_python()
    except (CalamineError, OSError):
        raise InputError(
            f"`{path}` is not an Excel file, or it is damaged, or has a password",
            hint="save it again, without a password",
        ) from None
    while rows and not any(cell != "" for cell in rows[-1]):
        rows.pop()
    if not rows:
        raise InputError(f"`{path}` is empty, expected a row of names and rows below it")
    if any(not _text(name).strip() for name in rows[0]):
        raise InputError(
            f"`{path}`: the first row does not name every column",
            hint="delete titles above the column names, name every column, and delete empty columns",
        )
    return rows


def _sheet(path: Path, shown: Sequence[str], wanted: str | None) -> str:
    if wanted is None and len(shown) == 1:
        return shown[0]
    if wanted is None:
        listed = ", ".join(f"`{name}`" for name in shown)
        key = f"sheet = {as_toml(shown[0] if shown else 'NAME')}, or another of them,"
        raise InputError(
            f"`{path}` has {len(shown)} sheets: {listed}",
            hint=f"set {key} under [excel] in the policy; for `init` and `inspect`, use the option --sheet",
        )
    if wanted not in shown:
        raise InputError(f"`{path}` has no sheet `{wanted}`", hint=nearest(wanted, shown))
    return wanted


def _column(values: Sequence[Any], kinds: Collection[str]) -> pa.Array:
    """The values as what they all are, or as texts."""
    if kinds == {"numbers"}:
        whole = all(value is None or (float(value).is_integer() and abs(value) < EXACT) for value in values)
        if not whole:
            return pa.array(values, pa.float64())
        return pa.array([None if value is None else int(value) for value in values], pa.int64())
    if kinds == {"dates"}:
        return _dates(values)
    if len(kinds) == 1 and kinds != {"texts"}:
        return pa.array(values)
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _dates(values: Sequence[dt.date | None]) -> pa.Array:
    """Days, or moments if any has a time of day; a moment at midnight comes as a day."""
    if any(isinstance(value, dt.datetime) for value in values):
        midnight = dt.time()
        moments = [
            value if value is None or isinstance(value, dt.datetime) else dt.datetime.combine(value, midnight)
            for value in values
        ]
        return pa.array(moments, pa.timestamp("us"))
    return pa.array(values, pa.date32())


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _word(value: Any) -> str:
    return WORDS.get(type(value), "durations")


def _mixed(values: Sequence[Any]) -> str:
    """Which cell first differs from those before it, by its row; a mark that stands for no value is named."""
    held = [(_word(value), row) for row, value in enumerate(values, start=2) if value is not None]
    (first, _), (other, row) = _firsts(held)
    marks = sorted({value for value in values if isinstance(value, str)})
    advice = "mend the cell, or give the whole column one format, and save the file"
    if marks and all(mark.lower() in MARKS for mark in marks):
        listed = ", ".join(f'"{mark}"' for mark in marks)
        advice = f"if they stand for no value, set missing = [{listed}] under [excel]"
    return f"holds {first} and {other}, first in row {row}; {advice}"


def _firsts(rows: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """The first of the first two stretches."""
    stretches = groupby(rows, key=lambda each: each[0])
    yield next(next(stretches)[1])
    yield next(next(stretches)[1])
