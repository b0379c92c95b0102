"""Whether the labels of boxes are the ones that `labels` explains, told from rows that were read already.

Only of texts, and only what is right: whatever else there is, the engine is asked, which also says what is wrong.
Cost: the labels of every box, and the lines that explain them.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from discreet.release.manifest import BoxColumn


def explained(shown: pa.Table | None, told: pa.Table, labelled: Sequence[BoxColumn]) -> bool:
    """Whether these sides, and no others, are explained: each label that a box shows, and none that no box does."""
    if shown is None or not all(pa.types.is_string(column.type) for column in told.columns):
        return False
    if not (_readable(shown) and _readable(told)):
        return False
    if told["column"].null_count or told["label"].null_count:
        return False
    known = pa.array([side.name for side in labelled], pa.string())
    if not pc.all(pc.is_in(told["column"].unique(), value_set=known), min_count=0).as_py():
        return False
    return all(_explained(shown, told, side) for side in labelled)


def _readable(table: pa.Table) -> bool:
    """Whether all texts are texts: Arrow compares any bytes, and the engine reads no file that has others."""
    try:
        table.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def of_side(told: pa.Table, side: BoxColumn) -> pa.Table:
    """The lines that explain the labels of one side, in their order."""
    return told.filter(pc.equal(told["column"], side.name)).select(["label", "value"])


def _explained(shown: pa.Table, told: pa.Table, side: BoxColumn) -> bool:
    if side.type != "string" or not pa.types.is_string(shown[side.label].type):  # the values of others may be misspelt
        return False
    boxes, lines = shown[side.label].unique().drop_null(), of_side(told, side)["label"].unique()
    return len(boxes) == len(lines) and bool(pc.all(pc.is_in(boxes, value_set=lines), min_count=0).as_py())
