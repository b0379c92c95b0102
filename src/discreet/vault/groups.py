"""The groups of a vault as a release shows them, from their boxes and counts alone: no row is looked at.

A box is the ends of its ranges and the values of its sets. Groups are numbered by their boxes, so that nothing tells
which is old and which new.
Cost: linear in the groups and what their sets hold.
Claim: released_boxes_are_those_of_the_groups — a release shows the box and counts of every group, and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

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
from discreet.values.codes import Codes
from discreet.values.columns import is_ordered
from discreet.values.names import fresh
from discreet.values.positions import values_at
from discreet.vault.store.codec import unpacked_sets
from discreet.vault.store.store import SENSITIVE, Shown, VaultStore
from discreet.vault.tree.model import Ints


def groups_of(store: VaultStore, policy: Policy, schema: pa.Schema) -> Groups:
    """The groups that the next release shows."""
    found = store.released()
    sides = [_Side(store, at, schema.field(name).type, found) for at, name in enumerate(policy.quasi)]
    values = _Values(store, schema.field(policy.sensitive_column).type, found)
    order = _ordered([key for side in sides for key in side.keys], values)
    histograms = values.histograms(order)
    if not Guarantee.of(policy.guarantee).holds(histograms).all():
        raise InternalError("a group of the vault does not keep the guarantee; nothing was published")
    boxes = Boxes(policy, [side.extents(name, order) for name, side in zip(policy.quasi, sides, strict=True)])
    held = Codes(histograms.values, values.domain, values.missing)
    people = None if policy.person is None else _people(store, policy, [found.nodes[at] for at in order])
    return Groups(policy, boxes, held, histograms, people)


def _ordered(keys: Sequence[Ints], values: _Values) -> Ints:
    """The groups by their boxes; where these are alike, by their values: never by their age."""
    order = np.lexsort(keys[::-1])
    alike = np.ones(order.size - 1, np.bool_)
    for key in keys:
        alike &= key[order[1:]] == key[order[:-1]]
    edges = np.flatnonzero(np.diff(alike.astype(np.int8), prepend=0, append=0))
    for first, last in edges.reshape(-1, 2).tolist():
        order[first : last + 1] = sorted(order[first : last + 1].tolist(), key=values.held)
    return order


def _people(store: VaultStore, policy: Policy, nodes: Sequence[int]) -> pa.Table:
    """How many people each group has, and how many rows at most one of them."""
    known = store.people()
    people, most = zip(*(known[node] for node in nodes), strict=True)
    names = (fresh(name, policy.columns) for name in ("group", *PEOPLE))
    return pa.table(dict(zip(names, (np.arange(1, len(nodes) + 1, dtype=np.int32), people, most), strict=True)))


class _Side:
    """One quasi-identifier: its values that boxes show, ascending, and the codes that each group holds of them.

    Those are the codes of a set, or the ends of a range; the code after the last value is a missing one's. Groups are
    to be sorted by `keys`, the first of them first.
    """

    def __init__(self, store: VaultStore, at: int, kind: pa.DataType, groups: Shown) -> None:
        self.labelled = not is_ordered(kind)
        if self.labelled:
            number = {bits: place for place, bits in enumerate(dict.fromkeys(groups.sets[at]))}
            self.set = np.array([number[bits] for bits in groups.sets[at]], np.int64)  # many groups hold the same
            of, codes = unpacked_sets(list(number))
            self.domain, self.missing, code = ranked(store.values(at, kind), np.unique(codes))
            ranks = np.sort(of * code.size + code[codes]) % code.size
            held, ends = ranks.astype(np.int32), np.searchsorted(of, np.arange(len(number) + 1)).tolist()
            self.held = [held[first:last] for first, last in pairwise(ends)]
            texts = [each.tolist() for each in self.held]
            place = np.empty(len(number), np.int64)
            place[sorted(range(len(number)), key=texts.__getitem__)] = np.arange(len(number))
            self.keys = [place[self.set]]
            return
        ends = np.stack([groups.lows[:, at], groups.highs[:, at]])
        absent = np.isnan(ends)
        places = np.unique(ends[~absent])
        beside = np.array([bool(bits) for bits in groups.sets[at]], np.bool_)
        self.domain, self.missing = values_at(places, kind), bool(absent.any() or beside.any())
        self.keys = [*np.where(absent, len(places), np.searchsorted(places, ends)), beside.astype(np.int64)]

    def extents(self, name: str, order: Ints) -> Extents:
        """What the groups, in this order, cover of it."""
        last = len(self.domain)
        axis = Axis(name, Codes(np.zeros(0, np.int32), self.domain, self.missing), None, not self.labelled)
        if self.labelled:
            present = [codes[: codes.size - (codes[-1] == last)] for codes in self.held]
            absent = np.array([codes[-1] == last for codes in self.held], np.bool_)
            low = np.array([codes[0] if codes.size else 1 for codes in present], np.int32)
            high = np.array([codes[-1] if codes.size else 0 for codes in present], np.int32)
            sets = self.set[order]
            return Extents(axis, absent[sets], low[sets], high[sets], [present[each] for each in sets.tolist()])
        first, end, beside = (key[order] for key in self.keys)
        gone = first == last  # if all is missing, low is above high
        low, high = (np.where(gone, none, codes).astype(np.int32) for none, codes in ((1, first), (0, end)))
        return Extents(axis, gone | beside.astype(np.bool_), low, high)


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

    def __init__(self, store: VaultStore, kind: pa.DataType, groups: Shown) -> None:
        self.domain, self.missing, code = ranked(store.values(SENSITIVE, kind), np.unique(groups.values))
        codes = code[groups.values]
        order = np.argsort(groups.groups * code.size + codes, kind="stable")
        self.codes, self.counts = codes[order], groups.counts[order]
        self.starts = np.searchsorted(groups.groups, np.arange(len(groups.nodes) + 1))

    def held(self, group: int) -> list[tuple[int, int]]:
        """The lines of one group."""
        own = slice(self.starts[group], self.starts[group + 1])
        return list(zip(self.codes[own].tolist(), self.counts[own].tolist(), strict=True))

    def histograms(self, order: Ints) -> Histograms:
        """Of all groups, in this order."""
        widths = np.diff(self.starts)[order]
        starts = np.cumsum(widths) - widths
        lines = np.arange(self.codes.size) + np.repeat(self.starts[order] - starts, widths)
        group, counts = np.repeat(np.arange(order.size, dtype=np.int32), widths), self.counts[lines]
        sizes = np.add.reduceat(counts, starts)
        return Histograms(group, self.codes[lines], counts.astype(np.int32), starts, sizes)
