"""Two ways to publish a growing table without a vault, to compare it with: Static I and Static II.

`static_all` groups all rows anew for every version. Each is as good as can be; together they give people away.
`static_new` groups the new rows of a version by themselves, and shows earlier groups as they were. That gives nobody
away, but few rows at a time hide each other badly.
Source: Byun et al., "Secure anonymization for incremental datasets", SDM 2006, section 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.errors import InputError
from discreet.partition.secret import Secret
from discreet.policy import Policy
from discreet.publication.publish import grouped, publish, publish_groups
from discreet.release import Release
from discreet.table import Table, read


def static_all(tables: Sequence[Any], policy: Policy, to: str | Path, *, seed: int | None = None) -> list[Release]:
    """Publish a version after each of the `tables`, each of all rows so far, into numbered folders of `to`."""
    _fits(policy)
    rows, released = _rows(tables), []
    for number in range(1, len(rows) + 1):
        so_far = pa.concat_tables(rows[:number], promote_options="permissive")
        released.append(publish(so_far, policy, to=_folder(to, number), seed=seed))
    return released


def static_new(tables: Sequence[Any], policy: Policy, to: str | Path, *, seed: int | None = None) -> list[Release]:
    """Publish a version after each of the `tables`, its rows in groups of their own, into numbered folders of `to`."""
    _fits(policy)
    rows, released, groups = _rows(tables), [], np.zeros(0, np.int32)
    for number, new in enumerate(rows, 1):
        with read(new) as table:
            own = grouped(table, policy, Secret(seed))
        groups = np.concatenate([groups, np.where(own < 0, -1, own + groups.max(initial=-1) + 1)]).astype(np.int32)
        with read(pa.concat_tables(rows[:number], promote_options="permissive")) as table:
            present = policy.sensitive if policy.missing_sensitive == "withhold" else None
            sensitive = table.codes(policy.sensitive or "", present=present)
            to_ = _folder(to, number)
            released.append(publish_groups(table, policy, sensitive, groups, to=to_, secret=Secret(seed)))
    return released


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
