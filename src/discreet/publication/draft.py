"""A draft: a table whose rows have been given groups, on its way to becoming a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from discreet.errors import InternalError
from discreet.guarantees import Histograms
from discreet.policy import Policy
from discreet.release.manifest import FieldSpec
from discreet.table import Table
from discreet.table.encode import Codes

GROUPS = "groups of rows"
COUNTS = "counts of values"
TYPES = {"float": "number", "decimal": "number", "timestamp": "datetime"}


@dataclass(frozen=True)
class Draft:
    """Private: it still links rows and sensitive values. `groups` is numbered from 0, in row order."""

    table: Table
    policy: Policy
    sensitive: Codes
    groups: npt.NDArray[np.int32]
    histograms: Histograms

    @cached_property
    def group(self) -> str:
        """The name of the column that holds the group."""
        return self._beside("group")

    @cached_property
    def count(self) -> str:
        """The name of the column that counts rows."""
        return self._beside("count")

    def _beside(self, wanted: str) -> str:
        """A column name that no published column has, in upper or lower case."""
        taken = {name.lower() for name in (*self.policy.quasi, self.policy.sensitive)}
        while wanted in taken:
            wanted += "_"
        return wanted

    def field(self, name: str) -> FieldSpec:
        """A column of the table as the manifest describes it."""
        kind = self.table[name].kind
        return FieldSpec.model_validate({"name": name, "type": TYPES.get(kind or "", kind)})

    def rows(self, names: Sequence[str]) -> exp.Select:
        """The query for some columns of the table beside the group of every row, numbered from 1."""
        self._lay_down_groups()
        columns = [exp.column(name, quoted=True) for name in (*names, self.group)]
        rows = self.table.select(names, present=present(self.policy)).subquery("rows of the table", copy=False)
        return _beside_groups(exp.select(*columns).from_(rows))

    def _lay_down_groups(self) -> None:
        """Give the groups to the engine, and make sure that they lie beside the rows they were made for."""
        engine = self.table.engine
        engine.load(GROUPS, pa.table({self.group: self.groups + np.int32(1)}), keep=False)
        engine.load(COUNTS, self.counts(), keep=False)
        pair = [exp.column(self.group, quoted=True), exp.column(self.policy.sensitive, quoted=True)]
        print_ = exp.cast(exp.Anonymous(this="hash", expressions=pair), "HUGEINT")
        rows = self.table.select([self.policy.sensitive], present=present(self.policy)).subquery("rows of the table")
        beside = _beside_groups(exp.select(exp.Sum(this=print_)).from_(rows))
        times = exp.Mul(this=print_.copy(), expression=exp.column(self.count, quoted=True))
        meant = exp.select(exp.Sum(this=times)).from_(exp.Table(this=exp.to_identifier(COUNTS, quoted=True)))
        if engine.run(beside).column(0)[0].as_py() != engine.run(meant).column(0)[0].as_py():
            raise InternalError("the engine changed the order of the rows while they were read; nothing was published")

    def counts(self) -> pa.Table:
        """How many rows of each group, numbered from 1, hold each sensitive value; ordered by both."""
        columns = {
            self.group: self.histograms.groups + 1,
            self.policy.sensitive: self.sensitive.decode(self.histograms.values),
            self.count: self.histograms.counts,
        }
        return pa.table(columns)


def present(policy: Policy) -> str | None:
    """The column whose missing values keep a row out of the release, if any."""
    return policy.sensitive if policy.missing_sensitive == "withhold" else None


def _beside_groups(query: exp.Select) -> exp.Select:
    groups = exp.Table(this=exp.to_identifier(GROUPS, quoted=True))
    query.append("joins", exp.Join(this=groups, method="POSITIONAL"))
    return query
