"""A private schema that several people read and change, statement by statement, one writer after the other.

Whoever writes holds a lock of the server for as long as a whole command takes; others wait for it, and the server lets
go of it when the connection ends, however it does. The lock is the session's, so that a session that others use as well
(a thread, a process, or whoever a pool gives it to) would let them write beside us: it is refused.
A statement has `?`, or `?1`, `?2` and so on, where values stand; the types of tables are named as in SQLite.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from threading import get_ident
from typing import Any

import psycopg
from psycopg.sql import SQL, Composable, Identifier, Literal

from discreet.engines.address import Address
from discreet.engines.postgres.engine import connected
from discreet.engines.postgres.errors import translating
from discreet.engines.postgres.store import LOCK, making, others, quoted
from discreet.errors import EngineError, InternalError

PART = 100_000  # rows that are read at a time, where they are many
MINUTES = 10  # that a writer waits for the one before
PLAIN = re.compile(r"INSERT INTO (\w+) VALUES \(\?(?:, \?)*\)")  # rows that can be copied in as they are
VALUE = re.compile(r"\?(\d*)")
TYPES = {"TEXT": 'text COLLATE "C"', "INTEGER": "bigint", "REAL": "double precision", "BLOB": "bytea"}
TYPE = re.compile(rf"\b({'|'.join(TYPES)})\b")
SETTINGS = {
    "lock_timeout": f"{MINUTES}min",
    "idle_in_transaction_session_timeout": "0",  # between two statements rows are computed with, or files written
    "idle_session_timeout": "0",
    "synchronous_commit": "on",  # a commit is on disk, whatever the server does by default
}

# Whose the schema and all that is in it are: whoever made a function there could have the steward run it.
OWNERS = """
    SELECT DISTINCT r.rolname::text FROM (
        SELECT nspowner AS owner FROM pg_namespace WHERE nspname = %(schema)s
        UNION ALL SELECT c.relowner FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %(schema)s
        UNION ALL SELECT f.proowner FROM pg_proc f
        JOIN pg_namespace n ON n.oid = f.pronamespace WHERE n.nspname = %(schema)s
        UNION ALL SELECT o.oprowner FROM pg_operator o
        JOIN pg_namespace n ON n.oid = o.oprnamespace WHERE n.nspname = %(schema)s
    ) AS all_of_it JOIN pg_roles r ON r.oid = owner
