"""A draft: a table whose rows have been given groups, on its way to becoming a release."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.engines.dialect import fingerprint, wide_integer
from discreet.errors import DiscreetWarning, InternalError
from discreet.guarantees import Guarantee, Histograms
from discreet.policy import Policy
from discreet.publication.axes import Axis, present
from discreet.publication.groups import counts
from discreet.publication.people import People
from discreet.release.layouts.file import named
from discreet.release.manifest import FieldSpec, Randomness
from discreet.table import Table
from discreet.values.codes import Codes
from discreet.values.names import fresh
from discreet.values.random import RandomSource


@dataclass(frozen=True)
class Prepared:
    """A table that fits its policy: its sensitive values as codes, and what is promised of them.

    `public` is the table that a join draws on, `people` whose each row is, where people may have several. What is
    doubtful is told to `warn`.
    """

    table: Table
    policy: Policy
    sensitive: Codes
    guarantee: Guarantee
    secret: RandomSource
    public: Table | None = None
    people: People | None = None
    warn: Callable[[DiscreetWarning], None] = warnings.warn


@dataclass(frozen=True)
class Grouped:
    """The group of every row, -1 where it is left out, and the quasi-identifiers if they were read to form groups.

    `shown` are rows beyond those of the table, where a publication shows any. `randomness` is by what chance rows came
    to their groups, and `cells` how many groups each cell has, if any were cut; of given groups, nothing is known.
    """

    groups: npt.NDArray[np.int32]
    axes: Sequence[Axis] = ()
    shown: Any = None
    randomness: Randomness | None = None
    cells: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Draft:
    """Private: it still links rows and sensitive values. `groups` is numbered from 0, in row order.

    `axes` are the quasi-identifiers where boxes are shown. Where the partition left rows out, `kept` says of every
    row of the table whether it is here; all the rest is about those that are. What else it has is as in `Grouped`.
    """

    table: Table
    policy: Policy
    sensitive: Codes
    groups: npt.NDArray[np.int32]
    histograms: Histograms
    secret: RandomSource
    axes: Sequence[Axis] = ()
    kept: npt.NDArray[np.bool_] | None = None
    shown: Any = None
    people: People | None = None
    randomness: Randomness | None = None
    cells: tuple[int, ...] | None = None

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

    @cached_property
    def persons(self) -> dict[str, pa.Array]:
        """The column that numbers the person of every row, where people have several."""
        return {} if self.people is None else {self.fresh("person"): pa.array(self.people.numbers)}

    def fresh(self, wanted: str) -> str:
        """A column name that no published column has."""
        return fresh(wanted, self.policy.columns)

    def field(self, name: str) -> FieldSpec:
        """A column of the table as the manifest describes it."""
        return FieldSpec.model_validate({"name": name, "type": self.table[name].word})

    @contextmanager
    def rows(self, names: Sequence[str], also: Mapping[str, pa.Array] | None = None) -> Iterator[exp.Select]:
        """The query for some columns of the table beside the group of every row, numbered from 1, and `also` others.

        The engine is the table's own, which others may use at the same time: what it is given to lay beside the
        rows has names that nobody else draws, and is taken away again.
        """
        engine, token = self.table.engine, secrets.token_hex(8)
        beside, counts, others = (f"{what} {token}" for what in ("groups", "counts", "others"))
        columns = [exp.column(name, quoted=True) for name in (*names, self.group, *(also or {}))]
        query = self._grouped(names, beside)
        try:
            engine.load(beside, pa.table({self.group: self.numbers()}), keep=False)
            engine.load(counts, self.counts(), keep=False)
            self._check_order(beside, counts)
            if also:
                engine.load(others, pa.table(dict(also)), keep=False)
                query = _beside(exp.select("*").from_(query.subquery("rows in groups", copy=False)), others)
            yield exp.select(*columns).from_(query.subquery("all columns", copy=False))
        finally:
            for name in (beside, counts, others):
                engine.forget(name)

    def _grouped(self, names: Sequence[str], beside: str) -> exp.Select:
        """The query for some columns and the group of every row that is published, in the order of the table."""
        rows = self.table.select(names, present=present(self.policy)).subquery("rows of the table", copy=False)
        query = _beside(exp.select("*").from_(rows), beside)
        if self.kept is None:
            return query
        return exp.select("*").from_(query.subquery("all rows")).where(exp.column(self.group, quoted=True) > 0)

    def numbers(self) -> npt.NDArray[np.int32]:
        """The group of every row of the table, 0 for those that are left out."""
        if self.kept is None:
            return self.groups + np.int32(1)
        numbers = np.zeros(self.kept.size, np.int32)
        numbers[self.kept] = self.groups + np.int32(1)
        return numbers

    def _check_order(self, beside: str, counts: str) -> None:
        """Make sure that groups lie beside the rows they were made for: by a fingerprint of groups and values."""
        engine = self.table.engine
        pair = [exp.column(self.group, quoted=True), exp.column(self.policy.sensitive_column, quoted=True)]
        print_ = exp.cast(fingerprint(*pair), wide_integer())
        rows = self._grouped([self.policy.sensitive_column], beside).subquery("rows")
        found = exp.select(exp.Sum(this=print_)).from_(rows)
        times = exp.Mul(this=print_.copy(), expression=exp.column(self.count, quoted=True))
        meant = exp.select(exp.Sum(this=times)).from_(named(counts))
        if engine.run(found).column(0)[0].as_py() != engine.run(meant).column(0)[0].as_py():
            raise InternalError("the engine changed the order of the rows while they were read; nothing was published")

    def counts(self) -> pa.Table:
        """How many rows of each group, numbered from 1, hold each sensitive value; ordered by both."""
        return counts(self.policy, self.sensitive, self.histograms)


def _beside(query: exp.Select, relation: str) -> exp.Select:
    """The rows of a query, and beside each the row of a relation at the same place."""
    query.append("joins", exp.Join(this=named(relation), method="POSITIONAL"))
    return query
