"""The groups of a vault as a release shows them, from their boxes and counts alone: no row is looked at.

A box is the ends of its ranges and the values of its sets. Groups are numbered by their boxes, so that nothing tells
which is old and which new.
Cost: linear in the groups and what their sets hold.
Claim: released_boxes_are_those_of_the_groups — a release shows the box and counts of every group, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.errors import InternalError
from discreet.guarantees import Guarantee, Histograms
from discreet.policy import Policy
from discreet.publication.axes import Axis
from discreet.publication.groups import Boxes, Extents, Groups
from discreet.release.layouts.generalization import PEOPLE
from discreet.values.boxes import Box, codes_of
from discreet.values.codes import Codes
from discreet.values.columns import is_ordered
from discreet.values.names import fresh
from discreet.values.positions import values_at
from discreet.vault.store.store import SENSITIVE, VaultStore
from discreet.vault.tree.model import Ints, Leaf

Group = tuple[Leaf, Box]


def groups_of(store: VaultStore, policy: Policy, schema: pa.Schema) -> Groups:
    """The groups that the next release shows."""
    found = [(leaf, leaf.box) for leaf in store.released() if leaf.box is not None]
    sides = [_Side(store, at, schema.field(name).type, found) for at, name in enumerate(policy.quasi)]
    values = _Values(store, schema.field(policy.sensitive_column).type, [leaf for leaf, _ in found])
    # where boxes are alike, by their values: never by their age
    order = sorted(range(len(found)), key=lambda at: ([side.held[at] for side in sides], values.held[at].tolist()))
    histograms = values.histograms(order)
    if not Guarantee.of(policy.guarantee).holds(histograms).all():
        raise InternalError("a group of the vault does not keep the guarantee; nothing was published")
    boxes = Boxes(policy, [side.extents(name, order) for name, side in zip(policy.quasi, sides, strict=True)])
    held = Codes(histograms.values, values.domain, values.missing)
    people = None if policy.person is None else _people(store, policy, [found[at][0].node for at in order])
    return Groups(policy, boxes, held, histograms, people)


def _people(store: VaultStore, policy: Policy, nodes: Sequence[int]) -> pa.Table:
    """How many people each group has, and how many rows at most one of them."""
    known = store.people()
    people, most = zip(*(known[node] for node in nodes), strict=True)
    names = (fresh(name, policy.columns) for name in ("group", *PEOPLE))
    return pa.table(dict(zip(names, (np.arange(1, len(nodes) + 1, dtype=np.int32), people, most), strict=True)))


class _Side:
    """One quasi-identifier: its values that boxes show, ascending, and the codes that each group holds of them.

    Those are the codes of a set, or the ends of a range; the code after the last value is a missing one's.
    """

    def __init__(self, store: VaultStore, at: int, kind: pa.DataType, groups: Sequence[Group]) -> None:
        self.labelled = not is_ordered(kind)
        if self.labelled:
            sets = [box.sets[at] for _, box in groups]
            held = {bits: codes_of(bits) for bits in set(sets)}  # many groups hold the same
            shown = np.unique(np.concatenate([np.zeros(0, np.int64), *held.values()]))
            self.domain, self.missing, code = ranked(store.values(at, kind), shown)
            ranks = {bits: tuple(sorted(code[codes].tolist())) for bits, codes in held.items()}
            self.held = [ranks[bits] for bits in sets]
            return
        ends = np.array([(box.lows[at], box.highs[at]) for _, box in groups], np.float64).reshape(-1, 2)
        places = np.unique(ends[~np.isnan(ends)])
        beside = [bool(box.sets[at]) for _, box in groups]
        self.domain, self.missing = values_at(places, kind), bool(np.isnan(ends).any() or any(beside))
        found = np.where(np.isnan(ends), len(places), np.searchsorted(places, ends))
        self.held = [(*codes, *[len(places)] * more) for codes, more in zip(found.tolist(), beside, strict=True)]

    def extents(self, name: str, order: Sequence[int]) -> Extents:
        """What the groups, in this order, cover of it."""
        last, found = len(self.domain), [self.held[group] for group in order]
        present = {codes: np.array([code for code in codes if code < last], np.int32) for codes in set(found)}
        held = [present[codes] for codes in found]
        absent = np.array([codes[-1] == last for codes in found], np.bool_)
        low = np.array([codes[0] if codes.size else 1 for codes in held], np.int32)  # if all is missing, above `high`
        high = np.array([codes[-1] if codes.size else 0 for codes in held], np.int32)
        sets = held if self.labelled else ()
        axis = Axis(name, Codes(np.zeros(0, np.int32), self.domain, self.missing), None, not self.labelled)
        return Extents(axis, absent, low, high, sets)


def ranked(values: pa.Array, shown: Ints) -> tuple[pa.Array, bool, npt.NDArray[np.int32]]:
    """The shown ones of some values, ascending; whether the missing one is among them; the new code of each value."""
    taken = values.take(pa.array(shown))
    missing = taken.null_count > 0
    order = pc.sort_indices(taken).to_numpy()
    code = np.full(len(values), -1, np.int32)
    code[shown[order]] = np.arange(len(shown), dtype=np.int32)
    return taken.take(pa.array(order[: len(order) - missing])), missing, code


class _Values:
    """The sensitive values that groups hold, ascending; of each group a line per value: its code, and how many rows."""

    def __init__(self, store: VaultStore, kind: pa.DataType, leaves: Sequence[Leaf]) -> None:
        found = [np.flatnonzero(leaf.counts) for leaf in leaves]
        self.domain, self.missing, code = ranked(store.values(SENSITIVE, kind), np.unique(np.concatenate(found)))
        self.held = [_sorted(code[codes], leaf.counts[codes]) for leaf, codes in zip(leaves, found, strict=True)]

    def histograms(self, order: Sequence[int]) -> Histograms:
        """Of all groups, in this order."""
        held = [self.held[group] for group in order]
        widths = np.array([len(lines) for lines in held], np.int64)
        group = np.repeat(np.arange(len(held), dtype=np.int32), widths)
        value, count = np.concatenate(held).astype(np.int32).T
        sizes = np.array([lines[:, 1].sum() for lines in held], np.int64)
        return Histograms(group, value, count, np.cumsum(widths) - widths, sizes)


def _sorted(codes: npt.NDArray[np.int32], counts: Ints) -> Ints:
    order = np.argsort(codes)
    return np.stack([codes[order].astype(np.int64), counts[order]], axis=1)
