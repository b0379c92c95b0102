"""The store: what is saved is read back, and an append reads nothing that it was not asked for."""

import os
import stat
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from discreet.errors import InternalError, VaultError
from discreet.values.boxes import Box
from discreet.values.columns import Column
from discreet.vault.store.codec import packed, packed_box, packed_set, unpacked, unpacked_box, unpacked_set
from discreet.vault.store.database import create, opened
from discreet.vault.store.schema import FORMAT
from discreet.vault.store.store import SENSITIVE, WAITING, VaultStore
from discreet.vault.tree.model import Changes, Cut, Leaf, Node, Placed, Root, Rows, State

COLUMNS = (Column("age", pa.float64()), Column("town", pa.string()))
NOBODY = np.zeros(0, np.int64)


@given(hnp.arrays(np.int64, hnp.array_shapes(min_dims=1, max_dims=2, min_side=0), elements=st.integers(0, 2**40)))
def test_counts_are_packed(numbers):
    found = unpacked(packed(numbers))
    assert found.shape == numbers.shape
    assert (found == numbers).all()


@given(st.integers(0, 2**200))
def test_sets_are_packed(bits):
    assert unpacked_set(packed_set(bits)) == bits


@given(st.lists(st.tuples(st.floats(), st.floats(), st.integers(0, 2**100)), min_size=1))
def test_boxes_are_packed(sides):
    lows, highs, sets = zip(*sides, strict=True)
    box = Box(np.array(lows), np.array(highs), sets)
    found = unpacked_box(packed_box(box), len(sides))
    assert np.array_equal(found.lows, box.lows, equal_nan=True)
    assert np.array_equal(found.highs, box.highs, equal_nan=True)
    assert found.sets == box.sets


@pytest.fixture
def place(tmp_path):
    return tmp_path / "vault"


@pytest.fixture
def database(place):
    """The file of a vault."""
    create(place, "", {}, version=FORMAT)
    found = opened(place)
    yield found
    found.close()


@pytest.fixture(params=["file", "server"])
def store(request, place):
    where = place if request.param == "file" else f"{request.getfixturevalue('one_database')}#{uuid4().hex}"
    create(where, "", {}, version=FORMAT)
    found = opened(where)
    yield VaultStore(found, COLUMNS)
    found.close()


def box(low, high, codes):
    return Box(np.array([low, 0.0]), np.array([high, 0.0]), (0, codes))


def counts(*numbers):
    return np.array(numbers, np.int64)


def rows(*ids, since=1):
    points = np.array([[20.0 + i, i % 2] for i in ids])
    nobody = np.zeros(len(ids), np.bool_)
    return Rows(counts(*ids), points, counts(*(i % 3 for i in ids)), np.full(len(ids), since), nobody)


def changes(new, *, nodes=(), leaves=(), inner=(), gone=(), roots=(), at=1, member=False):
    placed = Placed(new.ids, np.full(new.ids.size, at), np.full(new.ids.size, member))
    return Changes(roots, nodes, leaves, inner, gone, placed)


def test_store_gives_back_what_it_was_given(store):
    root = Root(5, 1, box(1.5, 2.5, 3), counts(4, 0, 1), 2)
    inner = Node(1, None, 5, 0, Cut(0, 1.25, 1.5), 2, 3)
    sides = Node(2, 1, 5, 1, Cut(1, left=0b101, right=1 << 70), 4, 5)
    leaf = Leaf(3, counts(1, 0, 2), box(np.nan, np.nan, 1 << 65), box(0, 9, 6), 2, True)
    empty = Leaf(4, NOBODY, None, box(0, 9, 6), 0, False)
    nodes = [inner, sides, Node(3, 1, 5, 1), Node(4, 2, 5, 2)]
    new = rows(1, 2, 3)
    with store.database.transaction():
        store.save(changes(new, nodes=nodes, leaves=[leaf, empty], roots=[root], at=3), new, pa.array(["a", "b", "c"]))
    assert [store.node(node.id) for node in nodes] == nodes
    assert _same_root(store.root(5), root)
    assert store.root(4) is None
    for given_ in (leaf, empty):
        found = store.leaf(given_.node)
        assert (found.node, found.waiting, found.changed) == (given_.node, given_.waiting, given_.changed)
        assert found.counts.tolist() == given_.counts.tolist()
        assert _same_box(found.box, given_.box)
        assert _same_box(found.reach, given_.reach)
    found = store.rows(3)
    assert found.ids.tolist() == [1, 2, 3]
    assert found.points.tolist() == new.points.tolist()
    assert found.sensitive.tolist() == new.sensitive.tolist()
    assert found.since.tolist() == [1, 1, 1]
    assert not found.member.any()
    assert store.next_node == 5
    assert store.changed() == [3]
    assert store.rooms() == [3]
    assert store.unpublished().ids.tolist() == [1, 2, 3]
    with pytest.raises(InternalError):
        store.leaf(99)


def _same_box(a, b):
    if a is None or b is None:
        return a is b
    return a.sets == b.sets and all(
        np.array_equal(getattr(a, end), getattr(b, end), equal_nan=True) for end in ("lows", "highs")
    )


