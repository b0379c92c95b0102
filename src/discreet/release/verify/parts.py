"""Where the parts of a table end must follow from what its rows show: then it tells nothing else.

Rows that stand group by group are cut after every so many groups, other rows after every so many rows; the last part
may have less. That all rows are in order, across parts too, is checked with the order.
Claim: parts_end_where_rows_say — a part that ends anywhere else, or is empty, is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from discreet.release.layouts import cut_column
from discreet.release.manifest import Manifest, Resource
from discreet.release.verify.check import Check, check


def parts(folder: Path, manifest: Manifest) -> Iterator[Check]:
    """One check of all tables that are in parts, if any is."""
    tables = [resource for resource in manifest.resources if resource.in_parts]
    faults = (_fault(folder, resource, cut_column(manifest.discreet, resource.name)) for resource in tables)
    if tables:
        wrong = next((fault for fault in faults if fault is not None), None)
        yield check("parts", wrong, "where parts end follows from the rows: after so many groups, or so many rows")


def _fault(folder: Path, resource: Resource, group: str | None) -> str | None:
    """What is wrong with the cuts of a table."""
    sizes, before = [], 0
    for path in resource.paths:
        with pq.ParquetFile(folder / path) as file:
            rows, ends = _rows(file), None if group is None else _ends(file, group)
        if not rows:
            return f"`{path}` has no rows"
        if ends is not None:
            if not all(isinstance(end, int) for end in ends) or ends[0] != before + 1:
                return f"`{path}` does not begin with the group that follows the last one of the part before it"
            rows, before = ends[1] - before, ends[1]
        sizes.append(rows)
    if any(size != sizes[0] for size in sizes[:-1]) or sizes[-1] > sizes[0]:
        what = "rows" if group is None else "groups"
        return f"the parts of `{resource.name}` do not have the same number of {what}"
    return None


def _rows(file: pq.ParquetFile) -> int:
    return sum(file.metadata.row_group(number).num_rows for number in range(file.num_row_groups))


def _ends(file: pq.ParquetFile, group: str) -> tuple[int, int] | None:
    """The groups of the first and the last row, as they stand in the file: what a footer says of them may be wrong."""
    full = [number for number in range(file.num_row_groups) if file.metadata.row_group(number).num_rows]
    if not full:
        return None
    first, last = (file.read_row_group(number, columns=[group])[group] for number in (full[0], full[-1]))
    return first[0].as_py(), last[-1].as_py()
