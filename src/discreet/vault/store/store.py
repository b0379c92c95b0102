"""What the core of a vault reads and changes, kept in its database: a statement for every thing that is asked.

Nothing is held in memory between two commands, and nothing is read that was not asked for: the cost of an append
grows with its rows and the groups they touch, not with the vault.
Claim: store_gives_back_what_it_was_given — roots, nodes, leaves, rows and states are read as they were saved.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from discreet.errors import InternalError
from discreet.values.columns import Column
from discreet.vault.rows import texts, values_of
from discreet.vault.store.codec import (
    packed,
    packed_box,
    packed_set,
    unpacked,
    unpacked_all,
    unpacked_box,
    unpacked_boxes,
    unpacked_set,
)
from discreet.vault.store.database import Database
from discreet.vault.store.kept import Members, packed_rows, together, unpacked_rows
from discreet.vault.tree.model import Changes, Cut, Floats, Ints, Leaf, Node, Placed, Root, Rows, State

NOBODY = packed(np.zeros(0, np.int64))  # `past` is of older vaults: who had left a leaf
STANDING = "standing in {}"
KEPT = "rows first shown in {}"
LATER = np.iinfo(np.int64).max
SENSITIVE = -1  # the place of the sensitive column in the dictionary
LEAF = "SELECT node, counts, box, reach, waiting, changed FROM leaves"
RELEASED = "SELECT node, counts, box FROM leaves WHERE box IS NOT NULL ORDER BY node"
ROWS = "SELECT id, point, sensitive, since, member FROM rows"
SOME = f"{ROWS} WHERE node IN (SELECT value FROM json_each(?)) ORDER BY id"  # noqa: S608 - no input in it
WAITING = f"{ROWS} INDEXED BY rows_unpublished WHERE member = 0 AND node = ? AND published IS NULL ORDER BY id"
MEMBERS = "SELECT node, point, sensitive FROM rows WHERE member = 1 ORDER BY node, id"
FRESH = """
    SELECT node, point, sensitive FROM rows INDEXED BY rows_unpublished WHERE member = 1 AND published IS NULL
    ORDER BY node, id
"""
MEMBER_KEYS = "SELECT key FROM rows JOIN people USING (id) WHERE member = 1 ORDER BY rows.node, id"
UNPUBLISHED_KEYS = """
    SELECT key FROM rows INDEXED BY rows_unpublished CROSS JOIN people USING (id) WHERE published IS NULL ORDER BY id
"""
KNOWN = "SELECT key, code FROM wanted CROSS JOIN dictionary ON dictionary.col = ? AND dictionary.value = wanted.key"
TAKEN = "SELECT COUNT(*) FROM wanted CROSS JOIN people ON people.key = wanted.key"
SHOWN_IN = """
    SELECT wanted.key FROM wanted CROSS JOIN people ON people.key = wanted.key
    JOIN rows ON rows.node = people.node AND rows.id = people.id
    WHERE published IS NOT NULL GROUP BY wanted.key HAVING COUNT(DISTINCT published) >= ?
"""
PEOPLE = """
    SELECT node, COUNT(*), MAX(own) FROM (
      SELECT rows.node AS node, COUNT(*) AS own FROM rows JOIN people USING (id) WHERE member = 1
      GROUP BY rows.node, key
    ) AS persons GROUP BY node
