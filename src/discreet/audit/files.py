"""Read a release as anyone could: from its files alone, whatever its publication."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from discreet.engines import Engine, connect
from discreet.release import Release
from discreet.release.layouts import LAYOUTS
from discreet.release.layouts.file import column, named


@dataclass(frozen=True, slots=True)
class Tables:
    """A release as two tables (see `discreet.release.layouts`), and the value that stands on each row, if one does.

    The rows of `qit`, and so of `beside`, are in the order of the files; those of `st` too, if it is
    a file, else they are sorted: counted from rows, they have no order of their own.
    """

    qit: pa.Table
    st: pa.Table
    beside: pa.Array | None


def read_tables(release: Release) -> Tables:
    """Load the files of a release into an engine of their own, and read them."""
    promise = release.promise
    layout = LAYOUTS[promise.publication]
    files, tables = layout.files(promise), layout.tables(promise)
    st = tables["st"] if "st" in files else tables["st"].order_by("grp", "value")
    with loaded(release) as engine:
        beside = None
        for name, file in files.items():
            if promise.sensitive is not None and {*promise.columns} <= {*file.columns}:
                rows = exp.select(column(promise.sensitive)).from_(named(f"{name} file"))
                numbered = promise.row in file.columns
                beside = engine.run(rows.order_by(column(promise.row)) if numbered else rows).column(0).combine_chunks()
        return Tables(engine.run(tables["qit"]), engine.run(st), beside)


@contextmanager
def loaded(release: Release) -> Iterator[Engine]:
    """An engine of its own in which each data file of a release is there as `NAME file`."""
    with closing(connect(groups=release.promise.groups)) as engine:
        for resource in release.manifest.resources:
            engine.load(f"{resource.name} file", release.file(resource.name), keep=False, kinds=resource.kinds())
        yield engine
