"""Let rows that wait together leave as groups of their own, which never change once they were released.

A leaf of the tree is a waiting room. As soon as its rows keep the guarantee, all of them leave, in groups as small as
it allows (the *add* of Byun et al., SDM 2006, sections 4.2 and 4.3: "records in the waiting-lists can be added as an
independent equivalence class"). A released group stays as it is, box and values, in every later release, and whoever
is new is in a group that is new. So every set that any number of releases leave open is a whole group, or empty,
though boxes may overlap. Groups that left since the last release are still private: they are made anew
with the rows that have come since.
As rows leave, the room is cut in two, where least is lost, if both rooms would keep but a share of its rows waiting.
Cost: of an append, its rows and the rooms they come to; to be cut, a room reads the groups that left it, but only each
time that they have become a tenth more: about ten rows for every row that comes.
Claim: released_groups_never_change — a group that was released is the same in every later release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.values.boxes import box_of, boxes_of
from discreet.vault.growth.waiting import affordable, are_affordable
from discreet.vault.safety.rule import Rule
from discreet.vault.tree.forest import Forest
from discreet.vault.tree.model import Cut, Flags, Ints, Leaf, Node, Root, Rows
from discreet.vault.tree.pool import Pool, asked, cut_between

GROWN = 1.1  # as many times more rows must have left a room before it is looked at again whether it can be cut


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """A leaf: its rows, none or such as can leave; some that left it, by their places; and counts of all that did."""

    node: Node
    here: Ints
    left: Ints
    past: Ints


def freeze(forest: Forest, root: Root, at: int, new: Rows, rule: Rule) -> None:
    """Take new rows into a leaf, and let leave who can."""
    leaf, store, known = forest.leaf(at), forest.store, at not in forest.fresh
    leaf = replace(leaf, reach=leaf.reach.joined(box_of(new.points, forest.columns)))
    rows = store.rows(at).and_(new) if known else new
    past, pending = leaf.past, list(store.pending(at)) if known else []
    if pending:
        private = store.rows(*pending)
        again = rows.and_(private)
        if rule.group(forest.count(again.sensitive)):
            rows, past = again, past - forest.count(private.sensitive)
            for group in pending:
                forest.drop(group)
    own = forest.count(rows.sensitive)
    if not rule.group(own):
        forest.put(leaf=replace(leaf, waiting=len(rows)))
        forest.place(new.ids, at, member=False)
        return
    here = np.arange(len(rows))
    may_cut = _has_grown(leaf.past.sum(), past.sum() + own.sum()) and affordable(past + own, root.counts, rule)
    if known and may_cut:
        rows = rows.and_(store.rows(*(group for group in store.departed(at) if group not in pending)))
    pool = Pool.of(rows.points, rows.sensitive, forest.columns, root.space)
    rooms = _Rooms(forest, root, rows, pool, rule)
    first = Room(forest.node(at), here, np.arange(here.size, len(rows)), past)
    if may_cut:
        rooms.run(first, leaf)
    else:
        rooms.close(rooms.leave(first), leaf)


def _has_grown(before: int, now: int) -> bool:
    """Whether a room has passed a power of `GROWN`."""
    return before == 0 or math.floor(math.log(now, GROWN)) > math.floor(math.log(before, GROWN))


@dataclass(frozen=True, slots=True, eq=False)
class _Rooms:
    forest: Forest
    root: Root
    rows: Rows
    pool: Pool
    rule: Rule

    def run(self, first: Room, leaf: Leaf) -> None:
        """Cut a room, and the rooms that it becomes, while it can be afforded; let leave who can."""
        waiting = [first]
        while waiting:
            room = waiting.pop()
            found = self.cut(room)
            if found is None:
                room = self.leave(room)
                self.close(room, leaf if room.node is first.node else None)
                continue
            cut, sides = found
            if not all(self.can_leave(room.here[side[: room.here.size]]) for side in sides):
                room = self.leave(room)  # apart, some would have to wait
            waiting += self.part(room, cut, sides)

    def count(self, rows: Ints) -> Ints:
        return self.forest.count(self.rows.sensitive[rows])

    def can_leave(self, rows: Ints) -> bool:
        return self.rule.group(self.count(rows))

    def cut(self, room: Room) -> tuple[Cut, tuple[Flags, Flags]] | None:
        """Where to cut a room, and who is on which side; None if it should stay whole."""
        if not affordable(room.past + self.count(room.here), self.root.counts, self.rule):
            return None
        everybody = np.concatenate([room.here, room.left])
        for column, left in self.pool.cuts(everybody, [asked(self.rule)]):
            sides = left, ~left
            if are_affordable([self.count(everybody[side]) for side in sides], self.root.counts, self.rule):
                values, about = self.rows.points[everybody, column], self.forest.columns[column]
                return cut_between(column, about, values[left], values[~left]), sides
        return None

    def leave(self, room: Room) -> Room:
        """Let all rows of a room leave in groups."""
        if not room.here.size:
            return room
        forest = self.forest
        order, starts = self.pool.divide(room.here, asked(self.rule))
        numbers = np.repeat(np.arange(starts.size), np.diff(starts, append=order.size))
        pairs = numbers * forest.width + self.rows.sensitive[order]
        counts = np.bincount(pairs, minlength=starts.size * forest.width).reshape(starts.size, -1)
        boxes = boxes_of(self.rows.points[order], starts, forest.columns)
        nothing = np.zeros(forest.width, np.int64)
        for group, box, held in zip(np.split(order, starts[1:]), boxes, counts, strict=True):
            node = forest.new(room.node, room.node.stratum)
            forest.put(leaf=Leaf(node.id, held, box, box, nothing, 0, changed=True))
            forest.place(self.rows.ids[group], node.id, member=True)
        nobody = room.here[:0]
        return Room(room.node, nobody, np.concatenate([room.here, room.left]), room.past + self.count(room.here))

    def part(self, room: Room, cut: Cut, sides: tuple[Flags, Flags]) -> list[Room]:
        """The two rooms that one becomes."""
        everybody, size = np.concatenate([room.here, room.left]), room.here.size
        # of those that left before the room was made no row is at hand: they are taken to be like the others
        unseen = room.past - self.count(room.left)
        nodes = self.forest.cut(room.node, cut)
        share = sides[0].mean()
        past_left = np.round(unseen * share).astype(np.int64)
        parts = []
        for node, side, unknown in zip(nodes, sides, (past_left, unseen - past_left), strict=True):
            left = everybody[size:][side[size:]]
            parts.append(Room(node, room.here[side[:size]], left, self.count(left) + unknown))
        return parts

    def close(self, room: Room, leaf: Leaf | None) -> None:
        """Keep a room that nobody is in; `leaf` is what it was, if it was one before."""
        nothing = np.zeros(self.forest.width, np.int64)
        if leaf is None:
            reach = box_of(self.rows.points[room.left], self.forest.columns)
            leaf = Leaf(room.node.id, nothing, None, reach, nothing, 0, changed=False)
        self.forest.put(leaf=replace(leaf, past=room.past, waiting=0))
