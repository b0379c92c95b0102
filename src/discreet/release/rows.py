"""Rows as a data file of a release, in the order of their content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from sqlglot import exp

from discreet.engines import connect
from discreet.release.manifest import FieldSpec


def ascending(name: str) -> exp.Ordered:
    """Sort by a column, missing values last."""
    return exp.Ordered(this=exp.column(name, quoted=True), nulls_first=False)


def store_rows(rows: pa.Table | pa.RecordBatchReader, path: Path, *, order: Sequence[str] = ()) -> None:
    """Write rows, as they are or in order, with an engine of their own: files are written side by side."""
    engine = connect(private=True)
    try:
        engine.load("rows", rows, keep=False)
        found = exp.select("*").from_("rows")
        engine.store(found.order_by(*map(ascending, order)) if order else found, path)
    finally:
        engine.close()


def number(name: str) -> FieldSpec:
    """A column that we add to a data file."""
    return FieldSpec(name=name, type="integer")
