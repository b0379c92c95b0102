"""How much of each quasi-identifier the boxes of a release cover, from the released files alone.

What a column's whole extent is, nobody who holds a release knows; it is taken to be what all boxes
together show: from the lowest to the highest end, or all values that labels stand for.

    from low to high     their distance, and its share of the extent
    a label              the values it stands for among those of all labels, nothing if it is one value
    a missing value      nothing if a box holds no other; the whole extent if it holds present values too
    anything             the whole extent

Distances of dates and times are in days; texts in an order have none, and lie as far apart as their
places among the ends that are shown.
Cost: one pass over the rows, then a few over the groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from discreet.release import Release
from discreet.release.layouts import layout_of
from discreet.release.layouts.file import column, named
from discreet.release.manifest import BoxColumn
from discreet.release.relations import loaded
from discreet.values.columns import UNORDERED
from discreet.values.positions import measured

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
COUNTABLE = {"integer", "date"}  # columns in which a length says how many values there are


@dataclass(frozen=True)
class BoxSpans:
    """A line per box: its group, how many rows show it, what it covers of each column, as a share and as a length.

    `spans` is of the columns that are shown by ends, `shares` of all. A length that the release does not
    tell is not a number. `points` says how many different rows a box could hold: endlessly many, where a column
    of it has fractions or texts from low to high. `parts` is the sensitive group, where values stand apart from rows.
    """

    groups: Counts
    sizes: Counts
    spans: Floats
    shares: Floats
    points: Floats
    parts: Counts | None = None


def read_boxes(release: Release) -> BoxSpans | None:
    """The boxes of a release; None if it shows quasi-identifiers as they are."""
    promise = release.promise
    if promise.boxes is None:
        return None
    own = [] if promise.join is None else [promise.join.group]
    names = [*(name for side in promise.boxes for name in side.columns), promise.group, *own]
    with loaded(release) as engine:
        rows = layout_of(promise).relations(promise)["qit"].subquery("rows")
        keys = [column(name) for name in names]
        counted = exp.select(*keys, "COUNT(*)").from_(rows).group_by(*(key.copy() for key in keys))
        boxes = engine.run(counted.order_by(column(promise.group)))
        labelled = any(side.label is not None for side in promise.boxes)
        labels = engine.run(exp.select("*").from_(named("labels file"))) if labelled else None
    shown = {name: boxes.column(i) for i, name in enumerate(names)}
    lines, spans, shares, points = len(boxes), [], [], np.ones(len(boxes))
    for side in promise.boxes:
        if side.label is None:
            span, share, held = _range(side, shown)
            spans.append(span)
        else:
            share, held = _label(side, shown[side.label], labels)
        shares.append(share)
        points *= held
    return BoxSpans(
        _whole(shown[promise.group]),
        _whole(boxes.column(len(names))),
        np.stack(spans, axis=1) if spans else np.zeros((lines, 0)),
        np.stack(shares, axis=1),
        points,
        _whole(shown[own[0]]) if own else None,
    )


def _range(side: BoxColumn, shown: dict[str, pa.ChunkedArray]) -> tuple[Floats, Floats, Floats]:
    """The length of each box in one column, its share of the whole, and how many values it holds."""
    low, high = _places(side, shown[side.low or ""], shown[side.high or ""])
    ended = ~np.isnan(low)
    with np.errstate(invalid="ignore", divide="ignore"):  # values may be infinite
        extent = float(high[ended].max() - low[ended].min()) if ended.any() else np.nan
        span = np.where(low == high, 0.0, high - low)
        share = np.where(span == 0, 0.0, np.nan_to_num(span / extent, nan=1.0))
    absent: npt.NDArray[np.bool_] = np.zeros(low.size, np.bool_)
    if side.missing is not None:
        absent = np.asarray(pc.fill_null(shown[side.missing], False))
    whole = np.where(ended, absent, ~absent)  # present values beside missing ones, or anything
    counted = side.type in COUNTABLE and bool(ended.any())
    held = np.where(span == 0, 1.0, span + 1 if counted else np.inf)
    held = np.where(ended, held, np.where(absent, 0.0, extent + 1 if counted else np.inf)) + absent
    span[whole], share[whole] = extent, 1.0
    span[~ended & absent], share[~ended & absent] = 0.0, 0.0
    return span, share, held


def _places(side: BoxColumn, low: pa.ChunkedArray, high: pa.ChunkedArray) -> tuple[Floats, Floats]:
    """Where the ends lie on a line; a missing end is not a number."""
    if side.type not in UNORDERED:
        return measured(low), measured(high)
    ends = pa.chunked_array([*low.chunks, *high.chunks], low.type).unique().drop_null()
    ends = ends.take(pc.sort_indices(ends))
    return measured(pc.index_in(low, value_set=ends)), measured(pc.index_in(high, value_set=ends))


def _label(side: BoxColumn, shown: pa.ChunkedArray, labels: pa.Table | None) -> tuple[Floats, Floats]:
    """The share of a column's values that the label of each box stands for, and how many these are."""
    if labels is None:
        return np.zeros(len(shown)), np.ones(len(shown))
    mine = labels.filter(pc.equal(labels["column"], side.name))
    values = mine["value"].unique()
    several = len(values) + (shown.null_count > 0 and values.null_count == 0)
    counted = mine.group_by("label").aggregate([([], "count_all")])
    at = pc.index_in(shown, value_set=counted["label"].combine_chunks())
    counts = np.append(_whole(counted["count_all"]), [1, several])
    unexplained = pc.if_else(pc.is_null(shown), len(counted), len(counted) + 1)
    held = counts[_whole(pc.coalesce(at.cast(pa.int64()), unexplained.cast(pa.int64())))]
    return np.where(held > 1, held / several, 0.0), held.astype(np.float64)


def _whole(numbers: pa.ChunkedArray) -> Counts:
    return np.asarray(numbers.cast(pa.int64()), np.int64)
