"""The rows that a release was the first to show, packed as columns: a million are read again at the cost of a few.

Where groups settle, such rows never change, so what is kept of them stays true. Whole numbers take as many bytes as
the largest of them needs.
Cost: linear in the rows.
Claim: kept_rows_are_the_rows — rows are unpacked as they were packed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from discreet.vault.tree.model import Floats, Ints

SINCE = b"since"
WIDTHS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
EXACT = 2**53  # whole numbers below it are floats, too
MOST = 500_000_000  # bytes; databases take twice as many at once


class Members(NamedTuple):
    """The node, the point and the sensitive code of some rows."""

    nodes: Ints
    points: Floats
    sensitive: Ints


def packed_rows(rows: Members, since: int) -> bytes | None:
    """Rows as bytes, and the first of the releases that showed some of them; None if they are too many."""
    columns = [_narrow(column) for column in (rows.nodes, rows.sensitive, *rows.points.T)]
    table = pa.Table.from_arrays(columns, names=[str(at) for at in range(len(columns))])
    table = table.replace_schema_metadata({SINCE: str(since)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_table(table)
    found = sink.getvalue()
    return found.to_pybytes() if found.size <= MOST else None


def unpacked_rows(found: bytes) -> tuple[Members, int]:
    """What `packed_rows` was given."""
    with pa.ipc.open_stream(pa.BufferReader(found)) as stream:
        table = stream.read_all()
    nodes, sensitive, *points = (column.to_numpy() for column in table.columns)
    lines = np.empty((table.num_rows, len(points)))
    for at, column in enumerate(points):
        lines[:, at] = column
    return Members(nodes.astype(np.int64), lines, sensitive.astype(np.int64)), int(table.schema.metadata[SINCE])


def together(parts: list[Members]) -> Members:
    return Members(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _narrow(column: Ints | Floats) -> pa.Array:
    """The same numbers in a type that takes less room, if there is one that holds them exactly."""
    if not column.size or np.isnan(column).any():
        return pa.array(column)
    low, high = float(column.min()), float(column.max())
    if not -EXACT < low <= high < EXACT or (column != np.trunc(column)).any() or _has_negative_zero(column):
        return pa.array(column)
    kind = next(kind for kind in WIDTHS if -(2 ** (kind.bit_width - 1)) <= low and high < 2 ** (kind.bit_width - 1))
    return pa.array(column.astype(kind.to_pandas_dtype()), kind)


def _has_negative_zero(column: Ints | Floats) -> bool:
    return bool((np.signbit(column) & (column == 0)).any())
