"""The released states that groups have to be checked against, and those that a release adds.

A state watches the groups under its node whose boxes meet its own. Unchanged groups add no state: the last one stands.
Cost: of a check, the states of one line; of the first check under a node with states, the leaves below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.errors import InternalError
from discreet.values.boxes import Box
from discreet.vault.safety.inference import Line, are_safe, chained, is_safe, shrunk
from discreet.vault.safety.rule import Rule
from discreet.vault.tree.forest import Forest
from discreet.vault.tree.model import Ints, Leaf, State, Store

Shown = tuple[Ints, Box]  # a group as it would be released: counts and box


@dataclass(slots=True, eq=False)
class Watch:
    """A state, the leaves under its node that meet its box, and all that these hold."""

    state: State
    counts: Ints
    leaves: dict[int, Ints]
    union: Ints

    @property
    def fresh(self) -> Ints:
        return self.union - self.counts

    def meets(self, box: Box) -> bool:
        return self.state.box.meets(box)


class History:
    """The states along the lines of a forest, as groups change."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self._watches: dict[int, list[Watch]] = {}

    def line(self, node: int) -> list[Watch]:
        """The states on the way from the root to a node, oldest first."""
        return [watch for here in self.forest.path(node) for watch in self._at(here.id)]

    def _at(self, node: int) -> list[Watch]:
        if node not in self._watches:
            states = () if node in self.forest.fresh else self.forest.store.states(node)
            self._watches[node] = [self._watch(state) for state in states]
        return self._watches[node]

    def _watch(self, state: State) -> Watch:
        leaves = {}
        for node in self.forest.below(state.node):
            leaf = self.forest.leaf(node.id)
            if leaf.box is not None and state.box.meets(leaf.box):
                leaves[node.id] = leaf.counts
        return Watch(state, self.forest.fit(state.counts), leaves, _sum(leaves.values(), self.forest.width))

    def allows(self, node: int, shown: Sequence[Shown], rule: Rule) -> bool:
        """Whether a leaf may be released as these groups instead, and all others as they are."""
        watches = self.line(node)
        if not watches:
            return True
        fresh = [watch.fresh for watch in watches]
        for at, watch in enumerate(watches):
            fresh[at] = fresh[at] - watch.leaves.get(node, np.int64(0))
            fresh[at] = fresh[at] + _sum([counts for counts, box in shown if watch.meets(box)], self.forest.width)
        if not all(is_safe(self._seen(watches, fresh, box), counts, rule) for counts, box in shown):
            return False
        return self._others_stay_safe(node, watches, fresh, rule)

    def _others_stay_safe(self, node: int, watches: list[Watch], fresh: list[Ints], rule: Rule) -> bool:
        """Whether leaves that meet the same states can still be released, when so much is fresh since these."""
        touched: set[int] = set()
        now = {id(watch): amount for watch, amount in zip(watches, fresh, strict=True)}
        for watch in watches:
            others = [leaf for leaf in watch.leaves if leaf != node]
            amount = now[id(watch)]
            if others and not np.array_equal(amount, watch.fresh):
                if not are_safe(amount, np.array([watch.leaves[leaf] for leaf in others]), rule):
                    return False
                less = shrunk(watch.fresh, amount)  # chains of released groups feel only that
                touched.update(leaf for leaf in others if less or self.forest.leaf(leaf).changed)
        for other in touched:
            line, leaf = self.line(other), self.forest.leaf(other)
            theirs = [now.get(id(watch), watch.fresh) for watch in line]
            if not is_safe(self._seen(line, theirs, _box(leaf)), leaf.counts, rule):
                return False
        return True

    def _seen(self, watches: list[Watch], fresh: list[Ints], box: Box) -> Line:
        """A line as a group with this box is seen from it."""
        met = [at for at, watch in enumerate(watches) if watch.meets(box)]
        width = self.forest.width
        nothing = np.zeros((0, width), np.int64)
        last = watches[-1].state if met and met[-1] == len(watches) - 1 else None
        chain = nothing if last is None else _widened(last.chain, width)
        return Line(
            np.array([watches[at].state.release for at in met], np.int64),
            np.array([watches[at].counts for at in met]) if met else nothing,
            np.array([fresh[at] for at in met]) if met else nothing,
            np.zeros(0, np.int64) if last is None else last.cohorts,
            chain,
        )

    def replace(self, node: int, shown: dict[int, Shown]) -> None:
        """A leaf is now these leaves: itself, or its sides."""
        for watch in self.line(node):
            before = watch.fresh
            watch.union = watch.union - watch.leaves.pop(node, np.int64(0))
            for leaf, (counts, box) in shown.items():
                if watch.meets(box):
                    watch.leaves[leaf] = counts
                    watch.union = watch.union + counts
            if shrunk(before, watch.fresh):
                for other in watch.leaves.keys() - shown.keys():
                    self.forest.put(leaf=replace(self.forest.leaf(other), changed=True))

    def state(self, leaf: Leaf, release: int) -> State:
        """A leaf as a release shows it."""
        watches, box = self.line(leaf.node), _box(leaf)
        line = self._seen(watches, [watch.fresh for watch in watches], box)
        return State(leaf.node, release, box, leaf.counts, *chained(line, leaf.counts, release))


def states(store: Store, release: int, rule: Rule) -> list[State]:
    """The states that a release adds: of every group that changed."""
    forest = Forest(store)
    found: list[State] = []
    changed = [forest.node(node) for node in store.changed()]
    for stratum in {node.stratum for node in changed}:
        root = store.root(stratum)
        if root is None:
            raise InternalError("a stratum has leaves but no root")
        forest.width = root.counts.size
        history = History(forest)
        for node in changed:
            if node.stratum != stratum:
                continue
            leaf = forest.leaf(node.id)
            if rule.growth == "insert":
                found.append(history.state(leaf, release))
            else:  # nothing will ever be fresh in this group
                chain = leaf.counts[None, :]
                found.append(State(node.id, release, _box(leaf), leaf.counts, np.array([release]), chain))
    return found


def _box(leaf: Leaf) -> Box:
    if leaf.box is None:
        raise InternalError("a leaf without members is not released")
    return leaf.box


def _sum(counts: Iterable[Ints], width: int) -> Ints:
    return np.asarray(np.sum([np.zeros(width, np.int64), *counts], axis=0))


def _widened(chain: Ints, width: int) -> Ints:
    return np.pad(chain, ((0, 0), (0, width - chain.shape[1]))) if len(chain) else np.zeros((0, width), np.int64)
