"""The file of a vault: a SQLite database that only its owner can read, with one writer at a time.

SQLite makes every transaction whole, whenever its process is killed. Its own lock lasts for one transaction, so a
lock on the folder, which nobody can remove by mistake as one could a file of its own, lasts for a whole command; the
system lets go of both when the process ends, however it does.
The only file that imports the driver.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from discreet.errors import VaultError

FORMAT = 2
OF_PEOPLE = 3  # of a vault whose people may have several rows, so that older software leaves it alone
FILE = "vault.sqlite"
PART = 100_000  # rows that are read at a time, where they are many
MARK = 0x64736372  # says in the header of the file that it is a vault's
# a commit is on disk; nothing private in temporary files; 64 MB of memory, and of changes that wait in their log
SETTINGS = ("synchronous = FULL", "temp_store = MEMORY", "cache_size = -65536", "wal_autocheckpoint = 10000")
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


class Database:
    """An open vault file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / FILE
        if not path.is_file():
            raise VaultError(f"there is no vault `{folder}`", hint="make one with `discreet vault init`")
        _check_private(folder)
        with _translating(folder):
            # the driver's own transactions are off: ours say where they begin
            self._connection = sqlite3.connect(path, timeout=0.2, isolation_level=None)
        try:
            self._check_version()
            with _translating(folder):
                for setting in SETTINGS:
                    self._connection.execute(f"PRAGMA {setting}")
        except BaseException:
            self._connection.close()
            raise

    @staticmethod
    def create(folder: Path, meta: dict[str, Any], *, people: bool = False) -> None:
        """Lay down an empty vault file in a folder that has none; if of `people`, one may have several rows."""
        schema = SCHEMA.replace("CREATE UNIQUE INDEX people_by_key", "CREATE INDEX people_by_key") if people else SCHEMA
        os.close(os.open(folder / FILE, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with _translating(folder):
            connection = sqlite3.connect(folder / FILE, isolation_level=None)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("BEGIN IMMEDIATE")
                for statement in schema.split(";\n"):
                    connection.execute(statement)
                connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
                connection.execute(f"PRAGMA application_id = {MARK}")
                connection.execute(f"PRAGMA user_version = {OF_PEOPLE if people else FORMAT}")
                connection.execute("COMMIT")
            finally:
                connection.close()

    def _check_version(self) -> None:
        mark, version = (self.one(f"PRAGMA {name}")[0] for name in ("application_id", "user_version"))
        if mark != MARK:
            raise VaultError(f"`{self.folder}` is not a vault: its `{FILE}` was not made by discreet")
        if version not in {FORMAT, OF_PEOPLE}:
            newer = "upgrade discreet" if version > OF_PEOPLE else "open it with the version of discreet that made it"
            raise VaultError(
                f"`{self.folder}` is a vault of version {version}, expected {FORMAT} or {OF_PEOPLE}", hint=newer
            )

    @contextmanager
    def sole_writer(self) -> Iterator[None]:
        """Keep all other writers out; one that comes second is told at once."""
        try:
            handle = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise VaultError(f"`{self.folder}` cannot be written: {error.strerror}") from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise _busy(self.folder) from None
            except OSError as error:
                raise VaultError(
                    f"`{self.folder}` cannot be kept from other writers: {error.strerror}",
                    hint="keep a vault on a disk of this machine, not on one that is shared over a network",
                ) from None
            yield
        finally:
            os.close(handle)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written inside, or nothing of it."""
        with _translating(self.folder):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    with suppress(sqlite3.Error):
                        self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All that is read inside is of one moment."""
        with _translating(self.folder):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        try:  # asked for thousands of times, so without a context
            return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise _translated(self.folder, error) from None

    def parts(self, statement: str) -> Iterator[list[Any]]:
        """All rows, some at a time; none is empty."""
        with _translating(self.folder):
            cursor = self._connection.execute(statement)
            while part := cursor.fetchmany(PART):
                yield part

    def one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The only row there is, or None."""
        try:
            return self._connection.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            raise _translated(self.folder, error) from None

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        with _translating(self.folder):
            self._connection.execute(statement, values)

    def run_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        with _translating(self.folder):
            self._connection.executemany(statement, values)

    def meta(self, key: str) -> Any:
        found = self.one("SELECT value FROM meta WHERE key = ?", (key,))
        return None if found is None else found[0]

    def set_meta(self, key: str, value: Any) -> None:
        self.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def close(self) -> None:
        self._connection.close()


def _check_private(folder: Path) -> None:
    """Raise if anybody but the owner may read or write the folder of a vault, or a file in it."""
    modes = []
    try:
        for place in (folder, *sorted(folder.iterdir())):
            with suppress(FileNotFoundError):  # SQLite's own files come and go
                modes.append((place, stat.S_IMODE(place.stat().st_mode)))
    except OSError as error:
        raise VaultError(f"the vault `{folder}` cannot be opened: {error.strerror}") from None
    others = stat.S_IRWXG | stat.S_IRWXO
    open_to_others = [f"`{place}` has mode {mode:04o}" for place, mode in modes if mode & others]
    if open_to_others:
        raise VaultError(
            f"a vault must be its owner's alone: {', '.join(open_to_others)}",
            hint=f"run `chmod -R go-rwx {shlex.quote(str(folder))}`, and consider who could read it until now",
        )


def _busy(folder: Path) -> VaultError:
    return VaultError(
        f"another process is writing to the vault `{folder}`", hint="wait until it has ended and run the same again"
    )


@contextmanager
def _translating(folder: Path) -> Iterator[None]:
    """Our error for one of SQLite's, which might quote what it was given."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translated(folder, error) from None


def _translated(folder: Path, error: sqlite3.Error) -> VaultError:
    as_it_was, code = "the vault is as it was", getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return _busy(folder)
    if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
        return VaultError(
            f"the vault `{folder}` could not be written: the disk is full or failing; {as_it_was}",
            hint="make room, then run the same command again",
        )
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}:
        return VaultError(f"the vault `{folder}` cannot be opened or written: permission denied; {as_it_was}")
    if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT}:
        return VaultError(f"`{folder}` is not a vault, or its `{FILE}` is damaged", hint="restore it from a backup")
    return VaultError(f"the vault `{folder}` could not be read or written; {as_it_was}")
