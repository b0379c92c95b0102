"""How a file of rows is written, where the file itself does not tell: the keys of `[csv]` and `[excel]` in a policy."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

UTF_8 = "utf-8"
THOUSANDS = (".", ",", "'", "\u2019", " ", "\u00a0", "\u202f")  # the last two are spaces at which no line breaks
_DATES = {"DD": "%d", "MM": "%m", "YYYY": "%Y"}


@dataclass(frozen=True, slots=True)
class Csv:
    """How a CSV file is written. `separator` is found in its first two lines unless it is said.

    `dates` is a pattern of DD, MM and YYYY, `missing` the fields that stand for no value beside the empty one; with
    `missing_quoted`, also in quotes. With `zone`, which can only be UTC, times that are written with an offset are
    turned into UTC.
    """

    separator: str | None = None
    decimal: str = "."
    thousands: str | None = None
    missing: tuple[str, ...] = ()
    encoding: str = UTF_8
    dates: str | None = None
    zone: str | None = None
    missing_quoted: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Csv:
        """The options of a mapping in which there is no fault."""
        return cls(**{**given, "missing": tuple(given.get("missing", ()))})

    @property
    def utf_8(self) -> bool:
        return codecs.lookup(self.encoding).name == UTF_8

    @property
    def date_format(self) -> str:
        """The pattern of dates as databases write it. 01/02/2020 may be either day: unless it is said, it is a text."""
        return re.sub("DD|MM|YYYY", lambda part: _DATES[part[0]], self.dates or "YYYY-MM-DD")


PLAIN = Csv()


@dataclass(frozen=True, slots=True)
class Excel:
    """What is to be read of a workbook: its `sheet`, if it has several, and the cells that stand for no value."""

    sheet: str | None = None
    missing: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Excel:
        """The options of a mapping in which there is no fault."""
        return cls(**{**given, "missing": tuple(given.get("missing", ()))})


CSV_KEYS = tuple(field.name for field in fields(Csv))
EXCEL_KEYS = tuple(field.name for field in fields(Excel))


def csv_faults(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys of `[csv]` whose values cannot be, and what is expected."""
    decimal = given.get("decimal", ".")
    separator, thousands = given.get("separator"), given.get("thousands")
    if "separator" in given and not _is_sign(separator, but="\"'.-+ "):
        yield "separator", f"expected one sign, like `;` or a tab, got {separator!r}"
    if decimal not in {".", ","}:
        yield "decimal", f"expected `.` or `,`, got {decimal!r}"
    elif separator == decimal:
        yield "decimal", "is the separator, too: no program could tell the two apart; quote such numbers and keep `.`"
    if "thousands" in given and thousands not in THOUSANDS:
        yield "thousands", f"expected one of `.`, `,`, `'` or a space, got {thousands!r}"
    elif thousands == decimal:
        yield "thousands", "is the decimal sign, too"
    yield from _missing(given)
    if not isinstance(given.get("missing_quoted", False), bool):
        yield "missing_quoted", f"expected true or false, got {given['missing_quoted']!r}"
    if "encoding" in given and not _is_encoding(given["encoding"]):
        yield (
            "encoding",
            f'expected an encoding, like "windows-1252" or "utf-16", got {given["encoding"]!r}',
        )
    dates = given.get("dates", "YYYY-MM-DD")
    if not (isinstance(dates, str) and sorted(re.findall(r"[A-Za-z]+", dates)) == sorted(_DATES)) or (
        re.sub(r"[A-Z]", "", dates).strip("./- ,") != ""
    ):
        yield "dates", f'expected DD, MM and YYYY with signs between them, like "DD.MM.YYYY", got {dates!r}'
    if given.get("zone", "UTC") != "UTC":
        yield "zone", f'expected "UTC", got {given["zone"]!r}'


def excel_faults(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keys of `[excel]` whose values cannot be, and what is expected."""
    if "sheet" in given and not (isinstance(given["sheet"], str) and given["sheet"]):
        yield "sheet", f"expected the name of a sheet, got {given['sheet']!r}"
    yield from _missing(given)


def _missing(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    missing = given.get("missing", ())
    if not isinstance(missing, list | tuple) or not all(isinstance(mark, str) for mark in missing):
        yield "missing", f'expected a list of texts, like ["NA", "-"], got {missing!r}'


def _is_sign(value: Any, *, but: str) -> bool:
    return isinstance(value, str) and len(value) == 1 and not value.isalnum() and value not in f"\r\n\0{but}"


def _is_encoding(value: Any) -> bool:
    try:
        "a".encode(value)
    except (LookupError, TypeError, ValueError):
        return False
    return True
