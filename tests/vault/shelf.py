"""A store for the core of a vault that keeps everything in memory, and checks what it is given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.vault.growth.append import append
from discreet.vault.safety.history import states
from discreet.vault.tree.model import Rows


class Shelf:
    def __init__(self, columns, rule):
        self.columns, self.rule = tuple(columns), rule
        self.next_node, self.next_row, self.appends, self.releases = 1, 1, 0, 0
        self.roots, self.nodes, self.leaves, self.recorded, self.kept = {}, {}, {}, {}, {}
        self.of_parent, self.of_node = {}, {}
        self.reads = 0

    def root(self, stratum):
        return self.roots.get(stratum)

    def node(self, node):
        self.reads += 1
        return self.nodes[node]

    def leaf(self, node):
        self.reads += 1
        return self.leaves[node]

    def rows(self, *nodes):
        self.reads += len(nodes)
        ids = sorted(id_ for node in nodes for id_ in self.of_node.get(node, ()))
        held = [self.kept[id_] for id_ in ids]
        return Rows(
            np.array(ids, np.int64),
            np.array([row[0] for row in held]).reshape(len(ids), len(self.columns)),
            np.array([row[1] for row in held], np.int64),
            np.array([row[2] for row in held], np.int64),
            np.array([row[4] for row in held], np.bool_),
        )

    def states(self, node):
        return self.recorded.get(node, [])

    def unpublished(self):
        return self.rows(*self.changed(), *self.rooms())

    def rooms(self):
        return [leaf.node for leaf in self.leaves.values() if leaf.waiting]

    def changed(self):
        return [leaf.node for leaf in self.leaves.values() if leaf.changed and leaf.box is not None]

    def append(self, points, sensitive):
        """Take in rows as the real store does."""
        n = len(points)
        self.appends += 1
        ids = np.arange(self.next_row, self.next_row + n)
        self.next_row += n
        new = Rows(ids, points, sensitive.astype(np.int64), np.full(n, self.appends), np.zeros(n, np.bool_))
        changes = append(self, new, self.rule)
        self.save(changes, new)
        return changes

    def save(self, changes, new):
        placed = changes.placed
        assert np.unique(placed.ids).size == placed.ids.size
        assert np.isin(new.ids, placed.ids).all()
        for at, id_ in enumerate(new.ids.tolist()):
            self.kept[id_] = [new.points[at], int(new.sensitive[at]), int(new.since[at]), None, None]
        for id_, node, member in zip(placed.ids.tolist(), placed.nodes.tolist(), placed.member.tolist(), strict=True):
            row = self.kept[id_]
            if row[3] is not None:
                self.of_node[row[3]].discard(id_)
            row[3], row[4] = node, member
            self.of_node.setdefault(node, set()).add(id_)
        for node in changes.nodes:
            if node.id not in self.nodes and node.parent is not None:
                self.of_parent.setdefault(node.parent, []).append(node.id)
            self.nodes[node.id] = node
        for leaf in changes.leaves:
            self.leaves[leaf.node] = leaf
        for node in changes.inner:
            del self.leaves[node]
        for node in changes.gone:
            assert node not in self.recorded
            self.of_parent[self.nodes[node].parent].remove(node)
            del self.leaves[node], self.nodes[node]
            assert not self.of_node.pop(node, None)
        for root in changes.roots:
            self.roots[root.stratum] = root
        self.next_node = max([self.next_node, *(node.id + 1 for node in changes.nodes)])

    def release(self):
        """Record a release; return its groups."""
        self.releases += 1
        for state in states(self, self.releases, self.rule):
            self.recorded.setdefault(state.node, []).append(state)
        for node in self.changed():
            self.leaves[node] = replace(self.leaves[node], changed=False)
        return self.groups()

    def groups(self):
        return [leaf for leaf in self.leaves.values() if leaf.box is not None]

    @property
    def waiting(self):
        return sum(leaf.waiting for leaf in self.leaves.values())