"""
HELD = SQL("EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())")


def create(address: Address, statements: Iterable[str], then: Callable[[Ledger], None]) -> None:
    """Make a schema of tables that only its owner can read, all at once or not at all; `then` fills them."""
    with making(address, tells="`discreet vault status`") as connection:
        ledger = Ledger(address, connection)
        for statement in statements:
            ledger.run(statement)
        then(ledger)


def opened(address: Address) -> Ledger:
    """A connection to a schema of tables that is there."""
    connection = connected(address.url, write=True)
    try:
        return Ledger(address, connection)
    except BaseException:
        connection.close()
        raise


class Ledger:
    """An open connection to such a schema."""

    def __init__(self, address: Address, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self.schema, self._connection = address.name, connection
        self._user, self._backend = _user(), 0  # who may use it; and the process of the server that has our lock
        settings = {**SETTINGS, "search_path": f"{quoted(self.schema)}, pg_temp"}  # behind those of the server
        with translating():
            for name, value in settings.items():
                connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", [name, value])
        connection.prepare_threshold = 5  # the same few statements are run over and over

    def may_be_read(self) -> bool | None:
        """Whether the role that connects may read the schema; None if there is none of that name."""
        query = "SELECT has_schema_privilege(oid, 'USAGE') FROM pg_namespace WHERE nspname = ?"
        found = self.one(query, (self.schema,))
        return None if found is None else bool(found[0])

    def has(self, table: str) -> bool:
        return bool(self.one("SELECT to_regclass(?) IS NOT NULL", (f"{quoted(self.schema)}.{quoted(table)}",))[0])

    def others(self) -> list[str]:
        """Who may read or change something of it beside its owner; all owners, if there are several."""
        names = {"PUBLIC" if name is None else name for name in others(self._connection, self.schema)}
        with translating():
            owners = [name for (name,) in self._connection.execute(OWNERS, {"schema": self.schema}).fetchall()]
        return sorted(names.union(owners if len(owners) > 1 else ()))

    def lock(self, *, wait: bool = True) -> bool:
        """Keep all others waiting once nobody else writes; if not to `wait` for that, tell whether it was done."""
        self._check_user()
        act = SQL("pg_advisory_lock({}) IS NOT NULL" if wait else "pg_try_advisory_lock({})").format(self._key)
        query = SQL("SELECT CASE WHEN {} THEN NULL ELSE {} END, pg_backend_pid()").format(HELD, act)
        with translating():
            [(locked, backend)] = self._connection.execute(query).fetchall()
        if locked is None:
            raise _pooled()
        self._backend = backend if locked else 0
        return bool(locked)

    def unlock(self) -> None:
        self._backend = 0
        with suppress(psycopg.Error):  # a connection that is gone holds no lock
            self._connection.execute(SQL("SELECT pg_advisory_unlock({})").format(self._key))

    @property
    def _key(self) -> Composable:
        return SQL("hashtextextended({}, {})").format(Literal(f"writer of {self.schema}"), Literal(LOCK))

    def _check_user(self) -> None:
        """Raise if it is used by others than whoever opened it: they would write in one transaction."""
        if _user() != self._user:
            raise EngineError(
                "an open vault is for the thread and the process that opened it", hint="open it again in the other one"
            )

    def begin(self, *, snapshot: bool = False) -> None:
        """Begin a transaction; what a `snapshot` reads is of one moment."""
        self._check_user()
        if self._connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            raise InternalError("a transaction was begun inside another")
        with translating():
            self._connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if snapshot else "BEGIN")
            [(backend,)] = self._connection.execute("SELECT pg_backend_pid()").fetchall()
        if self._backend not in {0, backend}:
            self.rollback()
            raise _pooled()

    def commit(self) -> None:
        try:
            with translating():
                done = self._connection.execute("COMMIT").statusmessage
        except EngineError:
            if not self._connection.broken:
                raise
            raise EngineError(
                "the connection to the server was lost at the last moment: all of it was done, or nothing",
                hint="`discreet vault status` tells which; if it was not, run the same command again",
            ) from None
        if done != "COMMIT":  # so the server ends one in which a statement failed
            raise InternalError("a transaction was undone by the server; nothing was written")

    def rollback(self) -> None:
        """Undo what was begun and not committed, if there is any."""
        if self._connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            with suppress(psycopg.Error):
                self._connection.execute("ROLLBACK")

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._found(statement, values).fetchall()

    def one(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """The only row there is, or None."""
        return self._found(statement, values).fetchone()

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        self._found(statement, values)

    def _found(self, statement: str, values: Sequence[Any]) -> psycopg.Cursor[tuple[Any, ...]]:
        self._check_user()
        with translating():
            return self._connection.execute(_written(statement), _given(statement, values), binary=True)

    def parts(self, statement: str) -> Iterator[list[Any]]:
        """All rows, some at a time; none is empty."""
        self._check_user()
        with (
            translating(),
            self._connection.transaction(),
            self._connection.cursor("discreet_parts", binary=True) as cursor,
        ):
            cursor.execute(_written(statement))
            while part := cursor.fetchmany(PART):
                yield part

    def run_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        self._check_user()
        plain = PLAIN.fullmatch(statement)
        with translating(), self._connection.cursor() as cursor:
            if plain is None:
                cursor.executemany(_written(statement), [_given(statement, each) for each in values])
                return
            table = Identifier(plain[1])
            columns = cursor.execute(SQL("SELECT * FROM {} LIMIT 0").format(table)).description or ()
            # of rows that are binary, none is quoted in the log of a server that ends the session meanwhile
            with cursor.copy(SQL("COPY {} FROM STDIN (FORMAT binary)").format(table)) as copy:
                copy.set_types([column.type_code for column in columns])
                for each in values:
                    copy.write_row(each)

    def close(self) -> None:
        self._connection.close()


def _pooled() -> EngineError:
    return EngineError(
        "the connection is a pool's, which gives it to others as well; nothing was written",
        hint="connect to the server itself, not by a pool that hands a connection on after each transaction",
    )


def _user() -> tuple[int, int]:
    return os.getpid(), get_ident()


@lru_cache
def _written(statement: str) -> SQL:
    """A statement as the driver takes it."""
    numbered = "?1" in statement
    if "CREATE" in statement:
        statement = TYPE.sub(lambda found: TYPES[found[0]], statement)
    return SQL(VALUE.sub(r"%(v\1)s" if numbered else "%s", statement.replace("%", "%%")))


def _given(statement: str, values: Sequence[Any]) -> Any:
    if "?1" in statement:
        return {f"v{number}": value for number, value in enumerate(values, start=1)}
    return tuple(values) or None
