"""Which sign separates the fields of a text table: the one on which its first two lines agree."""

from __future__ import annotations

import csv
from collections.abc import Sequence

SIGNS = ";\t,|"  # the more often a sign stands inside of fields, the later; bars are rare as separators, too


def separator(lines: Sequence[str]) -> str:
    """The sign that cuts the first two lines into equally many fields, more than one; else any that cuts the first."""
    cuts = {sign: [_fields(line, sign) for line in lines[:2]] for sign in SIGNS}
    agreed = [sign for sign, counts in cuts.items() if len(counts) == 2 and counts[0] == counts[1] > 1]
    return [*agreed, *(sign for sign, counts in cuts.items() if counts and counts[0] > 1), ","][0]


def _fields(line: str, sign: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=sign), []))
    except csv.Error:  # a field that is too long, perhaps; whoever reads the table says so
        return line.count(sign) + 1
