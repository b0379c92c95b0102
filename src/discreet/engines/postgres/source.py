"""Rows of a server that are to be published: a table or a query, described first, and read when they are needed."""

from __future__ import annotations

from typing import Any

import psycopg
import pyarrow as pa
from psycopg.sql import SQL, Identifier
from sqlglot import exp

from discreet.engines.address import Address
from discreet.engines.postgres.engine import Postgres, connected
from discreet.engines.postgres.errors import translating
from discreet.engines.postgres.files import copied_out, described_as
from discreet.errors import InputError
from discreet.values.names import fresh

SOURCE = "discreet_source"  # in the schema of temporary things, which nobody else sees
PLAIN = "rm"  # kinds of relations that give the same rows whenever one transaction reads them
PLACE = "discreet_place"


class Origin:
    """Where rows come from: the server, the SELECT that finds them, and the columns that they have.

    A plain table, which has a name as SQL writes it (`plain`), gives the same rows whenever one transaction reads it,
    and each of them has a place of its own; neither need be so of a query, or of a table that has parts.
    """

    __slots__ = ("address", "plain", "schema", "text")

    def __init__(self, address: Address, text: str, schema: pa.Schema, *, plain: str | None) -> None:
        self.address, self.text, self.schema, self.plain = address, text, schema, plain

    @property
    def kept(self) -> str:
        """The name under which a transaction knows the rows, of which a query says nothing: it finds its own tables."""
        name = SOURCE
        while name in self.text.lower():
            name += "_"
        return name

    @property
    def place(self) -> str:
        """The name under which a transaction knows where each row lies."""
        return fresh(PLACE, self.schema.names)


def described(address: Address, table: str | None, query: str | None) -> Origin:
    """The rows of a table or of a query; raise by name for what cannot be read."""
    if (table is None) == (query is None):
        raise InputError(
            "of a database, name either a table or a query", hint='give table="schema.table" or query="SELECT …"'
        )
    with connected(address.url) as connection, translating():
        connection.execute("RESET search_path")
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if table is None:
            text, plain = (query or "").strip().rstrip(";"), None
        else:
            name, alone = _found(connection, table)
            text, plain = f"SELECT * FROM {name}", name if alone else None
        return Origin(address, text, described_as(connection, text), plain=plain)


def read_rows(origin: Origin) -> pa.Table:
    """All rows, as one moment and the role that connects see them; nothing is written."""
    with connected(origin.address.url) as connection, translating():
        connection.execute("RESET search_path")
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        rows = copied_out(connection, origin.text)
    _check_same(rows.schema, origin)
    return rows


def different(origin: Origin, name: str, most: int | None) -> pa.Table:
    """The different values of a column, or the first that are found."""
    query = SQL("SELECT DISTINCT {} FROM ({}\n) AS rows_to_read{}").format(
        Identifier(name), SQL(origin.text), SQL("" if most is None else f" LIMIT {most}")
    )
    with connected(origin.address.url) as connection, translating():
        connection.execute("RESET search_path")
        return copied_out(connection, query.as_string(connection))


def session(connection: psycopg.Connection[tuple[Any, ...]], origin: Origin, name: str) -> Postgres:
    """An engine inside the transaction of a connection, to which the rows are known as `name`, and stay where they are.

    Beside its columns each row has its `place`, by which one transaction finds it again. Rows are seen through a
    temporary view, whose names mean what they mean to the role that connects; those of a query are kept in a temporary
    table, since one with LIMIT, or chance, would find others every time. While they are found, nothing else may be
    written: functions of somebody else's view run with the rights of the role that connects.
    """
    found, source = f"SELECT * FROM ({origin.text}\n) AS rows_to_read", origin.kept
    with translating():
        [(path,)] = connection.execute("SELECT current_setting('search_path')").fetchall()
        connection.execute("SET LOCAL search_path TO DEFAULT")
        if origin.plain is not None:
            place = Identifier(origin.place).as_string(connection)
            connection.execute(SQL(f"CREATE TEMPORARY VIEW {source} AS SELECT *, ctid AS {place} FROM {origin.plain}"))
        else:
            kept = f"CREATE TEMPORARY TABLE {source} ON COMMIT DROP AS {found} WITH NO DATA"
            connection.execute(SQL(kept), binary=True)
            connection.execute("SAVEPOINT finding")
            connection.execute("SET TRANSACTION READ ONLY")  # until the savepoint is released; but for temporary tables
            connection.execute(SQL(f"INSERT INTO pg_temp.{source} {found}"), binary=True)
            connection.execute("RELEASE SAVEPOINT finding")
        columns = SQL(", ").join(map(Identifier, origin.schema.names)).as_string(connection)
        _check_same(described_as(connection, f"SELECT {columns} FROM pg_temp.{source}"), origin)
        connection.execute("SELECT set_config('search_path', %s, true)", [path])
    engine = Postgres(connection, {})
    lies = exp.column("ctid" if origin.plain is None else origin.place, quoted=True)
    shown = [
        *(exp.column(each, quoted=True) for each in origin.schema.names),
        exp.alias_(lies, origin.place, quoted=True),
    ]
    engine.load(name, exp.select(*shown).from_(exp.table_(source, db="pg_temp", quoted=True)), keep=False)
    return engine


def _check_same(schema: pa.Schema, origin: Origin) -> None:
    if schema != origin.schema:
        raise InputError("the columns of the table changed while it was read", hint="run the same command again")


def _found(connection: psycopg.Connection[Any], table: str) -> tuple[str, bool]:
    """A table as SQL names it, which may be written as in SQL, and whether it is plain.

    Views and foreign tables are tables, too. Where rows have policies, functions may decide which of them are seen; and
    where tables are parts of others, two rows may have the same place. To see a place takes the right to all columns.
    """
    missing = InputError(
        f"there is no table `{table}` in the database, or your role may not see it",
        hint="name it as `schema.table`, with capitals in double quotes; `\\dt *.*` in psql lists them",
    )
    named = """
        SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname), c.relkind::text,
            c.relrowsecurity OR c.relhassubclass OR NOT has_table_privilege(c.oid, 'SELECT')
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.oid = to_regclass(%s)
    """
    try:
        found = connection.execute(named, [table]).fetchall()
    except psycopg.Error:
        raise missing from None
    if not found:
        raise missing
    [(name, kind, other)] = found
    return str(name), str(kind) in PLAIN and not other
