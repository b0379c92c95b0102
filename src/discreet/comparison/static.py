"""Two ways to publish a growing table without a vault, to compare it with: Static I and Static II.

`static_all` groups all rows anew for every version. Each is as good as can be; together they give people away.
`static_new` groups the new rows of a version by themselves, and shows earlier groups as they were. That gives nobody
away, but few rows at a time hide each other badly. Both group rows as the policy says, or as a vault would its first
ones: cut where least is lost.
Source: Byun et al., "Secure anonymization for incremental datasets", SDM 2006, section 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.errors import InputError
from discreet.policy import Policy
from discreet.publication.publish import grouped, publish_groups
from discreet.release import Release
from discreet.table import Table, read
from discreet.values.boxes import box_of
from discreet.values.positions import positions
from discreet.values.random import RandomSource
from discreet.vault.intake import quasi
from discreet.vault.safety.rule import Rule
from discreet.vault.tree.forest import strata
from discreet.vault.tree.pool import Pool, asked

Cuts: TypeAlias = Literal["policy", "least_loss"]
Numbers: TypeAlias = npt.NDArray[np.int32]


def static_all(
    tables: Sequence[Any], policy: Policy, to: str | Path, *, seed: int | None = None, cuts: Cuts = "policy"
) -> list[Release]:
    """Publish a version after each of the `tables`, each of all rows so far, into numbered folders of `to`."""
    _fits(policy)
    rows = _rows(tables)
    versions = [pa.concat_tables(rows[:number], promote_options="permissive") for number in range(1, len(rows) + 1)]
    return [
        _published(so_far, policy, _grouped(so_far, policy, seed, cuts), _folder(to, number), seed)
        for number, so_far in enumerate(versions, 1)
    ]


def static_new(
    tables: Sequence[Any], policy: Policy, to: str | Path, *, seed: int | None = None, cuts: Cuts = "policy"
) -> list[Release]:
    """Publish a version after each of the `tables`, its rows in groups of their own, into numbered folders of `to`."""
    _fits(policy)
    rows, released, groups = _rows(tables), [], np.zeros(0, np.int32)
    for number, new in enumerate(rows, 1):
        own = _grouped(new, policy, seed, cuts)
        groups = np.concatenate([groups, np.where(own < 0, -1, own + groups.max(initial=-1) + 1)]).astype(np.int32)
        so_far = pa.concat_tables(rows[:number], promote_options="permissive")
        released.append(_published(so_far, policy, groups, _folder(to, number), seed))
    return released


def _published(rows: pa.Table, policy: Policy, groups: Numbers, to: Path, seed: int | None) -> Release:
    with read(rows) as table:
        present = policy.sensitive if policy.missing_sensitive == "withhold" else None
        sensitive = table.codes(policy.sensitive or "", present=present)
        return publish_groups(table, policy, sensitive, groups, to=to, secret=RandomSource(seed))


def _grouped(rows: pa.Table, policy: Policy, seed: int | None, cuts: Cuts) -> Numbers:
    """The group of every row."""
    if cuts == "policy":
        with read(rows) as table:
            return grouped(table, policy, RandomSource(seed))
    columns = tuple(quasi(policy, rows.schema))
    points = np.column_stack(
        [_point(rows.column(column.name), column.name, ordered=column.ordered) for column in columns]
    )
    sensitive = _point(rows.column(policy.sensitive_column), policy.sensitive_column, ordered=False).astype(np.int64)
    groups, found, least = np.empty(len(rows), np.int32), 0, asked(Rule.of(policy.guarantee))
    of_row = strata(points, columns)
    for stratum in np.unique(of_row):
        here = np.flatnonzero(of_row == stratum)
        pool = Pool.of(points[here], sensitive[here], columns, box_of(points[here], columns))
        order, starts = pool.divide(np.arange(here.size), least)
        groups[here[order]] = found + np.repeat(np.arange(starts.size), np.diff(starts, append=order.size))
        found += starts.size
    return groups


def _point(column: pa.ChunkedArray, name: str, *, ordered: bool) -> npt.NDArray[np.float64]:
    if ordered:
        return positions(column, name)
    found = column.combine_chunks().dictionary_encode(null_encoding="encode")
    return np.asarray(found.indices.to_numpy(), np.float64)


def _fits(policy: Policy) -> None:
    if policy.publication != "generalization":
        raise InputError(
            f"the publication `{policy.publication}` is not made of boxes", hint='set publication = "generalization"'
        )


def _folder(to: str | Path, number: int) -> Path:
    Path(to).mkdir(parents=True, exist_ok=True)
    return Path(to) / f"{number:03}"


def _rows(tables: Sequence[Any]) -> list[pa.Table]:
    return [rows for table in tables for rows in _read(table)]


def _read(table: Any) -> Iterator[pa.Table]:
    if isinstance(table, Table):
        yield table.engine.run(table.select(table.names()))
        return
    with read(table) as opened:
        yield opened.engine.run(opened.select(opened.names()))
