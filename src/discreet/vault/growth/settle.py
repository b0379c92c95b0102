"""Let all rows that no release has shown leave together, in groups of their own, or none of them.

The rows that came since the last release are a *lot*. If it has enough rows and keeps the guarantee as a whole, all of
it leaves, in groups as small as the guarantee allows (the *add* of Byun et al., SDM 2006, sections 4.2 and 4.3:
"records in the waiting-lists can be added as an independent equivalence class"); else nobody does, and no release can
be made. So nobody who has come ever misses a release, and there is no such person to find something out about. A part
of a lot must not go alone: sets that are diverse are diverse together, so if a lot is not, and some of it that is were
shown, the rest would not be diverse, and everybody who knows who came knows who the rest is.
How the lot is divided is the policy's choice (see `divide`).
A released group stays as it is, box and values, in every later release, and whoever is new is in a group that is new.
So every set that any number of releases leave open is a whole group, or empty, though boxes may overlap. Groups that
were not released yet are still private: every append makes them anew, with its rows.
Cost: of an append, its rows and those that no release has shown.
Claim: released_groups_never_change — a group that was released is the same in every later release.
Claim: nobody_misses_a_release — a release shows every row that was taken in before it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.errors import InternalError
from discreet.values.boxes import box_of, boxes_of
from discreet.vault.growth.divide import Codes, Parts, divide, of_people
from discreet.vault.safety.rule import Rule
from discreet.vault.tree.forest import Forest
from discreet.vault.tree.model import EVERYBODY, Ints, Leaf, Node, Root, Rows
from discreet.vault.tree.pool import Pool


def settle(forest: Forest, new: Rows, rule: Rule, people: Codes | None = None) -> Root:
    """Take new rows, if there are any, into the lot, and let all of it leave or wait; the tree of everybody.

    `people` numbers whose each row of the lot is, where one may have several: then groups are of whole people.
    """
    store = forest.store
    lot = store.unpublished().and_(new)
    root, hall = _hall(forest, lot, new)
    for group in store.changed():  # never released: its rows are of the lot
        forest.drop(group)
    for room in store.rooms():  # of older vaults, in which rows waited in many places
        forest.put(leaf=replace(forest.leaf(room), waiting=0))
    parts = _parts(forest, lot, root, rule, people)
    if leaves := parts is not None:
        _leave(forest, hall, lot, *parts, rule)
    else:
        forest.place(lot.ids, hall.id, member=False)
    nothing = np.zeros(forest.width, np.int64)
    waiting = 0 if leaves else len(lot)
    forest.put(leaf=Leaf(hall.id, nothing, None, root.space, waiting, changed=False))
    return root


def _hall(forest: Forest, lot: Rows, new: Rows) -> tuple[Root, Node]:
    """The tree of everybody, which has one leaf, where all wait."""
    found, box = forest.store.root(EVERYBODY), box_of(lot.points, forest.columns)
    known = np.zeros(0, np.int64) if found is None else found.counts
    forest.width = max(known.size, int(lot.sensitive.max()) + 1)
    counts = forest.fit(known) + forest.count(new.sensitive)
    if found is not None:
        return replace(found, space=found.space.joined(box), counts=counts), forest.node(found.node)
    hall = forest.new(None, EVERYBODY)
    return Root(EVERYBODY, hall.id, box, counts, 1), hall


def _parts(forest: Forest, lot: Rows, root: Root, rule: Rule, people: Codes | None) -> Parts | None:
    """The groups of the lot; none if it cannot leave."""
    if people is not None:
        return of_people(Pool.of(lot.points, lot.sensitive, forest.columns, root.space), people, rule)
    return divide(lot, forest.columns, root.space, rule) if rule.lot(forest.count(lot.sensitive)) else None


def _leave(forest: Forest, hall: Node, lot: Rows, order: Ints, starts: Ints, rule: Rule) -> None:
    """Let all rows leave in groups."""
    counts = _counts(forest, lot, order, starts)
    if not rule.diverse(counts).all() or counts.sum(axis=1).min() < rule.k:
        raise InternalError("a group of the lot does not keep the guarantee; the vault is as it was")
    boxes = boxes_of(lot.points[order], starts, forest.columns)
    for group, box, held in zip(np.split(order, starts[1:]), boxes, counts, strict=True):
        node = forest.new(hall, EVERYBODY)
        forest.put(leaf=Leaf(node.id, held, box, box, 0, changed=True))
        forest.place(lot.ids[group], node.id, member=True)


def _counts(forest: Forest, lot: Rows, order: Ints, starts: Ints) -> Ints:
    """The sensitive counts of every group, a line each."""
    numbers = np.repeat(np.arange(starts.size), np.diff(starts, append=order.size))
    pairs = numbers * forest.width + lot.sensitive[order]
    return np.bincount(pairs, minlength=starts.size * forest.width).reshape(starts.size, -1)
