"""The groups of several releases on one coding, so that their boxes and values can be compared.

An end of a box becomes its rank among all ends that any of the releases shows, a label a set of bits, one
for each value that any label of the column stands for and one for a missing value, and a sensitive value
the same number in all releases. Ranks and bits compare exactly, whatever the type.
Cost: one pass over the rows of each release, then a few over its groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.audit.sequence.shown import Shown, shown_by
from discreet.errors import ReleaseError
from discreet.release import Release

Numbers = npt.NDArray[np.int64]
Ranks = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

NOTHING = np.iinfo(np.int32).max  # the low rank of a box that holds no present value; its high rank is -1


class CodedBoxes(NamedTuple):
    """A line per box: its ends in each range, whether a value may be missing there, and the bits of its sets.

    The bits of set number c are in the words from `words[c]` up to `words[c + 1]`.
    """

    low: Ranks
    high: Ranks
    missing: Flags
    bits: npt.NDArray[np.uint64]
    words: Numbers


class Counts(NamedTuple):
    """How often each group holds each sensitive value: entries of one group lie together, values ascending."""

    starts: Numbers
    values: Ranks
    counts: Ranks


@dataclass(frozen=True)
class Groups:
    """The groups of one release: their numbers in its files, their boxes, their values."""

    numbers: Numbers
    boxes: CodedBoxes
    counts: Counts


def read_groups(releases: Sequence[Release]) -> tuple[list[Groups], pa.Array]:
    """The groups of each release, and the sensitive values by their numbers. The releases have the same columns."""
    shown = [shown_by(release) for release in releases]
    names = releases[0].promise.quasi
    ranges = [_ranks(name, shown) for name in names if shown[0].sides[name].label is None]
    sets = [_bits(name, shown) for name in names if shown[0].sides[name].label is not None]
    words = np.cumsum([0, *(of[0].shape[1] for of in sets)], dtype=np.int64)
    values = together([of.counts["value"] for of in shown], releases[0].promise.sensitive or "")
    coded = values.dictionary_encode(null_encoding="encode").combine_chunks()
    codes = np.split(whole(coded.indices), np.cumsum([len(of.counts) for of in shown])[:-1])
    groups = []
    for i, (of, code) in enumerate(zip(shown, codes, strict=True)):
        numbers = whole(of.boxes["group"])
        boxes = CodedBoxes(
            _side_by_side([axis[i][0] for axis in ranges], np.zeros((numbers.size, 0), np.int32)),
            _side_by_side([axis[i][1] for axis in ranges], np.zeros((numbers.size, 0), np.int32)),
            _side_by_side([axis[i][2] for axis in ranges], np.zeros((numbers.size, 0), np.bool_)),
            _side_by_side([axis[i] for axis in sets], np.zeros((numbers.size, 0), np.uint64)),
            words,
        )
        groups.append(Groups(numbers, boxes, counts_of(of.counts, numbers, code)))
    return groups, coded.dictionary


def concatenated(releases: Sequence[Groups]) -> Groups:
    """The groups of all releases, one after the other."""
    entries = np.cumsum([0, *(of.counts.values.size for of in releases)], dtype=np.int64)
    starts = [of.counts.starts[:-1] + shift for of, shift in zip(releases, entries[:-1], strict=True)]
    boxes = [of.boxes for of in releases]
    return Groups(
        np.concatenate([of.numbers for of in releases]),
        CodedBoxes(
            np.concatenate([of.low for of in boxes]),
            np.concatenate([of.high for of in boxes]),
            np.concatenate([of.missing for of in boxes]),
            np.concatenate([of.bits for of in boxes]),
            boxes[0].words,
        ),
        Counts(
            np.append(np.concatenate(starts), entries[-1]),
            np.concatenate([of.counts.values for of in releases]),
            np.concatenate([of.counts.counts for of in releases]),
        ),
    )


def some(groups: Groups, chosen: Numbers) -> Groups:
    """Some groups of a release, in this order."""
    boxes, counts = groups.boxes, groups.counts
    widths = np.diff(counts.starts)[chosen]
    starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    entries = np.arange(starts[-1]) + np.repeat(counts.starts[chosen] - starts[:-1], widths)
    return Groups(
        groups.numbers[chosen],
        CodedBoxes(boxes.low[chosen], boxes.high[chosen], boxes.missing[chosen], boxes.bits[chosen], boxes.words),
        Counts(starts, counts.values[entries], counts.counts[entries]),
    )


def _side_by_side(columns: Sequence[npt.NDArray[Any]], none: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """One table of several columns, or tables; or of `none`."""
    return np.ascontiguousarray(np.column_stack([none, *columns]), none.dtype)


def together(columns: Sequence[pa.ChunkedArray], name: str) -> pa.ChunkedArray:
    """One column after the other, in a type that holds them all."""
    try:
        rows = pa.concat_tables([pa.table({"_": column}) for column in columns], promote_options="permissive")["_"]
    except pa.ArrowException:
        raise ReleaseError(
            f"the column `{name}` has other types in other releases", hint="compare releases of one table"
        ) from None
    return pc.add(rows, 0.0) if pa.types.is_floating(rows.type) else rows  # there is only one zero


def _ranks(name: str, shown: Sequence[Shown]) -> list[tuple[Ranks, Ranks, Flags]]:
    """The ends of all boxes of each release in one range, and where a value may be missing."""
    sides = [of.sides[name] for of in shown]
    ends = [of.boxes[end] for of, side in zip(shown, sides, strict=True) for end in (side.low, side.high)]
    every = together(ends, name)
    known = every.unique().drop_null()
    known = known.take(pc.sort_indices(known))
    ranks = np.array(pc.fill_null(pc.index_in(every, value_set=known), -1).to_numpy(), np.int32)
    parts = iter(np.split(ranks, np.cumsum([len(end) for end in ends])[:-1]))
    found = []
    for of, side in zip(shown, sides, strict=True):
        low, high = next(parts), next(parts)
        absent = surely = np.zeros(low.size, np.bool_)
        if side.missing is not None:
            absent, surely = (np.asarray(pc.fill_null(of.boxes[side.missing], open_)) for open_ in (True, False))
        only, anything = (low < 0) & surely, (low < 0) & ~surely
        low[only] = NOTHING
        low[anything], high[anything] = 0, max(len(known) - 1, 0)
        found.append((low, high, absent))
    return found


def _bits(name: str, shown: Sequence[Shown]) -> list[npt.NDArray[np.uint64]]:
    """The sets of all boxes of each release in one column."""
    mine = [of.labels.filter(pc.equal(of.labels["column"], name)) for of in shown if of.labels is not None]
    known = together([labels["value"] for labels in mine], name).unique().drop_null()
    missing = len(known)
    found = []
    for of, labels in zip(shown, mine, strict=True):
        coded = labels["label"].dictionary_encode(null_encoding="encode").combine_chunks()
        texts = coded.dictionary
        sets = np.zeros((len(texts) + 1, missing // 64 + 1), np.uint64)
        at = whole(coded.indices)
        code = whole(pc.fill_null(pc.index_in(labels["value"], value_set=known), missing))
        np.bitwise_or.at(sets, (at, code >> 6), np.uint64(1) << (code & 63).astype(np.uint64))
        sets[-1, missing >> 6] = np.uint64(1 << (missing & 63))  # no label: the value is missing
        label = of.boxes[of.sides[name].label]
        place = pc.index_in(label, value_set=texts.drop_null())
        if place.null_count != label.null_count:
            raise ReleaseError(f"a label of `{name}` is not explained", hint="check it with `discreet verify`")
        found.append(sets[whole(pc.fill_null(place, len(texts)))])
    return found


def counts_of(table: pa.Table, numbers: Numbers, codes: Numbers) -> Counts:
    group = np.searchsorted(numbers, whole(table["grp"]))
    order = np.lexsort((codes, group))
    starts = np.searchsorted(group[order], np.arange(numbers.size + 1))
    return Counts(starts.astype(np.int64), codes[order].astype(np.int32), whole(table["n"])[order].astype(np.int32))


def whole(numbers: pa.Array | pa.ChunkedArray) -> Numbers:
    return np.asarray(numbers.cast(pa.int64()), np.int64)
