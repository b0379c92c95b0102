"""A draft: a table whose rows have been given groups, on its way to becoming a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.engines import connect
from discreet.engines.dialect import fingerprint, wide_integer
from discreet.errors import InternalError
from discreet.guarantees import Histograms
from discreet.policy import Policy
from discreet.release.layouts.file import named
from discreet.release.manifest import FieldSpec
from discreet.table import Table
from discreet.values.codes import Codes
from discreet.values.names import fresh
from discreet.values.random import RandomSource

if TYPE_CHECKING:
    from discreet.publication.axes import Axis

GROUPS = "groups of rows"
COUNTS = "counts of values"
ALSO = "other columns of rows"


@dataclass(frozen=True)
class Draft:
    """Private: it still links rows and sensitive values. `groups` is numbered from 0, in row order.

    `axes` are the quasi-identifiers where boxes are shown. Where the partition left rows out, `kept` says of every
    row of the table whether it is here; all the rest is about those that are.
    """

    table: Table
    policy: Policy
    sensitive: Codes
    groups: npt.NDArray[np.int32]
    histograms: Histograms
    secret: RandomSource
    axes: Sequence[Axis] = ()
    kept: npt.NDArray[np.bool_] | None = None

    @cached_property
    def group(self) -> str:
        """The name of the column that holds the group."""
        return self.fresh("group")

    @cached_property
    def count(self) -> str:
        """The name of the column that counts rows."""
        return self.fresh("count")

    @cached_property
    def row(self) -> str:
        """The name of the column that numbers the published rows."""
        return self.fresh("row")

    def fresh(self, wanted: str) -> str:
        """A column name that no published column has."""
        return fresh(wanted, self.policy.columns)

    def field(self, name: str) -> FieldSpec:
        """A column of the table as the manifest describes it."""
        return FieldSpec.model_validate({"name": name, "type": self.table[name].word})

    def rows(self, names: Sequence[str], also: Mapping[str, pa.Array] | None = None) -> exp.Select:
        """The query for some columns of the table beside the group of every row, numbered from 1, and `also` others."""
        self._lay_down_groups()
        columns = [exp.column(name, quoted=True) for name in (*names, self.group, *(also or {}))]
        query = self._grouped(names)
        if also:
            self.table.engine.load(ALSO, pa.table(dict(also)), keep=False)
            query = _beside(exp.select("*").from_(query.subquery("rows in groups", copy=False)), ALSO)
        return exp.select(*columns).from_(query.subquery("all columns", copy=False))

    def _grouped(self, names: Sequence[str]) -> exp.Select:
        """The query for some columns and the group of every row that is published, in the order of the table."""
        rows = self.table.select(names, present=present(self.policy)).subquery("rows of the table", copy=False)
        query = _beside(exp.select("*").from_(rows), GROUPS)
        if self.kept is None:
            return query
        return exp.select("*").from_(query.subquery("all rows")).where(exp.column(self.group, quoted=True) > 0)

    def _lay_down_groups(self) -> None:
        """Give the groups to the engine, and make sure that they lie beside the rows they were made for."""
        engine = self.table.engine
        numbers = self.groups + np.int32(1)
        if self.kept is not None:
            everyone = np.zeros(self.kept.size, np.int32)
            everyone[self.kept] = numbers
            numbers = everyone
        engine.load(GROUPS, pa.table({self.group: numbers}), keep=False)
        engine.load(COUNTS, self.counts(), keep=False)
        pair = [exp.column(self.group, quoted=True), exp.column(self.policy.sensitive_column, quoted=True)]
        print_ = exp.cast(fingerprint(*pair), wide_integer())
        beside = exp.select(exp.Sum(this=print_)).from_(self._grouped([self.policy.sensitive_column]).subquery("rows"))
        times = exp.Mul(this=print_.copy(), expression=exp.column(self.count, quoted=True))
        meant = exp.select(exp.Sum(this=times)).from_(named(COUNTS))
        if engine.run(beside).column(0)[0].as_py() != engine.run(meant).column(0)[0].as_py():
            raise InternalError("the engine changed the order of the rows while they were read; nothing was published")

    def counts(self) -> pa.Table:
        """How many rows of each group, numbered from 1, hold each sensitive value; ordered by both."""
        columns = {
            self.group: self.histograms.groups + 1,
            self.policy.sensitive_column: self.sensitive.decode(self.histograms.values),
            self.count: self.histograms.counts,
        }
        return pa.table(columns)


def present(policy: Policy) -> str | None:
    """The column whose missing values keep a row out of the release, if any."""
    return policy.sensitive if policy.missing_sensitive == "withhold" else None


def _beside(query: exp.Select, relation: str) -> exp.Select:
    """The rows of a query, and beside each the row of a relation at the same place."""
    query.append("joins", exp.Join(this=named(relation), method="POSITIONAL"))
    return query


def ascending(name: str) -> exp.Ordered:
    """Sort by a column, missing values last."""
    return exp.Ordered(this=exp.column(name, quoted=True), nulls_first=False)


def number(name: str) -> FieldSpec:
    """A column that we add to a data file."""
    return FieldSpec(name=name, type="integer")


def store_rows(rows: pa.Table, path: Path, *, order: Sequence[str] = ()) -> None:
    """Write rows, as they are or in order, with an engine of their own: sheets are stored side by side."""
    engine = connect()
    try:
        engine.load("rows", rows, keep=False)
        found = exp.select("*").from_("rows")
        engine.store(found.order_by(*map(ascending, order)) if order else found, path)
    finally:
        engine.close()
