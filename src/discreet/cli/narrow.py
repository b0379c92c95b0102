"""Tables on a narrow terminal: texts may go on in the next line, numbers never do.

What does not fit is laid out otherwise: first an estimate with its standard error and bounds in one cell, then each row
as lines of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

GAP = "  "  # between a name and its value
BETWEEN = 3  # spaces between two columns
LEAST = 12  # of a text, before it goes on in the next line
NUMBER = re.compile(r"[–+-]?[\d.,]*(e[+-]?\d+)?%?|[+-]?(inf|nan)|.* ± .* \[.*\]|\[.*, .*\]")
PARTS = ("", "_stderr", "_low", "_high")


@dataclass(frozen=True, slots=True)
class Laid:
    """A table of texts that are laid out as they stand; its first `left` columns are flush left."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int

    def widths(self) -> list[int]:
        """What each column needs: a text a little at least, a number all of its width and that of its name."""
        cells = zip(self.columns, *self.rows, strict=True)
        needed = [max(map(cell_len, column)) for column in cells]
        return [width if self.numeric(i) else min(width, LEAST) for i, width in enumerate(needed)]

    def numeric(self, column: int) -> bool:
        """Whether a column holds numbers, and what stands for none."""
        return column >= self.left and all(NUMBER.fullmatch(row[column]) for row in self.rows)

    def fits(self, width: int) -> bool:
        needed = self.widths()
        return sum(needed) + BETWEEN * (len(needed) - 1) <= width


def laid_out(table: Laid, width: int) -> Laid | None:
    """The table, or the same with estimates and their bounds in one cell; None if neither fits into a width."""
    return next((each for each in (table, _together(table)) if each.fits(width)), None)


def as_records(table: Laid, width: int) -> Iterator[str]:
    """Every row as lines, a column each; where names are too long for a number beside them, it stands below."""
    names = max(map(cell_len, table.columns), default=0)
    numbers = [cell for row in table.rows for cell in row if NUMBER.fullmatch(cell)]
    beside = names + len(GAP) + max(map(cell_len, numbers), default=0) <= width
    for i, row in enumerate(table.rows):
        if i:
            yield ""
        for name, cell in zip(table.columns, row, strict=True):
            yield f"{name}{' ' * (names - cell_len(name))}{GAP}{cell}" if beside else f"{name}\n{GAP}{cell}"


def _together(table: Laid) -> Laid:
    """Of every measure, the estimate, its standard error and its bounds in one column."""
    at = {name: i for i, name in enumerate(table.columns)}
    stems = {name.removesuffix("_low") for name in at if name.endswith("_low") and f"{name[:-4]}_high" in at}
    columns: dict[str, list[int]] = {}
    for name, i in at.items():
        stem = next((stem for stem in stems if name in {stem + part for part in PARTS}), None)
        if stem is None:
            columns[name] = [i]
        else:
            columns.setdefault(stem, [at[stem + part] for part in PARTS if stem + part in at])
    heads = [name if len(parts) == 1 else _head(name, len(parts)) for name, parts in columns.items()]
    rows = [[_cell([row[i] for i in parts]) for parts in columns.values()] for row in table.rows]
    return Laid(heads, rows, table.left)


def _head(stem: str, parts: int) -> str:
    return f"{stem} ± stderr [low, high]" if parts == len(PARTS) else f"{stem} [low, high]"


def _cell(parts: Sequence[str]) -> str:
    if len(parts) == 1:
        return parts[0]
    *before, low, high = parts
    return " ".join([*([" ± ".join(before)] if before else []), f"[{low}, {high}]"])
