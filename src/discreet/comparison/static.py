"""Two ways to publish a growing table without a vault, to compare it with: Static I and Static II.

`static_all` groups all rows anew for every version. Each is as good as can be; together they give people away.
`static_new` groups the new rows of a version by themselves, and shows earlier groups as they were. That gives nobody
away, but few rows at a time hide each other badly. Both group rows by one of three kinds of `cuts`:

    policy       as the policy says
    least_loss   as a vault would its first ones: cut where least is lost
    median       "at the median value (of a selected dimension)", taken at its word: the column in which the rows are
                 spread widest is cut at its median, and if a part does not keep the guarantee, no other is tried

Source: Byun et al., "Secure anonymization for incremental datasets", SDM 2006, sections 4.1 and 5; which dimension is
selected they leave to LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006.
Claim: medians_are_of_one_column — a group of `median` is one that the median of its widest column does not cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

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

Cuts: TypeAlias = Literal["policy", "least_loss", "median"]
Numbers: TypeAlias = npt.NDArray[np.int32]
Ints: TypeAlias = npt.NDArray[np.int64]


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
    groups, found, rule = np.empty(len(rows), np.int32), 0, Rule.of(policy.guarantee)
    of_row = strata(points, columns)
    for stratum in np.unique(of_row):
        here = np.flatnonzero(of_row == stratum)
        pool = Pool.of(points[here], sensitive[here], columns, box_of(points[here], columns))
        order, starts = CUTS[cuts](pool, rule)
        groups[here[order]] = found + np.repeat(np.arange(starts.size), np.diff(starts, append=order.size))
        found += starts.size
    return groups


def _least_loss(pool: Pool, rule: Rule) -> tuple[Ints, Ints]:
    return pool.divide(np.arange(pool.values.size), asked(rule))


def _medians(pool: Pool, rule: Rule) -> tuple[Ints, Ints]:
    """Rows group by group, and where groups start."""
    scale, todo, done = pool.scale, [np.arange(pool.values.size)], list[Ints]()
    places = np.array([scale.places[first:][codes] for first, codes in zip(scale.starts[:-1], pool.codes, strict=True)])
    spaces = np.ptp(places, axis=1)
    while todo:
        rows = todo.pop()
        here = places[:, rows]
        spread = np.divide(np.ptp(here, axis=1), spaces, out=np.zeros(len(here)), where=spaces > 0)
        widest = here[int(np.argmax(spread))]
        median = np.partition(widest, (rows.size - 1) // 2)[(rows.size - 1) // 2]
        left = widest <= median if median < widest.max() else widest < median
        parts = [rows[left], rows[~left]]
        if all(rule.group(np.bincount(pool.values[part])) for part in parts):
            todo += parts[::-1]
        else:
            done.append(rows)
    return np.concatenate(done), np.cumsum([0, *map(len, done[:-1])])


CUTS: dict[str, Callable[[Pool, Rule], tuple[Ints, Ints]]] = {"least_loss": _least_loss, "median": _medians}


def _point(column: pa.ChunkedArray, name: str, *, ordered: bool) -> npt.NDArray[np.float64]:
    if ordered:
        return positions(column, name)
    found = column.combine_chunks().dictionary_encode(null_encoding="encode")
    ranks = np.argsort(pc.sort_indices(found.dictionary).to_numpy())
    return np.asarray(ranks[found.indices.to_numpy()], np.float64)


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
