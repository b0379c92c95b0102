"""A small growing table, its policy, and an inspector who finds anything in a vault that does not fit the rest."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from discreet import Policy, Vault
from discreet.release.files import digest
from discreet.values.columns import Column
from discreet.vault.intake import quasi
from discreet.vault.store.database import opened
from discreet.vault.store.store import VaultStore

TABLES = ("meta", "dictionary", "roots", "nodes", "leaves", "rows", "people", "states", "appends", "releases")
QUASI = ("age", "town", "weight")
WAYS = {  # to divide a lot
    "least_loss": {},
    "fitted": {"partition": "compact", "options": {"cuts": "fitted"}},
    "blind": {"partition": "compact"},
}
TOWNS = ("Quixoteville", "Zanzibarton", "Xanaduburg", None)
ILLS = ("asthmatosis", "bronchobia", "cardiomania", "dermatopsy", "enteropathia", "febrilosis")


def policy(**changes):
    values = {
        "identifiers": ["name"],
        "quasi": list(QUASI),
        "sensitive": "ill",
        "guarantee": {"distinct_l": 3},
        "publication": "generalization",
        "accept": {"looks": "nobody lives here"},
    }
    return Policy(**{**values, **changes})


def people(rows, *, start=0, seed=1, **columns):
    """Rows that do not exist; those of another `start` have other names."""
    chance = np.random.default_rng([seed, start])
    weight = np.round(chance.normal(70, 15, rows), 1)
    found = {
        "name": [f"nemo {start + i}" for i in range(rows)],
        "age": chance.integers(18, 90, rows),
        "town": pa.array([TOWNS[i] for i in chance.choice(4, rows, p=[0.5, 0.3, 0.15, 0.05])]),
        "weight": pa.array(weight, mask=chance.random(rows) < 0.02),
        "ill": [ILLS[i] for i in chance.choice(6, rows, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1])],
    }
    return pa.table({**found, **columns})


def dump(folder):
    """All that a vault's database holds, as text; but for what tells where a release was made last."""
    if "://" in str(folder):
        database = opened(folder)
        try:
            return "\n".join(
                repr(row)
                for name in TABLES
                for row in database.rows(f"SELECT * FROM {name} ORDER BY 1, 2")
                if row[0] != "machine"
            )
        finally:
            database.close()
    connection = sqlite3.connect(Path(folder) / "vault.sqlite")
    try:
        return "\n".join(connection.iterdump())
    finally:
        connection.close()


def inspect(folder, *, names=None, releases=True):
    """Raise if a vault is not whole; `names` are those of all its rows."""
    with Vault.open(folder) as vault:
        vault.status()  # which recovers
        schema, rules = vault._schema(), vault.policy
    database = opened(folder)
    try:
        if not database.shared:
            assert database.one("PRAGMA integrity_check")[0] == "ok"
        if schema is not None:
            _inspect_groups(VaultStore(database, quasi(rules, schema)))
        if names is not None:
            assert Counter(key for (key,) in database.rows("SELECT key FROM people")) == Counter(names)
        if releases:
            _inspect_releases(database)
    finally:
        database.close()


def _inspect_groups(store):
    """Every row is once in a group or waiting, and groups are what their rows make them."""
    found: dict[int, list] = {}
    homes = "SELECT COUNT(*), (SELECT COUNT(*) FROM rows) FROM people JOIN rows USING (id, node)"
    assert len(set(store.database.one(homes))) == 1
    assert store.database.one("SELECT COUNT(*) FROM people") == store.database.one("SELECT COUNT(*) FROM rows")
    rows = "SELECT node, member, sensitive, point, published FROM rows ORDER BY id"
    for node, member, sensitive, point, published in store.database.rows(rows):
        assert member in (0, 1)
        assert member or published is None
        found.setdefault(node, []).append((member, sensitive, np.frombuffer(point)))
    leaves = {node for (node,) in store.database.rows("SELECT node FROM leaves")}
    assert found.keys() <= leaves
    for node in leaves:
        leaf, rows = store.leaf(node), found.get(node, [])
        members = [(value, point) for member, value, point in rows if member]
        assert leaf.waiting == len(rows) - len(members)
        assert (leaf.box is None) == (not members)
        counts = np.bincount([value for value, _ in members], minlength=leaf.counts.size) if members else leaf.counts
        assert counts.tolist() == leaf.counts.tolist()
        if members:
            _inspect_box(store.columns, leaf.box, np.stack([point for _, point in members]))
        assert store.database.one("SELECT size FROM leaves WHERE node = ?", (node,))[0] == len(members)


def _inspect_box(columns: tuple[Column, ...], box, points):
    for at, column in enumerate(columns):
        if not column.ordered:
            assert box.sets[at] == sum(1 << code for code in {int(code) for code in points[:, at]})
        else:
            present = points[~np.isnan(points[:, at]), at]
            ends = [present.min(), present.max()] if present.size else [np.nan, np.nan]
            assert np.array_equal([box.lows[at], box.highs[at]], ends, equal_nan=True)
            assert box.sets[at] == (0 < present.size < len(points))


def _inspect_releases(database):
    """Releases and their records are the same, and the newest shows what its groups are, where they did not change."""
    listed = database.rows("SELECT number, status, path, digest, rows FROM releases ORDER BY number")
    assert [number for number, *_ in listed] == list(range(1, len(listed) + 1))
    for number, status, path, name, rows in listed:
        assert status == "done"
        assert digest(Path(path) / "datapackage.json") == name
        assert pq.read_metadata(Path(path) / "generalized.parquet").num_rows == rows
        published = database.one("SELECT COUNT(*) FROM rows WHERE published <= ?", (number,))[0]
        assert published == rows
    assert database.one("SELECT COUNT(*) FROM states WHERE release > ?", (len(listed),))[0] == 0


def left_in(place):
    """The folders in a place, hidden ones among them."""
    return sorted(path.name for path in Path(place).iterdir())
