"""Take new rows into a vault: into the lot of those that no release has shown, or each to the leaf where it belongs.

Source: Byun et al., "Secure anonymization for incremental datasets", SDM 2006, section 4.
Cost: of an append, its rows and the lot, or the leaves they come to; nothing else is read.
Claim: every_row_is_once_member_or_waiting — of all rows ever taken in, each is in one group or waits in one leaf.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from discreet.values.boxes import box_of
from discreet.vault.growth.divide import Codes
from discreet.vault.growth.insert import insert
from discreet.vault.growth.settle import settle
from discreet.vault.safety.history import History
from discreet.vault.safety.rule import Rule
from discreet.vault.tree.forest import Forest, route, strata
from discreet.vault.tree.model import Changes, Ints, Leaf, Placed, Root, Rows, Store


def append(store: Store, new: Rows, rule: Rule, people: Codes | None = None) -> Changes:
    """What new rows change in a vault; `people` numbers whose each row of the lot is, where one may have several."""
    forest = Forest(store)
    if rule.growth == "settle":
        return _changes(forest, [settle(forest, new, rule, people)])
    roots = []
    for stratum, members in _parts(strata(new.points, forest.columns)):
        rows = new.some(members)
        root = _root(forest, stratum, rows)
        history = History(forest)
        for leaf, arrived in _parts(route(forest, root.node, rows.points, root.space)):
            insert(history, root, leaf, rows.some(arrived), rule)
        roots.append(root)
    return _changes(forest, roots)


def _parts(labels: Ints) -> Iterator[tuple[int, Ints]]:
    """Each label that occurs, ascending, and the places where it does."""
    order = np.argsort(labels, kind="stable")
    found, starts = np.unique(labels[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, starts[1:]), strict=True)


def _root(forest: Forest, stratum: int, rows: Rows) -> Root:
    """The tree of a stratum, that knows of new rows."""
    box, found = box_of(rows.points, forest.columns), forest.store.root(stratum)
    known = np.zeros(0, np.int64) if found is None else found.counts
    forest.width = max(known.size, int(rows.sensitive.max()) + 1)
    counts = forest.fit(known) + forest.count(rows.sensitive)
    if found is not None:
        return replace(found, space=found.space.joined(box), counts=counts)
    node, nothing = forest.new(None, stratum), np.zeros(forest.width, np.int64)
    forest.put(leaf=Leaf(node.id, nothing, None, box, 0, changed=False))
    return Root(stratum, node.id, box, counts, 1)


def _changes(forest: Forest, roots: list[Root]) -> Changes:
    nodes = [forest.nodes[node] for node in sorted(forest.changed_nodes - forest.gone)]
    cut = [node for node in nodes if node.cut is not None and node.id not in forest.fresh]
    new_cuts = [node.stratum for node in nodes if node.cut is not None and node.left in forest.fresh]
    ids, places, member = _placed(forest)
    return Changes(
        [replace(root, leaves=root.leaves + new_cuts.count(root.stratum)) for root in roots],
        nodes,
        [forest.leaves[node] for node in sorted(forest.changed_leaves)],
        [node.id for node in cut if node.left in forest.fresh],
        sorted(forest.gone),
        Placed(ids, places, member),
        int(member.sum()),
    )


def _placed(forest: Forest) -> tuple[Ints, Ints, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    sizes = [rows.size for rows, _, _ in forest.placed]
    ids = np.concatenate([np.zeros(0, np.int64), *(rows for rows, _, _ in forest.placed)])
    nodes = np.repeat(np.array([node for _, node, _ in forest.placed], np.int64), sizes)
    member = np.repeat(np.array([member for _, _, member in forest.placed], np.bool_), sizes)
    return ids, nodes, member
