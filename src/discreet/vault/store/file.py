"""The file of a vault: a SQLite database that only its owner can read, with one writer at a time.

SQLite makes every transaction whole, whenever its process is killed. Its own lock lasts for one transaction, so a
lock on the folder, which nobody can remove by mistake as one could a file of its own, lasts for a whole command; the
system lets go of both when the process ends, however it does.
The policy lies beside the database as a text of its own, so that a steward can read it, and who changes it is noticed.
The only file that imports the driver.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shlex
import shutil
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from discreet.errors import VaultError
from discreet.release.write import free, sync
from discreet.vault.store.schema import busy, check_version, statements

FILE = "vault.sqlite"
POLICY = "policy.json"
PART = 100_000  # rows that are read at a time, where they are many
MARK = 0x64736372  # says in the header of the file that it is a vault's
# a commit is on disk; nothing private in temporary files; 64 MB of memory, and of changes that wait in their log
SETTINGS = ("synchronous = FULL", "temp_store = MEMORY", "cache_size = -65536", "wal_autocheckpoint = 10000")


class InFile:
    """The open database of a vault that is a folder of its own."""

    shared = False

    def __init__(self, folder: Path) -> None:
        self.place = folder
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
    def create(path: Path, policy: str, meta: Mapping[str, Any], *, version: int) -> None:
        """Make a folder with an empty vault: whole and safe on disk before it has its name."""
        free(path)
        hidden = path.parent / f".{path.name}.{secrets.token_hex(4)}.partial"
        try:
            above = [path.parent, *(parent.parent for parent in path.parents if not parent.exists())]
            path.parent.mkdir(parents=True, exist_ok=True)
            hidden.mkdir(mode=0o700)
            hidden.chmod(0o700)
            _lay_down(hidden, meta, version=version)
            with os.fdopen(
                os.open(hidden / POLICY, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8"
            ) as file:
                file.write(policy)
            for made in (*hidden.iterdir(), hidden):
                sync(made)
            free(path)
            hidden.rename(path)
            for parent in above:
                sync(parent)
        except OSError as error:
            raise VaultError(f"the vault `{path}` could not be made: {error.strerror}") from None
        finally:
            shutil.rmtree(hidden, ignore_errors=True)

    def _check_version(self) -> None:
        mark, found = (self.one(f"PRAGMA {name}")[0] for name in ("application_id", "user_version"))
        if mark != MARK:
            raise VaultError(f"`{self.place}` is not a vault: its `{FILE}` was not made by discreet")
        check_version(self.place, found)

    @contextmanager
    def sole_writer(self, *, wait: bool = True) -> Iterator[None]:  # noqa: ARG002
        """Keep all other writers out; one that comes second is told at once."""
        try:
            handle = os.open(self.place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise VaultError(f"`{self.place}` cannot be written: {error.strerror}") from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise busy(self.place) from None
            except OSError as error:
                raise VaultError(
                    f"`{self.place}` cannot be kept from other writers: {error.strerror}",
                    hint="keep a vault on a disk of this machine, not on one that is shared over a network",
                ) from None
            yield
        finally:
            os.close(handle)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is written inside, or nothing of it."""
        with _translating(self.place):
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
        with _translating(self.place):
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
            raise _translated(self.place, error) from None

    def parts(self, statement: str) -> Iterator[list[Any]]:
        """All rows, some at a time; none is empty."""
        with _translating(self.place):
            cursor = self._connection.execute(statement)
            while part := cursor.fetchmany(PART):
                yield part

    def one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The only row there is, or None."""
        try:
            return self._connection.execute(statement, values).fetchone()
        except sqlite3.Error as error:
            raise _translated(self.place, error) from None

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        with _translating(self.place):
            self._connection.execute(statement, values)

    def run_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        with _translating(self.place):
            self._connection.executemany(statement, values)

    def meta(self, key: str) -> Any:
        found = self.one("SELECT value FROM meta WHERE key = ?", (key,))
        return None if found is None else found[0]

    def set_meta(self, key: str, value: Any) -> None:
        self.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def policy(self) -> str | None:
        try:
            return (self.place / POLICY).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None

    def holds(self, path: Path) -> bool:
        return self.place.resolve() in path.resolve().parents

    def close(self) -> None:
        self._connection.close()


def _lay_down(folder: Path, meta: Mapping[str, Any], *, version: int) -> None:
    """An empty database in a folder that has none."""
    os.close(os.open(folder / FILE, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with _translating(folder):
        connection = sqlite3.connect(folder / FILE, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            for statement in statements(version):
                connection.execute(statement)
            connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            connection.execute(f"PRAGMA application_id = {MARK}")
            connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")
        finally:
            connection.close()


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
        return busy(folder)
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
