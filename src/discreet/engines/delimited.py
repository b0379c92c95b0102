"""How a CSV file separates its fields."""

from __future__ import annotations

import csv
from pathlib import Path


def delimiter(path: Path) -> str:
    """The sign between the fields: comma, semicolon, tab or bar; the one on which header and first row agree."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        lines = [file.readline(), file.readline()]

    def fields(sign: str) -> tuple[bool, int]:
        try:
            header, row = (len(next(csv.reader([line], delimiter=sign), [])) for line in lines)
        except csv.Error:  # a field that is too long, perhaps
            return False, lines[0].count(sign)
        return header == row > 1, header

    return max(",;\t|", key=fields)
