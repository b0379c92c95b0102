"""The tables of a vault, in the words of SQLite; a server has the same ones, with its own names of types."""

from __future__ import annotations

from discreet.errors import VaultError

FORMAT = 2
OF_PEOPLE = 3  # of a vault whose people may have several rows, so that older software leaves it alone
COMPACT = 4  # of a vault whose lots are divided by `compact`, for the same reason: it would cut them its own way
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- of set columns, by their place among the quasi-identifiers, and of the sensitive column, -1
CREATE TABLE dictionary (col INTEGER, code INTEGER, value TEXT, PRIMARY KEY (col, code)) WITHOUT ROWID;
CREATE UNIQUE INDEX dictionary_by_value ON dictionary (col, value);

CREATE TABLE roots (stratum TEXT PRIMARY KEY, node INTEGER, space BLOB, counts BLOB, leaves INTEGER);
CREATE TABLE nodes (
    id INTEGER PRIMARY KEY, parent INTEGER, stratum TEXT, depth INTEGER,
    col INTEGER, low_end REAL, high_start REAL, left_set BLOB, right_set BLOB, left_node INTEGER, right_node INTEGER
);
CREATE INDEX nodes_by_parent ON nodes (parent);
CREATE TABLE leaves (
    node INTEGER PRIMARY KEY, parent INTEGER, counts BLOB, box BLOB, reach BLOB, past BLOB,
    size INTEGER, waiting INTEGER, changed INTEGER
);
CREATE INDEX leaves_changed ON leaves (parent) WHERE changed;
CREATE INDEX leaves_waiting ON leaves (waiting) WHERE waiting;

-- rows of a leaf lie together; since: the append that brought it; published: the release that first had it
CREATE TABLE rows (
    node INTEGER, id INTEGER, member INTEGER, since INTEGER, published INTEGER, sensitive INTEGER, point BLOB,
    PRIMARY KEY (node, id)
) WITHOUT ROWID;
CREATE INDEX rows_unpublished ON rows (member, node) WHERE published IS NULL;

-- where each row is; key: its identifiers
CREATE TABLE people (id INTEGER PRIMARY KEY, node INTEGER, key TEXT);
CREATE UNIQUE INDEX people_by_key ON people (key) WHERE key IS NOT NULL;

CREATE TABLE states (
    node INTEGER, release INTEGER, box BLOB, counts BLOB, cohorts BLOB, chain BLOB, PRIMARY KEY (node, release)
);
CREATE INDEX states_by_release ON states (release);

-- status: begun, intended (its folder is safe on disk) or done; appends: how many came before it
CREATE TABLE appends (number INTEGER PRIMARY KEY, time TEXT, rows INTEGER, joined INTEGER);
CREATE TABLE releases (
    number INTEGER PRIMARY KEY, status TEXT, hidden TEXT, path TEXT, digest TEXT, time TEXT, appends INTEGER,
    rows INTEGER, groups INTEGER
);
"""


def check_version(place: object, found: object) -> None:
    """Raise for a vault that other software made, which might mean something else by its tables."""
    if found not in {FORMAT, OF_PEOPLE, COMPACT}:
        newer = (
            "upgrade discreet"
            if isinstance(found, int) and found > COMPACT
            else "open it with the version of discreet that made it"
        )
        raise VaultError(f"`{place}` is a vault of version {found}, expected {FORMAT} to {COMPACT}", hint=newer)


def busy(place: object) -> VaultError:
    return VaultError(
        f"another process is writing to the vault `{place}`", hint="wait until it has ended and run the same again"
    )


def statements(version: int) -> list[str]:
    """What makes the tables of a version."""
    one, any_ = "CREATE UNIQUE INDEX people_by_key", "CREATE INDEX people_by_key"
    schema = SCHEMA.replace(one, any_) if version == OF_PEOPLE else SCHEMA
    return [statement for statement in schema.split(";\n") if statement.strip()]
