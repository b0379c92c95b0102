"""Folders of files as schemas: a table for each file of rows, beside the files as they are, in one transaction.

A schema has the tables, a table `discreet_files` with every file of the folder, byte by byte, and where a column points
to one that holds values several times, a table `discreet_keys_of_NAME` of these, each once, to which both point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
from psycopg import sql
from psycopg.sql import SQL, Identifier, Literal

from discreet.engines.address import Address
from discreet.engines.postgres.engine import check_name, connected
from discreet.engines.postgres.errors import STATES, translating
from discreet.engines.postgres.files import columns_of, copied_in, copied_out
from discreet.errors import EngineError, InputError, ReleaseError

FILES = "discreet_files"
KEYS = "discreet_keys_of_"
OTHERS = """
    SELECT DISTINCT r.rolname::text FROM (
        SELECT nspowner AS owner, nspacl AS rights FROM pg_namespace WHERE nspname = %(schema)s
        UNION ALL SELECT c.relowner, c.relacl FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %(schema)s
        UNION ALL SELECT c.relowner, o.attacl FROM pg_attribute o JOIN pg_class c ON c.oid = o.attrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %(schema)s
    ) AS all_of_it, aclexplode(rights) AS a LEFT JOIN pg_roles r ON r.oid = a.grantee WHERE a.grantee <> owner
