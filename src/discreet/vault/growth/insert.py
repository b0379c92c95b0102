"""Let groups take in the rows that wait for them, and split them when they have grown: add, insert, split.

Every leaf of the tree is one group. Of the rows that wait in it

    add      all leave as a leaf of their own, if they keep the guarantee and one cut parts them from the group
    insert   else all enter the group, if they are diverse by themselves
    split    and a group is cut in two while both parts keep the guarantee, where least is lost, if more leaves can be
             afforded (groups that no release has shown yet are cut as far as they can be, as in the paper); if that
             cut is not allowed others are tried, the best of each column

each only if nothing can be learned from the releases before (see `inference`); else rows wait and groups stay whole.
Source: Byun et al., SDM 2006, sections 4.2 and 4.3; here groups are always disjoint, and chains are checked too. The
paper splits only groups of 2l distinct values, which is neither needed nor enough: here each part is looked at.
Cost: of an append, its rows and the rows of the leaves they come to.
Heads are not counted: who knows everybody in a group, and how many of them are new, may find out more (docs/vault.md).
Claim: no_release_opens_a_channel — whoever holds all releases finds no set of values that is neither diverse nor empty.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from discreet.values.boxes import Box, box_of
from discreet.vault.growth.waiting import affordable, are_affordable
from discreet.vault.safety.history import History, Shown
from discreet.vault.safety.rule import Rule
from discreet.vault.tree.forest import sides
from discreet.vault.tree.model import Cut, Ints, Leaf, Node, Root, Rows
from discreet.vault.tree.pool import Pool, asked, cut_between

BALANCED = 3  # if the best cuts are not allowed, those are tried whose parts have at least so large a share


def insert(history: History, root: Root, at: int, new: Rows, rule: Rule) -> None:
    """Take new rows into a leaf, and let its group grow."""
    forest = history.forest
    leaf, rows = forest.leaf(at), new
    if at not in forest.fresh:
        rows = forest.store.rows(at).and_(new)
    leaf = replace(leaf, reach=leaf.reach.joined(box_of(new.points, forest.columns)))
    _Leaves(history, root, rows, len(rows) - len(new), rule).run(forest.node(at), leaf)


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """A leaf with its members and waiting rows, by their places, and whether it is not as it was released."""

    node: Node
    members: Ints
    waiting: Ints
    changed: bool


@dataclass(frozen=True, eq=False)
class _Leaves:
    """A leaf, and what it is cut into; `known` of its rows were there before."""

    history: History
    root: Root
    rows: Rows
    known: int
    rule: Rule

    @cached_property
    def pool(self) -> Pool:
        return Pool.of(self.rows.points, self.rows.sensitive, self.history.forest.columns, self.root.space)

    def run(self, node: Node, leaf: Leaf) -> None:
        members = self.rows.member
        first = _Group(node, np.flatnonzero(members), np.flatnonzero(~members), leaf.changed)
        todo = self.add(first) or [self.insert(first)]
        while todo:
            group = todo.pop()
            parts = self.split(group)
            if parts is None:
                self.close(group, leaf if group.node.id == leaf.node else None)
            else:
                todo += parts[::-1]

    def shown(self, rows: Ints) -> Shown:
        """Some rows as a group that would be released."""
        return self.count(rows), self.box(rows)

    def count(self, rows: Ints) -> Ints:
        return self.history.forest.count(self.rows.sensitive[rows])

    def box(self, rows: Ints) -> Box:
        return box_of(self.rows.points[rows], self.history.forest.columns)

    def add(self, group: _Group) -> list[_Group] | None:
        """Let all rows that wait leave as a group of their own, if they can."""
        if not group.members.size or not self.rule.group(self.count(group.waiting)):
            return None
        for column in range(len(self.history.forest.columns)):
            for left, right in ((group.members, group.waiting), (group.waiting, group.members)):
                cut = self.cut_between(column, left, right)
                if cut is None:
                    continue
                if not self.history.allows(group.node.id, [self.shown(left), self.shown(right)], self.rule):
                    return None
                parts = [(left, left[:0]), (right, right[:0])]
                return self.cut(group.node, cut, parts)
        return None

    def cut_between(self, column: int, left: Ints, right: Ints) -> Cut | None:
        """The cut of a column that parts some rows from others, if one does."""
        about = self.history.forest.columns[column]
        low, high = self.rows.points[left, column], self.rows.points[right, column]
        apart = low.max() < high.min() if about.ordered else not np.isin(low, high).any()
        return cut_between(column, about, low, high) if apart else None

    def insert(self, group: _Group) -> _Group:
        """Let all rows that wait enter the group, if they may; the first ones found it."""
        counts = self.count(group.waiting)
        together = np.concatenate([group.members, group.waiting])
        enough = bool(self.rule.diverse(counts)) if group.members.size else self.rule.group(counts)
        if not enough or not self.history.allows(group.node.id, [self.shown(together)], self.rule):
            return group
        self.history.replace(group.node.id, {group.node.id: self.shown(together)})
        return _Group(group.node, together, group.waiting[:0], changed=True)

    def split(self, group: _Group) -> list[_Group] | None:
        """Cut a group in two, if it can be afforded and is allowed; what no release has shown yet can always be."""
        shown_before = bool(self.history.line(group.node.id))
        if not group.members.size or (
            shown_before and not affordable(self.count(group.members), self.root.counts, self.rule)
        ):
            return None
        tries = [asked(self.rule), asked(self.rule, group.members.size // BALANCED)]
        for column, left in self.pool.cuts(group.members, tries):
            parts = [group.members[left], group.members[~left]]
            shown = [self.shown(part) for part in parts]
            counts = [held for held, _ in shown]
            if (not shown_before or are_affordable(counts, self.root.counts, self.rule)) and self.history.allows(
                group.node.id, shown, self.rule
            ):
                cut, waiting = self.led(column, parts, group.waiting)
                return self.cut(group.node, cut, [(parts[0], waiting[0]), (parts[1], waiting[1])])
        return None

    def led(self, column: int, parts: list[Ints], waiting: Ints) -> tuple[Cut, list[Ints]]:
        """The cut between two parts, and who waits on which side of it; values that it has not seen go left."""
        about = self.history.forest.columns[column]
        low, high = (self.rows.points[part, column] for part in parts)
        cut = cut_between(column, about, low, high)
        right = sides(cut, self.rows.points[waiting]) > 0
        low = np.append(low, self.rows.points[waiting[~right], column])
        return cut_between(column, about, low, high), [waiting[~right], waiting[right]]

    def cut(self, node: Node, cut: Cut, parts: list[tuple[Ints, Ints]]) -> list[_Group]:
        """The groups that one becomes."""
        nodes = self.history.forest.cut(node, cut)
        groups = [_Group(at, *part, changed=True) for at, part in zip(nodes, parts, strict=True)]
        for group in groups:
            self.keep(group, None)
        self.history.replace(node.id, {group.node.id: self.shown(group.members) for group in groups})
        return groups

    def keep(self, group: _Group, leaf: Leaf | None) -> None:
        """Keep a leaf as it is now; `leaf` is what it was, if it was one before."""
        counts = self.count(group.members)
        box = self.box(group.members) if group.members.size else None
        reach = leaf.reach if leaf is not None else self.box(np.concatenate([group.members, group.waiting]))
        made = Leaf(group.node.id, counts, box, reach, group.waiting.size, group.changed)
        self.history.forest.put(leaf=made)

    def close(self, group: _Group, leaf: Leaf | None) -> None:
        """Keep a leaf for good, and say where its rows are."""
        self.keep(group, leaf)
        for places, member in ((group.members, True), (group.waiting, False)):
            moved = places
            if leaf is not None:
                moved = places[(self.rows.member[places] != member) | (places >= self.known)]
            self.history.forest.place(self.rows.ids[moved], group.node.id, member=member)