"""
UNPUBLISHED = f"{ROWS} INDEXED BY rows_unpublished WHERE published IS NULL ORDER BY id"


class Shown(NamedTuple):
    """Groups side by side: their nodes, the lines of their counts (group, value, rows), and their boxes by columns."""

    nodes: Sequence[int]
    groups: Ints
    values: Ints
    counts: Ints
    lows: Floats
    highs: Floats
    sets: Sequence[Sequence[bytes]]


class VaultStore:
    """The store of one vault, whose quasi-identifiers are `columns`."""

    def __init__(self, database: Database, columns: Sequence[Column]) -> None:
        self.database = database
        self.columns = tuple(columns)

    @property
    def next_node(self) -> int:
        return int(self.database.meta("next_node") or 1)

    def root(self, stratum: int) -> Root | None:
        found = self.database.one("SELECT node, space, counts, leaves FROM roots WHERE stratum = ?", (str(stratum),))
        if found is None:
            return None
        node, space, counts, leaves = found
        return Root(stratum, node, unpacked_box(space, len(self.columns)), unpacked(counts), leaves)

    def node(self, node: int) -> Node:
        found = self._found("SELECT * FROM nodes WHERE id = ?", node)
        id_, parent, stratum, depth, column, low_end, high_start, left_set, right_set, left, right = found
        cut = None
        if column is not None:
            cut = Cut(column, low_end, high_start, unpacked_set(left_set), unpacked_set(right_set))
        return Node(id_, parent, int(stratum), depth, cut, left, right)

    def leaf(self, node: int) -> Leaf:
        return self._leaf(self._found(f"{LEAF} WHERE node = ?", node))

    def _leaf(self, found: Sequence[Any]) -> Leaf:
        node, counts, box, reach, waiting, changed = found
        width = len(self.columns)
        members = None if box is None else unpacked_box(box, width)
        return Leaf(node, unpacked(counts), members, unpacked_box(reach, width), waiting, bool(changed))

    def rows(self, *nodes: int) -> Rows:
        if len(nodes) == 1:
            return self._rows(self.database.rows(f"{ROWS} WHERE node = ? ORDER BY id", nodes))
        return self._rows(self.database.rows(SOME, (json.dumps(nodes),)))

    def waiting(self, node: int) -> Rows:
        return self._rows(self.database.rows(WAITING, (node,)))

    def _rows(self, found: Sequence[Any]) -> Rows:
        ids, points, sensitive, since, member = zip(*found, strict=True) if found else ((), (), (), (), ())
        return Rows(
            np.array(ids, np.int64),
            np.frombuffer(b"".join(points), np.float64).reshape(len(found), len(self.columns)),
            np.array(sensitive, np.int64),
            np.array(since, np.int64),
            np.array(member, np.bool_),
        )

    def states(self, node: int) -> list[State]:
        found = self.database.rows(
            "SELECT node, release, box, counts, cohorts, chain FROM states WHERE node = ? ORDER BY release", (node,)
        )
        width = len(self.columns)
        nobody = np.zeros(0, np.int64), np.zeros((0, 0), np.int64)
        return [
            State(
                *(at, release, unpacked_box(box, width), unpacked(counts)),
                *(nobody if chain is None else (unpacked(cohorts), unpacked(chain))),
            )
            for at, release, box, counts, cohorts, chain in found
        ]

    def members(self) -> Members:
        """All rows that the next release shows, by node and id: those that were kept, then others."""
        kept, _, fresh = self._members
        return together([*kept, fresh])

    @cached_property
    def _members(self) -> tuple[list[Members], int, Members]:
        """What was kept of all rows that were shown, if it was; from which release on it was not; and all others."""
        done = self.database.rows("SELECT number, rows FROM releases WHERE status = 'done' ORDER BY number DESC")
        upto, kept = done[0][0] if done else 0, list[Members]()
        while upto > 0 and (found := self.database.meta(KEPT.format(upto))) is not None:
            rows, since = unpacked_rows(found)
            kept, upto = [rows, *kept], since - 1
        if upto == 0 and kept and sum(len(rows.nodes) for rows in kept) == done[0][1]:
            fresh = self._read_members(FRESH)
            if all(a.nodes.max(initial=-1) < b.nodes.min(initial=LATER) for a, b in pairwise([*kept, fresh])):
                return kept, done[0][0] + 1, fresh
        return [], 1, self._read_members(MEMBERS)

    def keep_members(self, release: int) -> None:
        """Keep what was read of the rows that a release is the first to show, so that it need not be read again."""
        _, since, fresh = self._members
        if (found := packed_rows(fresh, since)) is not None:
            self.database.set_meta(KEPT.format(release), found)

    def _read_members(self, statement: str) -> Members:
        parts = [Members(np.zeros(0, np.int64), np.zeros((0, len(self.columns))), np.zeros(0, np.int64))]
        for part in self.database.parts(statement):
            nodes, points, codes = zip(*part, strict=True)
            lines = np.frombuffer(b"".join(points), np.float64).reshape(len(nodes), -1)
            parts.append(Members(np.array(nodes, np.int64), lines, np.array(codes, np.int64)))
        return together(parts)

    def member_keys(self) -> pa.ChunkedArray:
        """The identifiers of the same rows, in the same order."""
        parts = [[key for (key,) in part] for part in self.database.parts(MEMBER_KEYS)]
        return pa.chunked_array(parts, pa.string())

    def unpublished(self) -> Rows:
        return self._rows(self.database.rows(UNPUBLISHED))

    def rooms(self) -> list[int]:
        return [node for (node,) in self.database.rows("SELECT node FROM leaves WHERE waiting ORDER BY node")]

    def changed(self) -> list[int]:
        return [node for (node,) in self.database.rows("SELECT node FROM leaves WHERE changed AND box IS NOT NULL")]

    def released(self) -> Shown:
        """Every group as it would be released now."""
        nodes, counts, boxes = zip(*self.database.rows(RELEASED), strict=True)
        return Shown(nodes, *unpacked_all(counts), *unpacked_boxes(boxes, len(self.columns)))

    def _found(self, statement: str, node: int) -> Any:
        found = self.database.one(statement, (node,))
        if found is None:
            raise InternalError("the vault lacks a node that others point to")
        return found

    def codes(self, column: int, values: pa.Array) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The codes of distinct values of a column; one that was never seen is given the next."""
        last = self.database.one("SELECT MAX(code) FROM dictionary WHERE col = ?", (column,))[0]
        following = 0 if last is None else last + 1
        found = texts(values)
        known: dict[str | None, int] = dict(self._wanted(found, KNOWN, (column,)))
        if missing := self.database.one("SELECT code FROM dictionary WHERE col = ? AND value IS NULL", (column,)):
            known[None] = missing[0]
        new = [text for text in found if text not in known]
        known |= {text: following + at for at, text in enumerate(new)}
        self.database.run_many("INSERT INTO dictionary VALUES (?, ?, ?)", ((column, known[text], text) for text in new))
        return np.array([known[text] for text in found], np.int64)

    def _wanted(self, keys: Sequence[str | None], statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """What a statement finds that looks for these texts, which it knows as `wanted`."""
        database = self.database
        database.run("CREATE TEMP TABLE IF NOT EXISTS wanted (key TEXT)")
        database.run("DELETE FROM wanted")
        database.run_many("INSERT INTO wanted VALUES (?)", ((key,) for key in keys))
        found = database.rows(statement, values)
        database.run("DELETE FROM wanted")
        return found

    def values(self, column: int, kind: pa.DataType) -> pa.Array:
        """All values of a column that have been seen, in the order of their codes."""
        found = self.database.rows("SELECT value FROM dictionary WHERE col = ? ORDER BY code", (column,))
        return values_of([text for (text,) in found], kind)

    def taken(self, keys: pa.Array) -> int:
        """How many of these identifiers the vault has already."""
        [(found,)] = self._wanted(keys.to_pylist(), TAKEN)
        return int(found)

    def shown_in(self, keys: pa.Array, lots: int) -> pa.Array:
        """Those of these identifiers that have rows in so many releases already."""
        return pa.array([key for (key,) in self._wanted(keys.to_pylist(), SHOWN_IN, (lots,))], pa.string())

    def unpublished_keys(self) -> pa.ChunkedArray:
        """The identifiers of all rows that no release has shown, in the order of their ids."""
        return pa.chunked_array([[key for (key,) in self.database.rows(UNPUBLISHED_KEYS)]], pa.string())

    def people(self) -> dict[int, tuple[int, int]]:
        """Of every group: how many people it has, and how many rows at most one of them has in it."""
        return {node: (people, most) for node, people, most in self.database.rows(PEOPLE)}

    def save(self, changes: Changes, new: Rows, keys: pa.Array | None) -> None:
        """Carry out what an append changes; `keys` are the identifiers of the new rows, if they have any."""
        database = self.database
        self._place(changes.placed, new, keys)
        database.run_many("DELETE FROM nodes WHERE id = ?", ((node.id,) for node in changes.nodes))
        database.run_many("INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_node, changes.nodes))
        replaced = (leaf.node for leaf in changes.leaves)
        database.run_many(
            "DELETE FROM leaves WHERE node = ?", ((node,) for node in (*changes.inner, *changes.gone, *replaced))
        )
        database.run_many("DELETE FROM nodes WHERE id = ?", ((node,) for node in changes.gone))
        database.set_meta("next_node", max([self.next_node, *(node.id + 1 for node in changes.nodes)]))
        database.run_many(
            "INSERT INTO leaves VALUES (?1, (SELECT parent FROM nodes WHERE id = ?1), ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            map(_leaf, changes.leaves),
        )
        database.run_many("DELETE FROM roots WHERE stratum = ?", ((str(root.stratum),) for root in changes.roots))
        database.run_many(
            "INSERT INTO roots VALUES (?, ?, ?, ?, ?)",
            (
                (str(root.stratum), root.node, packed_box(root.space), packed(root.counts), root.leaves)
                for root in changes.roots
            ),
        )

    def _place(self, placed: Placed, new: Rows, keys: pa.Array | None) -> None:
        """Put new rows where they belong, and move others."""
        to = dict(
            zip(placed.ids.tolist(), zip(placed.nodes.tolist(), placed.member.tolist(), strict=True), strict=True)
        )
        names = [None] * len(new.ids) if keys is None else keys.to_pylist()
        people = [(id_, to[id_][0], key) for id_, key in zip(new.ids.tolist(), names, strict=True)]
        points = np.ascontiguousarray(new.points, np.float64)
        rows = [
            (to[id_][0], id_, int(to.pop(id_)[1]), since, None, value, point.tobytes())
            for id_, since, value, point in zip(
                *(new.ids.tolist(), new.since.tolist(), new.sensitive.tolist(), points), strict=True
            )
        ]
        self.database.run_many("INSERT INTO people VALUES (?, ?, ?)", people)
        self.database.run_many("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?, ?)", sorted(rows))
        moved = [(id_, node, int(member)) for id_, (node, member) in to.items()]
        self.database.run_many(
            "UPDATE rows SET node = ?2, member = ?3 WHERE node = (SELECT node FROM people WHERE id = ?1) AND id = ?1",
            moved,
        )
        self.database.run_many("UPDATE people SET node = ?2 WHERE id = ?1", ((id_, node) for id_, node, _ in moved))

    def record(self, states: Sequence[State]) -> None:
        """Keep what a release will show of groups that changed."""
        self.database.run_many(
            "INSERT INTO states VALUES (?, ?, ?, ?, ?, ?)",
            (
                (
                    *(state.node, state.release, packed_box(state.box)),
                    *(packed(state.counts), packed(state.cohorts), packed(state.chain)),
                )
                for state in states
            ),
        )

    def mark_released(self, release: int) -> None:
        """Now that a release is there: its groups are as released, its rows published, and older chains done with."""
        run = self.database.run
        run("UPDATE leaves SET changed = 0 WHERE changed AND box IS NOT NULL")
        run("UPDATE rows SET published = ? WHERE member = 1 AND published IS NULL", (release,))
        run(
            "UPDATE states SET cohorts = NULL, chain = NULL WHERE chain IS NOT NULL AND release < ?1"
            " AND node IN (SELECT node FROM states WHERE release = ?1)",
            (release,),
        )

    def note_standing(self, release: int, digest: str) -> None:
        """Note that all groups of all releases before this one stand in it as they were."""
        self.database.set_meta(STANDING.format(release), digest)

    def stands(self, release: int, digest: str) -> bool:
        """Whether that was noted of a release, and of the same one."""
        return bool(self.database.meta(STANDING.format(release)) == digest)

    def forget(self, release: int) -> None:
        """Take back what was noted of a release that never came to be."""
        self.database.run("DELETE FROM states WHERE release = ?", (release,))
        for noted in (STANDING, KEPT):
            self.database.run("DELETE FROM meta WHERE key = ?", (noted.format(release),))


def _node(node: Node) -> tuple[Any, ...]:
    cut = node.cut
    sides: tuple[Any, ...] = (None,) * 5
    if cut is not None:
        sides = (cut.column, cut.low_end, cut.high_start, packed_set(cut.left), packed_set(cut.right))
    return (node.id, node.parent, str(node.stratum), node.depth, *sides, node.left, node.right)


def _leaf(leaf: Leaf) -> tuple[Any, ...]:
    box = None if leaf.box is None else packed_box(leaf.box)
    about = (packed(leaf.counts), box, packed_box(leaf.reach), NOBODY)
    return (leaf.node, *about, leaf.size, leaf.waiting, int(leaf.changed))
