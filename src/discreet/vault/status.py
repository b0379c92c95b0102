"""How a vault stands: who is in it, who waits and for how long, and whether the next release is worth making.

All of it is about private rows: it is for the steward, and in no release.
Cost: the groups of the vault, and the rows that are not published yet. Of releases only manifests are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.engines import Address
from discreet.errors import ReleaseError
from discreet.policy import Policy
from discreet.release.chain import identity
from discreet.release.manifest import Manifest
from discreet.release.release import damage
from discreet.values.boxes import Box, codes_of
from discreet.values.positions import values_at
from discreet.vault.store.store import VaultStore
from discreet.words import counted

TOLD = 10  # groups that are told one by one
WORTH = 0.01  # a release should add this share of rows at least


@dataclass(frozen=True, slots=True)
class Made:
    """A release that was made: when, where, with how many rows and groups, and whether it is still `there`.

    It is if its manifest is as it was made, and every data file has its size: what is in them, `verify` checks.
    """

    number: int
    time: str
    path: Path
    rows: int
    groups: int
    there: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A group and its waiting rows: how many, among how many members, and the box that holds them all."""

    waiting: int
    members: int
    box: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows that wait: how many, in how many groups, since when the oldest, how many releases they missed, and where.

    `missed` has the number of rows by the number of releases that were made without them.
    """

    rows: int
    groups: int
    oldest: str | None
    missed: dict[int, int]
    longest: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Status:
    """A vault at one moment; its `path` may be an address.

    `pending` rows and groups would be new, or changed, in the next release.
    """

    path: Path | Address
    guarantee: dict[str, float]
    rows: int
    members: int
    groups: int
    appends: int
    waiting: Waiting
    pending_rows: int
    pending_groups: int
    releases: tuple[Made, ...]

    @property
    def worth_releasing(self) -> bool:
        """Whether the next release would add so much that it is worth one more thing that an attacker can hold."""
        released = self.releases[-1].rows if self.releases else 0
        return self.pending_groups > 0 and self.pending_rows >= WORTH * released

    @property
    def advice(self) -> str:
        """The same in words."""
        if not self.pending_groups:
            return "nothing to release: no group has changed" if self.releases else "nothing to release yet"
        rows, groups = counted(self.pending_rows, "row"), counted(self.pending_groups, "group")
        if not self.releases:  # then all groups are pending
            return f"the first release would have {rows} in {groups}"
        share = self.pending_rows / max(self.releases[-1].rows, 1)
        added = f"the next release would add {rows} ({share:.1%}) in {groups}"
        return f"{added}: worth making" if self.worth_releasing else f"{added}: it can wait"


def status(store: VaultStore, policy: Policy) -> Status:
    """Look at a vault."""
    database = store.database
    members, groups, waiting = database.one(
        "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT), COUNT(box), CAST(COALESCE(SUM(waiting), 0) AS BIGINT)"
        " FROM leaves"
    )
    releases = database.rows(
        "SELECT number, time, path, rows, groups, digest, appends FROM releases WHERE status = 'done' ORDER BY number"
    )
    pending = database.one("SELECT COUNT(*) FROM rows WHERE member = 1 AND published IS NULL")[0]
    return Status(
        path=database.place,
        guarantee=dict(policy.guarantee),
        rows=members + waiting,
        members=members,
        groups=groups,
        appends=database.one("SELECT COUNT(*) FROM appends")[0],
        waiting=_waiting(store, waiting, [found[-1] for found in releases]),
        pending_rows=pending,
        pending_groups=len(store.changed()),
        releases=tuple(
            Made(number, time, Path(place), rows, groups, _there(Path(place), name))
            for number, time, place, rows, groups, name, _ in releases
        ),
    )


def _waiting(store: VaultStore, rows: int, appends: list[int]) -> Waiting:
    database = store.database
    if not rows:
        return Waiting(0, 0, None, {}, ())
    since = database.rows("SELECT since, COUNT(*) FROM rows WHERE member = 0 AND published IS NULL GROUP BY since")
    missed: dict[int, int] = {}
    for number, count in since:
        times = sum(made >= number for made in appends)
        missed[times] = missed.get(times, 0) + count
    oldest = database.one("SELECT time FROM appends WHERE number = ?", (min(number for number, _ in since),))[0]
    groups = database.one("SELECT COUNT(*) FROM leaves WHERE waiting")[0]
    most = database.rows("SELECT node FROM leaves WHERE waiting ORDER BY waiting DESC, node LIMIT ?", (TOLD,))
    leaves = [store.leaf(node) for (node,) in most]
    longest = tuple(Line(leaf.waiting, leaf.size, _told(leaf.reach, store)) for leaf in leaves)
    return Waiting(rows, groups, oldest, dict(sorted(missed.items())), longest)


def _told(box: Box, store: VaultStore) -> dict[str, Any]:
    """A box in words: `low` and `high` of a range, or all values of a set; what is missing is None."""
    told: dict[str, Any] = {}
    for at, column in enumerate(store.columns):
        if not column.ordered:
            told[column.name] = _words(store.values(at, column.type).take(pa.array(codes_of(box.sets[at]))))
        else:
            ends = values_at(np.array([box.lows[at], box.highs[at]]), column.type)
            told[column.name] = dict(zip(("low", "high"), _words(ends), strict=True))
    return told


def _words(values: pa.Array) -> list[str | None]:
    return [None if value is None else str(value) for value in values.to_pylist()]


def _there(path: Path, name: str) -> bool:
    """Whether a release has its manifest and every data file, each with its digest; `verify` looks into the files."""
    try:
        if identity(path) != name:
            return False
        return all(damage(path, resource) is None for resource in Manifest.read(path).resources)
    except (OSError, ReleaseError):
        return False
