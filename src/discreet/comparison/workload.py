"""The workload of a private table under a policy: its columns as the questions of `audit/utility` want them."""

from __future__ import annotations

import numpy as np
from sqlglot import exp

from discreet.audit.utility.workload import Asked, Field, Query
from discreet.audit.utility.workload import workload as drawn
from discreet.policy import Policy
from discreet.publication.axes import present
from discreet.table import Table
from discreet.table.table import RELATION
from discreet.values.columns import UNORDERED


def workload(table: Table, policy: Policy, queries: int, chance: np.random.Generator) -> list[Query]:
    """So many different questions about the rows that may be published, fewer if the table has no more."""
    name = present(policy)
    kept = () if name is None else (exp.column(name, quoted=True).is_(exp.null()).not_(),)
    quasi = tuple(_field(table, policy, each) for each in policy.quasi)
    sensitive = None if policy.sensitive is None else _field(table, policy, policy.sensitive)
    return drawn(Asked(table.engine, RELATION, quasi, sensitive, kept), queries, chance)


def _field(table: Table, policy: Policy, name: str) -> Field:
    column = table[name]
    ordered = column.kind not in UNORDERED or name in policy.ordered
    return Field(name, column.type, table.codes(name, present=present(policy)), ordered)
