"""Publish a table of a server into the same server: group rows here, and make the tables of the release there.

For publications whose tables are SELECTs over rows in their groups. Everything happens in one transaction, which sees
the table as it is at one moment: groups are formed here, rows are given them there (`engines/postgres/assign.py`),
tables are made of them and verified by SQL, and all of it becomes visible at once or not at all.

Partitions that look at nothing but how often each sensitive value occurs plan by counts, and no row is read. What
leaves the server are counts: of every sensitive value, and of every quasi-identifier beside it, for the warnings. Rows
are taken for sorted by value, since nothing else is known of them: a plan has the group of every place in that order.

For the others, the columns that the policy names are read, and where each row lies; they are grouped and attacked by
the same code as everywhere, in memory, and the group of every place goes back.
Claim: no_row_leaves_the_server — to plan by counts, no statement reads a row of the private table out of the server.
Claim: assigned_rows_are_the_planned — every group gets as many rows of each value as it was planned to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import ModuleType
from typing import Any, TypeAlias

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
from discreet.publication.prepare import prepare
from discreet.publication.publish import draft, promise_of
from discreet.release import Release
from discreet.release.database.release import open_stored
from discreet.release.database.tables import finish, of_tables
from discreet.release.layouts.file import named
from discreet.release.rows import ascending
from discreet.release.verify.tables import CAN
from discreet.table import Table
from discreet.table.database import Counted, Remote
from discreet.table.read import counted
from discreet.values.codes import encode
from discreet.values.random import RandomSource
from discreet.warnings.checks import AFTER, BEFORE, judged

Made: TypeAlias = "exp.Select | pa.Table"  # a table of a release: of rows of the server, or of what is known here
ASSIGNED = "assigned"
PRIME = 65_521  # sums of squares below it fit into 64 bits


def suits(table: Remote, policy: Policy, address: Address) -> bool:
    """Whether the tables of a release can be made where the table is; else it is made in a folder, and loaded."""
    return (
        table.origin.address.url == address.url  # the same role in the same database
        and policy.publication in MADE
        and policy.options.get("cells") is None
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
    with store_of(address).making(address, grant) as connection, ExitStack() as opened:
        private = counted(connection, table)
        progress("encoding")
        private.check_in_range(policy.columns)
        grouped, lies = _looked_at(private, table, policy, opened)
        doubts: list[DiscreetWarning] = []
        prepared = replace(prepare(grouped, policy, RandomSource()), warn=doubts.append)
        for check in BEFORE:
            doubts += check(prepared)
        progress("grouping")
        drafted = draft(prepared, PUBLICATIONS[policy.publication].group(prepared))
        for check_groups in AFTER:
            doubts += check_groups(drafted)
        warned = judged(doubts, policy, strict=strict)
        progress("writing")
        _make(connection, address, private, drafted, lies)
        specs = {file.name: file.table for file in PUBLICATIONS[policy.publication].files(drafted)}
        progress("verifying")
        held = _held(drafted) if "st" in specs else None
        finish(connection, address, of_tables(promise_of(drafted), specs, members(policy.about)), held)
        rows, published = grouped.rows, drafted.groups.size
    suppressed = 0 if drafted.kept is None else int(drafted.kept.size - published)
    release = open_stored(address)
    release.__dict__.update(withheld=rows - published - suppressed, suppressed=suppressed, warnings=warned)
    return release


def _looked_at(
    private: Counted, table: Remote, policy: Policy, opened: ExitStack
) -> tuple[Table, pa.ChunkedArray | None]:
    """What groups are formed of: counts, or the rows themselves and where each lies."""
    if PARTITIONS[policy.grouping].chosen(policy.options).sees == "nothing":
        private.draw(policy.columns)
        return private, None
    rows, lies = private.read([*policy.needed, *policy.identifiers])
    return opened.enter_context(table.of_rows(rows)), lies


def _make(connection: Any, address: Address, private: Counted, drafted: Draft, lies: pa.ChunkedArray | None) -> None:
    """Give the rows their groups, and make the tables of the release of them."""
    policy, assigner, schema = drafted.policy, assigner_of(address), address.name
    names = [*policy.quasi, policy.sensitive_column]
    query = private.engine.written(private.select([*names, private.place], present=present(policy)))
    columns = pa.schema([pa.field(name, private[name].type) for name in names])
    rows: Any = {"rows": query, "columns": columns, "lies": private.place, "group": drafted.group}
    if lies is None:
        runs = Runs.of(drafted.groups, drafted.sensitive.codes)
        plan = {"by": policy.sensitive_column, "missing": drafted.sensitive.missing}
        engine = assigner.assign(connection, **rows, **plan, plan=(runs.firsts, runs.groups, runs.steps))
    else:
        engine = assigner.told(connection, **rows, groups=_told(drafted, lies))
    _check_planned(engine, drafted)
    for name, made in MADE[policy.publication](drafted, assigner).items():
        if isinstance(made, pa.Table):
            engine.put(schema, name, made)
        else:
            engine.create(schema, name, made)
    assigner.forget(connection)


def _told(drafted: Draft, lies: pa.ChunkedArray) -> pa.Table:
    """Where each row lies that is published, and its group."""
    without = present(drafted.policy)
    if without is not None:
        codes = drafted.table.codes(without)
        lies = lies.filter(pa.array(codes.codes < len(codes.domain)))
    numbers = drafted.numbers()
    if len(lies) != numbers.size:
        raise InternalError("rows and their groups are not as many; nothing was published")
    return pa.table({"lies": lies, "group": numbers}).filter(pa.array(numbers > 0))


def _held(drafted: Draft) -> pa.Table:
    """How many rows of each group hold each value, with the type that the column has in the table."""
    counts, sensitive = drafted.counts(), drafted.policy.sensitive_column
    at = counts.schema.get_field_index(sensitive)
    return counts.set_column(at, sensitive, counts.column(at).cast(drafted.table[sensitive].type))


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
    held = drafted.histograms
    order = np.argsort(held.values, kind="stable")
    times, groups = held.counts[order].astype(np.int64), (held.groups[order].astype(np.int64) + 1) % PRIME
    starts = np.flatnonzero(np.diff(held.values[order], prepend=-1))
    meant = [np.add.reduceat(times * each, starts).tolist() for each in (np.ones_like(groups), groups, groups * groups)]
    values, *found = engine.copied(query).columns
    by_value = np.argsort(encode(values).codes)
    if [[int(column[i].as_py()) for i in by_value] for column in found] != meant:
        raise InternalError("the server did not assign rows as planned; nothing was published")


def _anatomy(drafted: Draft, _: ModuleType) -> Mapping[str, Made]:
    """Values of groups are known here: that rows hold them is checked, and that both tables have the same groups."""
    quasi, group = drafted.policy.quasi, drafted.group
    shown = group, *quasi  # the group comes first: a server goes through all columns before the one that it looks for
    return {"qit": _rows(*shown).order_by(*map(ascending, shown)), "st": _held(drafted)}


def _permutation(drafted: Draft, assigner: ModuleType) -> Mapping[str, Made]:
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


MADE: Mapping[str, Callable[[Draft, ModuleType], Mapping[str, Made]]] = {
    "anatomy": _anatomy,
    "permutation": _permutation,
}