def _same_root(a, b):
    return (
        (a.stratum, a.node, a.leaves) == (b.stratum, b.node, b.leaves)
        and _same_box(a.space, b.space)
        and a.counts.tolist() == b.counts.tolist()
    )


def test_numbers_of_nodes_are_never_given_again(store):
    with store.database.transaction():
        store.save(changes(rows(1), nodes=[Node(1, None, 0, 0), Node(2, 1, 0, 1)], at=2), rows(1), None)
        store.save(changes(rows(2), gone=[2], at=1), rows(2), None)
    assert store.next_node == 3
    with pytest.raises(InternalError):
        store.node(2)


def test_rows_move_and_join(store):
    new = rows(1, 2, 3, 4)
    with store.database.transaction():
        store.save(changes(new), new, None)
        placed = Placed(counts(2, 3, 9), counts(2, 1, 2), np.array([True, True, False]))
        later = rows(9, since=2)
        store.save(Changes([], [], [], [], [], placed), later, None)
    assert store.rows(1).ids.tolist() == [1, 3, 4]
    assert store.rows(1).member.tolist() == [False, True, False]
    assert store.waiting(1).ids.tolist() == [1, 4]
    assert store.rows(2).ids.tolist() == [2, 9]
    assert store.waiting(2).since.tolist() == [2]
    assert store.waiting(7).points.shape == (0, 2)


def test_waiting_rows_are_found_without_their_group(database):
    plan = database.rows(f"EXPLAIN QUERY PLAN {WAITING}", (1,))
    assert "rows_unpublished (member=? AND node=?)" in plan[0][-1]
    assert len(plan) == 1  # no sorting either


def test_states_are_recorded_settled_or_forgotten(store):
    leaf = Leaf(1, counts(1, 1), box(0, 9, 1), box(0, 9, 1), 0, True)
    new = rows(1, 2)

    def state(release):
        return State(1, release, box(0, release, 1), counts(release, 2), counts(1), np.ones((1, 2), np.int64))

    with store.database.transaction():
        store.save(changes(new, nodes=[Node(1, None, 0, 0)], leaves=[leaf], member=True), new, None)
        store.record([state(1)])
        store.mark_released(1)
        store.record([state(2)])
    first, second = store.states(1)
    assert (first.release, second.release) == (1, 2)
    assert second.counts.tolist() == [2, 2]
    assert first.chain.tolist() == [[1, 1]]
    assert store.changed() == []
    with store.database.transaction():
        store.forget(2)
    assert [found.release for found in store.states(1)] == [1]
    with store.database.transaction():
        store.record([state(3)])
        store.mark_released(3)
    assert [found.chain.size for found in store.states(1)] == [0, 2]
    assert store.database.rows("SELECT DISTINCT published FROM rows") == [(1,)]


def test_codes_are_given_once(store):
    with store.database.transaction():
        assert store.codes(1, pa.array(["b", None, "a"])).tolist() == [0, 1, 2]
        assert store.codes(1, pa.array(["c", "a", None])).tolist() == [3, 2, 1]
        assert store.codes(SENSITIVE, pa.array([3, 1])).tolist() == [0, 1]
    assert store.values(1, pa.string()).to_pylist() == ["b", None, "a", "c"]
    assert store.values(SENSITIVE, pa.int64()).to_pylist() == [3, 1]


def test_identifiers_are_found(store):
    new = rows(1, 2)
    with store.database.transaction():
        store.save(changes(new), new, pa.array(["ann", "bob"]))
    assert store.taken(pa.array(["bob", "cid", "ann"])) == 2
    with pytest.raises(VaultError), store.database.transaction():
        store.save(changes(rows(3)), rows(3), pa.array(["ann"]))
    assert store.rows(1).ids.tolist() == [1, 2]


def test_a_transaction_is_whole_or_nothing(store):
    database = store.database

    def fail():
        with database.transaction():
            database.set_meta("x", 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert database.meta("x") is None
    for value in (0, 7, "", "word", b"", b"\0bytes"):
        database.set_meta("x", value)
        assert database.meta("x") == value


def test_one_writer_at_a_time(database, place):
    other = opened(place)
    with database.sole_writer(), pytest.raises(VaultError, match="another process is writing"), other.sole_writer():
        pass
    with other.sole_writer():
        pass
    with (
        database.transaction(),
        pytest.raises(VaultError, match="another process is writing"),
        other.transaction(),
    ):
        pass
    other.close()


def test_only_the_owner_can_read(database, place):
    with database.transaction():
        database.set_meta("x", 1)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()}
    assert {"vault.sqlite", "vault.sqlite-wal"} <= modes.keys()
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("content", [b"", b"not a database, nor anything like one" * 100])
def test_not_a_vault(tmp_path, content):
    (tmp_path / "vault.sqlite").write_bytes(content)
    (tmp_path / "vault.sqlite").chmod(0o600)
    with pytest.raises(VaultError, match="is not a vault"):
        opened(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser can read anything")
def test_somebody_elses_vault(database, place):
    database.close()
    (place / "vault.sqlite").chmod(0)
    with pytest.raises(VaultError, match="permission"):
        opened(place)
