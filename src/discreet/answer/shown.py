"""The values that a release shows of a column, for whoever writes a question about it.

Cost: one pass over the column, or over the labels of its boxes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from discreet.release.layouts.file import column, named

if TYPE_CHECKING:
    from discreet.release.manifest import Manifest
    from discreet.release.release import Release

FEW = 50  # values that are listed


@dataclass(frozen=True, slots=True)
class Shown:
    """All `values` of a column in their order if there are few, else none; and the smallest and the largest."""

    values: tuple[Any, ...]
    low: Any
    high: Any


def shown(release: Release, name: str) -> Shown:
    """What a release shows of one of its columns; of boxes, the values that their labels stand for, or their ends."""
    found = source_of(release.manifest, name)
    if len(found.expressions) == 1:
        return _listed(release, found)
    low, high = _ends(release, found)
    return Shown((), low, high)


def source_of(manifest: Manifest, name: str) -> exp.Select:
    """Where a column is shown: its values as `value`, or two columns, the ends of its boxes."""
    box = next((each for each in manifest.discreet.boxes or () if each.name == name), None)
    if box is None:
        file = next(each.name for each in manifest.resources if name in each.kinds())
        return exp.select(column(name).as_("value")).from_(named(f"{file} file"))
    file = next(each.name for each in manifest.resources if box.columns[0] in each.kinds())
    if box.low is not None and box.high is not None:
        return exp.select(column(box.low), column(box.high)).from_(named(f"{file} file"))
    mine = exp.EQ(this=column("column"), expression=exp.Literal.string(name))
    return exp.select(column("value")).from_(named("labels file")).where(mine)


def _listed(release: Release, values: exp.Select) -> Shown:
    """Distinct values, if they are few, and their ends."""
    some = exp.select(column("value")).distinct().from_(values.subquery("all"))
    some = some.where(exp.Not(this=exp.Is(this=column("value"), expression=exp.null())))
    found = release.session.run(some.order_by(column("value")).limit(FEW + 1)).column(0).to_pylist()
    if 0 < len(found) <= FEW:
        return Shown(tuple(found), found[0], found[-1])
    low, high = _ends(release, exp.select(column("value"), column("value").as_("same")).from_(values.subquery("all")))
    return Shown((), low, high)


def _ends(release: Release, pairs: exp.Select) -> tuple[Any, Any]:
    """The smallest of the first column and the largest of the second."""
    first, second = (each.alias_or_name for each in pairs.expressions)
    ends = exp.select(exp.Min(this=column(first)), exp.Max(this=column(second))).from_(pairs.subquery("pairs"))
    [row] = release.session.run(ends).to_pylist()
    low, high = row.values()
    return low, high