"""
PART = 16 << 20  # bytes of a file that are one row
ISOLATION = "REPEATABLE READ"
LOOK = 20  # of 300 times as many rows of a table the server learns what it holds: plans for releases need no more
LOCK = 0x64697363726565  # tells our locks from those of others


@dataclass(frozen=True)
class Link:
    """Columns of a table that point to those of the same place in another, where each may stand once only."""

    table: str
    columns: Sequence[str]
    other: str
    others: Sequence[str]
    unique: bool
    last: int | None = None  # of columns that hold every number from 1 to it, and no other


@dataclass(frozen=True)
class Stored:
    """What a schema holds, as one transaction sees it."""

    connection: psycopg.Connection[tuple[Any, ...]]
    schema: str

    def files(self) -> list[str]:
        """The names of the files; raise if the schema is none of ours, or may not be read."""
        query = "SELECT relkind = 'r' AND NOT relrowsecurity FROM pg_class WHERE oid = to_regclass({})"
        found = self._run(query, Literal(f"{quoted(self.schema)}.{FILES}"))
        if not found:
            raise ReleaseError(
                f"there is no release `{self.schema}` in the database, or your role may not see it",
                hint="releases are schemas: `\\dn` in psql lists them; one is put there by `discreet load`",
            )
        if not found[0][0]:  # functions of its owner would run with the rights of whoever looks
            raise ReleaseError(
                f"`{FILES}` of the schema `{self.schema}` is not the table that `discreet` made",
                hint="ask whoever owns the schema; nothing in it was run",
            )
        return [str(path) for (path,) in self._run("SELECT DISTINCT path FROM {} ORDER BY path", self._table(FILES))]

    def content(self, path: str) -> bytes:
        """One file."""
        query = "SELECT content FROM {} WHERE path = {} ORDER BY part"
        return b"".join(part for (part,) in self._run(query, self._table(FILES), Literal(path)))

    def tables(self) -> list[str]:
        """The names of its tables; those whose rows have policies are none of ours, and would run functions."""
        query = "SELECT tablename::text FROM pg_tables WHERE schemaname = {} AND NOT rowsecurity"
        return [str(name) for (name,) in self._run(query, Literal(self.schema))]

    def columns(self, table: str) -> list[str]:
        """The names of the columns of a table."""
        query = """
            SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass({}) AND attnum > 0 AND NOT attisdropped
        """
        return [str(name) for (name,) in self._run(query, Literal(f"{quoted(self.schema)}.{quoted(table)}"))]

    def rows(self, table: str) -> pa.Table:
        """The rows of one table, in any order."""
        with translating():
            return copied_out(self.connection, f"SELECT * FROM {self._table(table).as_string(self.connection)}")

    def _table(self, name: str) -> Identifier:
        return Identifier(self.schema, name)

    def _run(self, query: str, *parts: sql.Composable) -> list[tuple[Any, ...]]:
        with translating():
            statement = SQL(query).format(*parts)
            return self.connection.execute(statement, binary=True).fetchall()


def check_place(address: Address, grant: Sequence[str] = ()) -> None:
    """Raise if a release cannot be put there: the name is taken, a role unknown, or nothing may be created."""
    check_name(address.name)
    with connected(address.url, write=True) as connection:
        _check_free(connection, address.name)
        _check_roles(connection, grant)
        with translating():
            query = "SELECT pg_is_in_recovery(), has_database_privilege(current_database(), 'CREATE')"
            [(standby, may)] = connection.execute(query).fetchall()
    for wrong, state in ((standby, "25006"), (not may, "42501")):
        if wrong:
            what, hint = STATES[state]
            raise EngineError(what, hint=hint)


def check_columns(names: Iterable[str]) -> None:
    """Raise if the server would cut off the end of the name of a column."""
    for name in names:
        check_name(name, "column", "rename it in the table that is published, or drop it in the policy")


@contextmanager
def opened(address: Address) -> Iterator[Stored]:
    """A schema as it is at one moment, to be read."""
    with connected(address.url) as connection:
        with translating():
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield Stored(connection, address.name)


@contextmanager
def making(
    address: Address, grant: Sequence[str] = (), *, tells: str = "`discreet verify`"
) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    """A transaction in which a schema is made: it sees one moment, and all of it is there at its end, or nothing.

    Whoever makes one of the same name waits meanwhile. `tells` is the command that looks whether it is there.
    """
    schema = address.name
    check_name(schema)
    with connected(address.url, write=True) as connection:
        with translating():
            connection.execute("SELECT pg_advisory_lock(hashtextextended(lower(%s), %s))", [schema, LOCK])
        _check_free(connection, schema)
        _check_roles(connection, grant)
        with translating():
            connection.execute(f"BEGIN ISOLATION LEVEL {ISOLATION}")
            connection.execute(SQL("CREATE SCHEMA {}").format(Identifier(schema)))
        yield connection
        with translating():
            _grant(connection, schema, grant)
        _commit(connection, tells)


def _commit(connection: psycopg.Connection[Any], tells: str) -> None:
    try:
        with translating():
            connection.execute("COMMIT")
    except EngineError:
        if not connection.broken:
            raise
        raise EngineError(
            "the connection to the server was lost at the last moment: all of it is there, or nothing",
            hint=f"{tells} tells which; if it is not there, run the same command again",
        ) from None


def keep(
    address: Address,
    files: Mapping[str, Path],
    tables: Mapping[str, pa.Table],
    *,
    links: Sequence[Link] = (),
    unique: Mapping[str, Sequence[str]],
    comments: Mapping[str, str],
    grant: Sequence[str] = (),
    prepare: Callable[[psycopg.Connection[Any]], None],
    check: Callable[[Stored], None],
) -> None:
    """Make a schema, all at once or not at all; `check` looks at it before anybody else can, and may raise.

    `prepare` may add tables.

    `comments` are those of the tables by name, and that of the schema under "".
    """
    schema = address.name
    check_name(schema)
    check_columns(column for rows in tables.values() for column in rows.column_names)
    with making(address, grant) as connection:
        with translating():
            for name, rows in tables.items():
                table = Identifier(schema, name)
                connection.execute(SQL("CREATE TABLE {} ({})").format(table, columns_of(rows.schema)))
                copied_in(connection, table, rows)
        prepare(connection)
        complete(connection, schema, links, unique, comments, _parts(files))
        check(Stored(connection, schema))


def complete(
    connection: psycopg.Connection[Any],
    schema: str,
    links: Sequence[Link],
    unique: Mapping[str, Sequence[str]],
    comments: Mapping[str, str],
    parts: Iterable[tuple[str, int, bytes]],
) -> None:
    """Give tables that are there their keys, comments and statistics, and lay files beside them, part by part.

    `unique` are columns that no two rows of a table agree in.
    """

    def run(query: str, *names: sql.Composable) -> None:
        connection.execute(SQL(query).format(*names))

    with translating():
        for name, columns in unique.items():
            run("CREATE UNIQUE INDEX ON {} ({})", Identifier(schema, name), SQL(", ").join(map(Identifier, columns)))
        for link in {link.other: link for link in links}.values():
            _key(run, schema, link)
        for link in links:
            _link(run, schema, link)
        run(
            "CREATE TABLE {} (path text, part integer, content bytea NOT NULL, PRIMARY KEY (path, part))",
            Identifier(schema, FILES),
        )
        doubled = Identifier(schema.replace("%", "%%"), FILES)  # a single one would begin a parameter
        statement = SQL("INSERT INTO {} VALUES (%s, %s, %s)").format(doubled)
        with connection.cursor() as cursor:
            for part in parts:
                cursor.execute(statement, part, binary=True)
        for name, comment in comments.items():
            kind, this = ("TABLE", Identifier(schema, name)) if name else ("SCHEMA", Identifier(schema))
            run(f"COMMENT ON {kind} {{}} IS {{}}", this, Literal(comment))
        run(f"SET LOCAL default_statistics_target = {LOOK}")
        for name in Stored(connection, schema).tables():
            run("ANALYZE {}", Identifier(schema, name))


def _parts(files: Mapping[str, Path]) -> Iterator[tuple[str, int, bytes]]:
    for name, path in files.items():
        with path.open("rb") as file:
            for number, content in enumerate(iter(lambda file=file: file.read(PART), b"")):  # type: ignore[misc]
                yield name, number, content


def _check_free(connection: psycopg.Connection[Any], schema: str) -> None:
    query = "SELECT nspname FROM pg_namespace WHERE lower(nspname) = lower(%s)"
    with translating():
        found = [name for (name,) in connection.execute(query, [schema]).fetchall()]
    if schema.lower().startswith("pg_") or schema in {"", "$user"} or "\0" in schema:  # in a path, that is the user's
        raise InputError(
            f"`{schema}` cannot be the name of a schema", hint="PostgreSQL keeps `pg_…` and `$user` for itself"
        )
    if schema in found:
        raise ReleaseError(
            f"a schema `{schema}` exists in the database already",
            hint="it is never overwritten: choose another name",
        )
    if found:
        raise ReleaseError(
            f"the name `{schema}` differs from the schema `{found[0]}` in nothing but capitals",
            hint="choose a name that nobody takes for another",
        )


def _check_roles(connection: psycopg.Connection[Any], roles: Sequence[str]) -> None:
    with translating():
        known = {name for (name,) in connection.execute("SELECT rolname FROM pg_roles").fetchall()}
    for role in roles:
        if role.lower() == "public":
            raise InputError("a release is granted to roles, not to PUBLIC", hint="name the roles of your analysts")
        if role not in known:
            raise InputError(f"there is no role `{role}` in the server", hint="`\\du` in psql lists them")


def _key(run: Callable[..., None], schema: str, link: Link) -> None:
    """The key that tables point to; of values that occur several times, a table of its own that has each once."""
    other, there = Identifier(schema, link.other), SQL(", ").join(map(Identifier, link.others))
    if link.unique:
        run("ALTER TABLE {} ADD PRIMARY KEY ({})", other, there)
        return
    keys = Identifier(schema, f"{KEYS}{link.other}")
    if link.last is None:
        run("CREATE TABLE {} AS SELECT DISTINCT {} FROM {}", keys, there, other)
    else:
        every = SQL("generate_series(1, {})").format(Literal(link.last))
        run("CREATE TABLE {} AS SELECT {} AS {}", keys, every, there)
    run("ALTER TABLE {} ADD PRIMARY KEY ({})", keys, there)
    run("ALTER TABLE {} ADD FOREIGN KEY ({}) REFERENCES {}", other, there, keys)


def _link(run: Callable[..., None], schema: str, link: Link) -> None:
    """A foreign key."""
    other = Identifier(schema, link.other if link.unique else f"{KEYS}{link.other}")
    here = SQL(", ").join(map(Identifier, link.columns))
    run("ALTER TABLE {} ADD FOREIGN KEY ({}) REFERENCES {}", Identifier(schema, link.table), here, other)


def _grant(connection: psycopg.Connection[Any], schema: str, roles: Sequence[str]) -> None:
    """SELECT for some roles, and nothing for everybody else, whatever the database grants by default."""
    parts = [part.format(Identifier(schema)) for part in (SQL("SCHEMA {}"), SQL("ALL TABLES IN SCHEMA {}"))]
    named = [Identifier(name) for name in others(connection, schema) if name is not None]
    for who in (SQL("PUBLIC"), *named):
        for what in parts:
            connection.execute(SQL("REVOKE ALL ON {} FROM {}").format(what, who))
    for role in roles:
        for right, what in zip(("USAGE", "SELECT"), parts, strict=True):
            connection.execute(SQL("GRANT {} ON {} TO {}").format(SQL(right), what, Identifier(role)))


def others(connection: psycopg.Connection[Any], schema: str) -> list[str | None]:
    """Who has rights to a schema, its tables or their columns beside the owner; None is everybody."""
    with translating():
        return [name for (name,) in connection.execute(OTHERS, {"schema": schema}).fetchall()]


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'
