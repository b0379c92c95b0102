"""Which generalized releases can be followed: versions of one table that grows, with one promise."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from discreet.audit.sequence.pairs import Rule
from discreet.errors import ReleaseError
from discreet.release import Release
from discreet.release.chain import identity
from discreet.release.release import open_release

ONE_TABLE = "compare releases of one table, made under one policy"


def in_order(releases: Sequence[Release | str | Path]) -> list[Release]:
    """Open generalized releases that are given oldest first; raise if they cannot be compared."""
    opened = [release if isinstance(release, Release) else open_release(release) for release in releases]
    for release in opened[1:]:
        if (other := _other(opened[0], release)) is not None:
            raise ReleaseError(f"`{release.path}` {other} than `{opened[0].path}`", hint=ONE_TABLE)
    rule(opened[0])
    for earlier, later in pairwise(opened):
        if later.promise.rows < earlier.promise.rows:
            raise ReleaseError(
                f"`{later.path}` has fewer rows than `{earlier.path}` before it",
                hint="name the oldest release first; a table whose rows are deleted cannot be audited",
            )
    _check_manifests(opened)
    return opened


def _check_manifests(opened: Sequence[Release]) -> None:
    """Raise if manifests say that the order is another one."""
    places = {identity(release.path): place for place, release in enumerate(opened)}
    if len(places) < len(opened):
        raise ReleaseError("the same release is named twice", hint="name each release of the table once, oldest first")
    for place, release in enumerate(opened):
        before = places.get(release.promise.predecessor or "")
        if before is not None and before > place:
            raise ReleaseError(
                f"`{release.path}` was made after `{opened[before].path}`, by its manifest",
                hint="name the oldest release first",
            )


def rule(release: Release) -> Rule:
    """What a release promises of the values of each group, or of its rows; raise if of neither."""
    promised = release.promise.guarantee
    of_rows = int(promised["k"]) if promised.keys() == {"k"} else 1  # beside others, `k` is not asked of sets
    found = Rule(int(promised.get("l", 1)), int(promised.get("distinct_l", 1)), of_rows)
    if found == (1, 1, 1):
        raise ReleaseError(
            f"`{release.path}` promises {release.promise.told()}: that does not limit what is learnt about a person",
            hint="only releases that promise `l`, `distinct_l`, or `k` alone can be compared",
        )
    return found


def _other(first: Release, other: Release) -> str | None:
    """What a release has other than the first, if anything."""
    a, b = first.promise, other.promise
    if set(a.quasi) != set(b.quasi) or a.sensitive != b.sensitive:
        return "has other columns"
    if a.guarantee != b.guarantee:
        return "has another guarantee"
    sides = {side.name: side for side in b.boxes or ()}
    for side in a.boxes or ():
        if side.type != sides[side.name].type or (side.label is None) != (sides[side.name].label is None):
            return f"shows the column `{side.name}` in another way"
    return None
