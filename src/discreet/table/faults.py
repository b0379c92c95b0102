"""What is wrong with a file that cannot be read: the line at fault, never what stands in it; and what to do."""

from __future__ import annotations

import csv as reader
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from discreet.errors import DiscreetError, EngineError, InputError
from discreet.table.text_file import is_gzip, likely_encoding, opened, separator_of
from discreet.values.separators import SIGNS
from discreet.values.written import Csv

UNDER = "under [csv] in the policy (in Python: csv={...})"
MEND = "mend the file, or save the table as UTF-8 CSV with one header line"
PROBED = 50  # lines by which a separator is judged
SEPARATORS = {"\t": "\\t"}  # as TOML writes them
RARE = ":^~¦§"  # signs that separate fields so seldom that they are not tried unasked


def unreadable(path: Path, error: Exception, csv: Csv | None = None) -> InputError:
    """Say which line is at fault, without quoting it; or what the engine lacks, if the file is not to blame."""
    csv = csv or Csv()
    if isinstance(error, EngineError) and error.hint:
        return InputError(f"`{path}` cannot be read: {error.message}", hint=error.hint)
    if path.suffix.lower() == ".parquet":
        return InputError(f"`{path}` is not a Parquet file, or it is damaged", hint="export it again from its source")
    try:
        found = _fault(path, csv)
    except EOFError:
        found = InputError(f"`{path}` ends too early", hint="copy it again from its source")
    except OSError:
        what = "is not compressed by gzip" if is_gzip(path) else "cannot be read"
        found = InputError(f"`{path}` {what}", hint="remove the ending `.gz` if it is a plain CSV file")
    if found is not None:
        return found
    what = error.message if isinstance(error, DiscreetError) else "it cannot be read as CSV"
    return InputError(f"`{path}`: {what}", hint=MEND)


def _fault(path: Path, csv: Csv) -> InputError | None:
    """The first line that does not fit: in its letters, its fields or its quotes."""
    try:
        with opened(path, csv.encoding) as text:
            sign = separator_of(path, csv)
            rows = reader.reader(text, delimiter=sign, strict=True)
            width = len(next(rows, []))
            for row in rows:
                if row and len(row) != width:
                    what = f"line {rows.line_num} has {len(row)} fields, expected {width} as in the header"
                    return InputError(f"`{path}`: {what}", hint=_of_fields(path, csv, sign))
    except UnicodeError:
        return _of_letters(path, csv)
    except reader.Error as fault:
        wrong = "holds a field that is too long" if "limit" in str(fault) else "opens a quote that is never closed"
        return InputError(f"`{path}`: line {rows.line_num} {wrong}", hint=MEND)
    return None


def _of_letters(path: Path, csv: Csv) -> InputError:
    likely = likely_encoding(path)
    line = 1
    with opened(path, csv.encoding, "surrogateescape" if csv.utf_8 else "replace") as text:
        for line, each in enumerate(text, start=1):  # noqa: B007
            if any("\udc80" <= letter <= "\udcff" or letter == "\ufffd" for letter in each):
                break
    name = "UTF-8" if csv.utf_8 else csv.encoding
    return InputError(
        f"`{path}`: line {line} is not {name}",
        hint=f'set encoding = "{likely}" {UNDER}, or save the file as UTF-8',
    )


def _of_fields(path: Path, csv: Csv, sign: str) -> str:
    """What to do where lines have other numbers of fields than the header."""
    likely = likely_separator(path, csv)
    if likely is not None and likely != sign:
        return f"it looks separated by {spelled(likely)}: {separated(likely)}"
    if sign == ",":
        return f"if numbers have a decimal comma, separate fields by `;` or put quotes around them; else {MEND}"
    return MEND


def likely_separator(path: Path, csv: Csv) -> str | None:
    """The sign that cuts nearly all of the first lines into as many fields as the header, at least two."""
    with opened(path, csv.encoding, "replace") as text:
        lines = [line for line in islice(text, PROBED) if line.strip()]
    best, most = None, 1
    for sign in SIGNS + RARE:
        widths = _widths(lines, sign)
        width, times = Counter(widths).most_common(1)[0] if widths else (0, 0)
        if len(widths) > 1 and width == widths[0] > most and times >= 0.9 * len(widths):
            best, most = sign, width
    return best


def _widths(lines: Iterable[str], sign: str) -> list[int]:
    try:
        return [len(row) for row in reader.reader(lines, delimiter=sign)]
    except reader.Error:
        return []


def separated(sign: str) -> str:
    """How to say which sign separates fields."""
    return f'set separator = "{SEPARATORS.get(sign, sign)}" {UNDER}'


def spelled(sign: str) -> str:
    return "tabs" if sign == "\t" else f"`{sign}`"
