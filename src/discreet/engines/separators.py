"""How a CSV file separates its fields."""

from __future__ import annotations

from pathlib import Path

from discreet.values.separators import separator


def separator_of(path: Path) -> str:
    """The sign between the fields of a file, by its header and first row."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return separator([file.readline(), file.readline()])
