"""Read a release as anyone could: from its files alone, whatever its publication."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.release import Release
from discreet.release.layouts import layout_of
from discreet.release.layouts.file import column, named
from discreet.release.relations import loaded


@dataclass(frozen=True, slots=True)
class Tables:
    """A release as two tables (see `Layout.relations`), and the value that stands on each row, if one does.

    The rows of `qit`, and so of `beside`, are in the order of the files; those of `st` too, if it is
    a file, else they are sorted: counted from rows, they have no order of their own.
    """

    qit: pa.Table
    st: pa.Table
    beside: pa.Array | None


def read_tables(release: Release) -> Tables:
    """Load the files of a release into an engine of their own, and read them."""
    promise = release.promise
    layout = layout_of(promise)
    files, tables = layout.files(promise), layout.relations(promise)
    st = tables["st"] if "st" in files else tables["st"].order_by("grp", "value")
    with loaded(release) as engine:
        beside = None
        for name, file in files.items():
            if promise.sensitive is not None and {*promise.columns} <= {*file.columns}:
                rows = exp.select(column(promise.sensitive)).from_(named(f"{name} file"))
                numbered = promise.row in file.columns
                beside = engine.run(rows.order_by(column(promise.row)) if numbered else rows).column(0).combine_chunks()
        return Tables(engine.run(tables["qit"]), engine.run(st), beside)


def numbers(column: pa.ChunkedArray | pa.Array) -> npt.NDArray[np.int64]:
    """A column of whole numbers, none missing."""
    return np.asarray(column.cast(pa.int64()), np.int64)
