"""Publish a table of a server into the same server without reading its rows: plan here on counts, assign there.

For partitions that look at nothing but how often each sensitive value occurs, and publications whose tables are
SELECTs over rows in their groups. Everything happens in one transaction, which sees the table as it is at one moment:
values are counted, groups are planned, rows are assigned (`engines/postgres/assign.py`), tables are made of them
and verified by SQL, and all of it becomes visible at once or not at all. What leaves the server are counts: of every
sensitive value, and of every quasi-identifier beside it, for the warnings. Rows are taken for sorted by value, since
nothing else is known of them: a plan has the group of every place in that order.
Claim: no_row_leaves_the_server — no statement reads a row of the private table out of the server.
Claim: assigned_rows_are_the_planned — every group gets as many rows of each value as it was planned to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from discreet.engines import Address, assigner_of, store_of
from discreet.errors import DiscreetWarning, InternalError
from discreet.partition import PARTITIONS
from discreet.partition.histogram.runs import Runs
from discreet.policy import Policy
from discreet.policy.about import members
from discreet.publication import PUBLICATIONS
from discreet.publication.axes import present
from discreet.publication.draft import Draft
from discreet.publication.group import by_partition
from discreet.publication.prepare import prepare
from discreet.publication.publish import draft, promise_of
from discreet.release import Release
from discreet.release.database.release import open_stored
from discreet.release.database.tables import finish, of_tables
from discreet.release.layouts.file import named
from discreet.release.rows import ascending
from discreet.release.verify.tables import CAN
from discreet.table.database import Counted, Remote
from discreet.table.read import counted
from discreet.values.codes import encode
from discreet.values.random import RandomSource
from discreet.warnings.checks import AFTER, BEFORE, judged

ASSIGNED = "assigned"
PRIME = 65_521  # sums of squares below it fit into 64 bits


def suits(table: Remote, policy: Policy, address: Address) -> bool:
    """Whether a table can be published where it is; what cannot is read out and published from here."""
    return (
        table.origin.address.url == address.url  # the same role in the same database
        and policy.publication in MADE
        and PARTITIONS[policy.grouping].chosen(policy.options).sees == "nothing"
        and policy.person is None
        and not policy.harmless
        and policy.guarantee.keys() <= CAN
        and ("e" not in policy.guarantee or table[policy.sensitive_column].kind in {"integer", "float", "decimal"})
    )


def publish_in_server(
    table: Remote,
    policy: Policy,
    address: Address,
    *,
    grant: Sequence[str],
    strict: bool,
    progress: Callable[[str], None],
) -> Release:
    """Publish a table that `suits`."""
    with store_of(address).making(address, grant) as connection:
        private = counted(connection, table)
        progress("encoding")
        private.check_in_range(policy.columns)
        private.draw(policy.columns)
        doubts: list[DiscreetWarning] = []
        prepared = replace(prepare(private, policy, RandomSource()), warn=doubts.append)
        for check in BEFORE:
            doubts += check(prepared)
        progress("grouping")
        drafted = draft(prepared, by_partition(prepared))
        for check_groups in AFTER:
            doubts += check_groups(drafted)
        warned = judged(doubts, policy, strict=strict)
        progress("writing")
        _make(connection, address, private, drafted)
        specs = {file.name: file.table for file in PUBLICATIONS[policy.publication].files(drafted)}
        progress("verifying")
        finish(connection, address, of_tables(promise_of(drafted), specs, members(policy.about)))
    release = open_stored(address)
    release.__dict__.update(withheld=private.__dict__["rows"] - drafted.groups.size, warnings=warned)
    return release


def _make(connection: Any, address: Address, private: Counted, drafted: Draft) -> None:
    """Assign the rows, and make the tables of the release of them."""
    policy, assigner = drafted.policy, assigner_of(address)
    names = [*policy.quasi, policy.sensitive_column]
    runs = Runs.of(drafted.groups, drafted.sensitive.codes)
    engine = assigner.assign(
        connection,
        private.engine.written(private.select(names, present=present(policy))),
        pa.schema([pa.field(name, private[name].type) for name in names]),
        by=policy.sensitive_column,
        missing=drafted.sensitive.missing,
        group=drafted.group,
        plan=(runs.firsts, runs.groups, runs.steps),
    )
    _check_planned(engine, drafted)
    for name, query in MADE[policy.publication](drafted, assigner).items():
        engine.create(address.name, name, query)


def _check_planned(engine: Any, drafted: Draft) -> None:
    """Make sure that rows went where they were meant to: by sums over the groups of each value, and their squares."""
    group, value = (exp.column(name, quoted=True) for name in (drafted.group, drafted.policy.sensitive_column))
    wide = exp.paren(exp.Mod(this=exp.cast(group, exp.DType.BIGINT), expression=exp.Literal.number(PRIME)))
    sums = [
        exp.Count(this=exp.Star()),
        exp.Sum(this=wide),
        exp.Sum(this=exp.Mul(this=wide.copy(), expression=wide.copy())),
    ]
    moments = [exp.alias_(exp.cast(each, "DECIMAL(38, 0)"), f"m{i}") for i, each in enumerate(sums)]
    query = exp.select(value, *moments).from_(named(ASSIGNED)).group_by(value.copy())
    codes, groups = drafted.sensitive.codes, (drafted.groups.astype(np.int64) + 1) % PRIME
    order = np.flatnonzero(np.diff(codes, prepend=-1))
    meant = [np.add.reduceat(each, order).tolist() for each in (np.ones_like(groups), groups, groups * groups)]
    values, *found = engine.copied(query).columns
    by_value = np.argsort(encode(values).codes)
    if [[int(column[i].as_py()) for i in by_value] for column in found] != meant:
        raise InternalError("the server did not assign rows as planned; nothing was published")


def _anatomy(drafted: Draft, _: ModuleType) -> Mapping[str, exp.Select]:
    policy, group, count = drafted.policy, drafted.group, drafted.count
    number = exp.alias_(exp.Count(this=exp.Star()), count, quoted=True)
    held = _columns(group, policy.sensitive_column)
    return {
        "qit": _rows(*policy.quasi, group).order_by(*map(ascending, (group, *policy.quasi))),
        "st": exp.select(*held, number)
        .from_(named(ASSIGNED))
        .group_by(*(each.copy() for each in held))
        .order_by(*map(ascending, (group, policy.sensitive_column))),
    }


def _permutation(drafted: Draft, assigner: ModuleType) -> Mapping[str, exp.Select]:
    """Values are shuffled inside each group; rows are numbered in the order of what they show."""
    policy, group, row = drafted.policy, drafted.group, drafted.row
    sensitive, shown = policy.sensitive_column, (group, *policy.quasi)
    at = drafted.fresh("place")
    of_rows = _rows(*shown).select(_numbered(at, by=group)).subquery("a")
    of_values = assigner.shuffled(_rows(group, sensitive), group, at).subquery("b")
    pairs = zip(*(_columns(group, at, of=of) for of in "ab"), strict=True)
    same = exp.and_(*(exp.EQ(this=one, expression=two) for one, two in pairs))
    joined = exp.select(*_columns(*shown, of="a"), *_columns(sensitive, of="b")).from_(of_rows).join(of_values, on=same)
    order = [ascending(name) for name in (*shown, sensitive)]
    place = exp.alias_(exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=order)), row, quoted=True)
    permuted = exp.select(place, *_columns(*policy.quasi, sensitive)).from_(joined.subquery("together"))
    in_order = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=[ascending(group)]))
    mapping = exp.select(exp.alias_(in_order, row, quoted=True), *_columns(group)).from_(named(ASSIGNED))
    return {"permuted": permuted.order_by(ascending(row)), "mapping": mapping.order_by(ascending(row))}


def _rows(*names: str) -> exp.Select:
    return exp.select(*_columns(*names)).from_(named(ASSIGNED))


def _columns(*names: str, of: str | None = None) -> list[exp.Column]:
    return [exp.column(name, of, quoted=True) for name in names]


def _numbered(name: str, *, by: str) -> exp.Expr:
    return exp.alias_(exp.Window(this=exp.RowNumber(), partition_by=_columns(by)), name, quoted=True)


MADE: Mapping[str, Callable[[Draft, ModuleType], Mapping[str, exp.Select]]] = {
    "anatomy": _anatomy,
    "permutation": _permutation,
}
