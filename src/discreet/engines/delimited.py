"""How a CSV file separates its fields."""

from __future__ import annotations

import csv
from pathlib import Path


def delimiter(path: Path) -> str:
    """The sign between the fields of a CSV file's header: comma, semicolon, tab or bar."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        header = file.readline()
    return max(",;\t|", key=lambda sign: len(next(csv.reader([header], delimiter=sign), [])))
