"""What is wrong with a file that cannot be read: the line at fault, never what stands in it."""

from __future__ import annotations

import csv
from pathlib import Path

from discreet.engines.separators import separator_of
from discreet.errors import DiscreetError, EngineError, InputError


def unreadable(path: Path, error: Exception) -> InputError:
    """Say which line is at fault, without quoting it; or what the engine lacks, if the file is not to blame."""
    if isinstance(error, EngineError) and error.hint:
        return InputError(f"`{path}` cannot be read: {error.message}", hint=error.hint)
    if path.suffix.lower() == ".parquet":
        return InputError(f"`{path}` is not a Parquet file, or it is damaged", hint="write it anew from its source")
    hint = "mend the file, or save the table as UTF-8 CSV with one header line"
    with path.open("rb") as raw:
        for line, text in enumerate(raw, start=1):
            try:
                text.decode("utf-8")
            except UnicodeDecodeError:
                return InputError(f"`{path}`: line {line} is not UTF-8", hint=hint)
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=separator_of(path), strict=True)
        try:
            width = len(next(rows))
            for row in rows:
                if row and len(row) != width:
                    return InputError(
                        f"`{path}`: line {rows.line_num} has {len(row)} fields, expected {width} as in the header",
                        hint=hint,
                    )
        except csv.Error as fault:
            wrong = "holds a field that is too long" if "limit" in str(fault) else "opens a quote that is never closed"
            return InputError(f"`{path}`: line {rows.line_num} {wrong}", hint=hint)
    what = error.message if isinstance(error, DiscreetError) else "it cannot be read as CSV"
    return InputError(f"`{path}`: {what}", hint=hint)
