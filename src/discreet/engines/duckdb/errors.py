"""Our error for every one of the driver's: never with the rows and values that it likes to quote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from discreet.errors import DiscreetError, EngineError, InputError


@contextmanager
def translating() -> Iterator[None]:
    """Around every call of the driver: an interrupt may reach any of them."""
    try:
        yield
    except (duckdb.Error, RuntimeError) as error:  # the second when interrupted
        raise _translated(error) from None


def _translated(error: duckdb.Error | RuntimeError) -> DiscreetError:
    """Our error for one of DuckDB's: never with the rows and values that it likes to quote."""
    text = str(error)
    if isinstance(error, duckdb.InterruptException) or "interrupted" in text.lower():
        raise KeyboardInterrupt
    if "CSV Error" in text or "sniffing file" in text:
        line = re.search(r"Line: (\d+)", text)
        return InputError(f"line {line[1]} cannot be read as CSV" if line else "it cannot be read as CSV")
    if isinstance(error, duckdb.OutOfMemoryException):
        return EngineError("the engine ran out of memory", hint="give it more with `memory_limit`, like `8GB`")
    if "No space left" in text or "max_temp_directory_size" in text:
        return EngineError("the disk is full; nothing was published", hint="make room and run the same command again")
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException | duckdb.ParserException):
        # found before any row is read; names of our own tables and columns say nothing to a user
        wrong = re.sub(r"'[^']*'|\"[^\"]*\"", "…", text.splitlines()[0].partition(": ")[2])
        return EngineError(wrong[:200])
    return EngineError(next(say for kind, say in FAULTS.items() if isinstance(error, kind)))


# Never the driver's own words: they quote rows and values.
FAULTS: dict[type[Exception], str] = {
    duckdb.ConversionException: "a value cannot be converted to the type that was asked for",
    duckdb.OutOfRangeException: "a number is too large, or not defined",
    duckdb.IOException: "a file cannot be read or written",
    duckdb.PermissionException: "the engine is sealed: no files, no network, no settings",
    Exception: "the database engine cannot do that",
}
