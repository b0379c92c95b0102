"""A session with a PostgreSQL server, to read only: queries carry with them the relations that they are made of.

Nothing is created in the server, so that SELECT is the only right that is needed, and one statement is all that is run:
what is made known by `load` is written in front of every query that speaks of it, as WITH. Rows of this process
that are made known stay here: queries about them alone are run here, and into other queries they are written as VALUES.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any

import psycopg
import pyarrow as pa
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from sqlglot import exp

from discreet.engines.carried import carrying, needed, spoken_of
from discreet.engines.dialect import check_sqlglot, sql_type
from discreet.engines.duckdb import DuckDB
from discreet.engines.engine import Relation
from discreet.engines.postgres.dialect import Dialect
from discreet.engines.postgres.errors import translating
from discreet.engines.postgres.files import columns_of, copied_in, copied_out, fetched
from discreet.errors import EngineError, InputError, InternalError
from discreet.values.written import PLAIN, Csv

OLDEST = 140_000  # the server's version
LONGEST = 63  # bytes of a name: the server would cut off the rest
MOST = 100_000  # rows of this process that are sent within a query
MINUTES = 10  # that a statement may take, if this process cannot stop it
SETTINGS = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "client_encoding": "UTF8",
    "search_path": "pg_catalog",
    "statement_timeout": f"{MINUTES}min",
    "lock_timeout": "2min",
    "jit": "off",
    "work_mem": "64MB",
    "parallel_setup_cost": "100",  # rows lie in the order of their groups: counted side by side, few groups meet
    "parallel_tuple_cost": "0.01",
}
LOST: dict[str, Any] = {
    "keepalives_idle": 60,
    "keepalives_interval": 10,
    "keepalives_count": 6,
}  # when a network is taken for gone
WRITING = {  # where a release is made, once in a while
    "default_transaction_read_only": "off",
    "statement_timeout": "0",
    "work_mem": "256MB",
    "maintenance_work_mem": "256MB",
    "temp_buffers": "128MB",
}


def connected(url: str, *, write: bool = False) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection as the URL, PG* variables, service and password files say, with settings that answers rest on."""
    with translating():
        given = conninfo_to_dict(url)
        lost = {name: value for name, value in LOST.items() if name not in given}
        connection = psycopg.connect(url, autocommit=True, prepare_threshold=None, application_name="discreet", **lost)
    try:
        check_version(connection.info.server_version)
        settings = {**SETTINGS, **(WRITING if write else {"default_transaction_read_only": "on"})}
        with translating():
            for name, value in settings.items():
                connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", [name, value])
            with suppress(psycopg.errors.InvalidParameterValue):  # not every system can tell
                connection.execute("SET client_connection_check_interval = '2s'")  # whoever is gone waits for no answer
    except BaseException:
        connection.close()
        raise
    return connection


def check_version(version: int) -> None:
    if version < OLDEST:
        raise EngineError(
            f"the server is PostgreSQL {version // 10_000}, and the oldest that will do is {OLDEST // 10_000}",
            hint="ask whoever runs it to upgrade it",
        )


class Postgres:
    """A read-only session; `tables` of the server, each by its schema and name, are known under names of their own."""

    dialect = Dialect
    carries = True
    opened: list[exp.Expr] = []  # noqa: RUF012 - nobody adds to it

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]], tables: Mapping[str, tuple[str, str]]) -> None:
        check_sqlglot()
        self._lock = RLock()  # a connection does one thing at a time, whatever threads ask of it
        self._here: set[str] = set()
        self._there = frozenset(tables)  # nobody says anew what they are
        self._known: dict[str, Relation] = {
            name: Relation(exp.select("*").from_(exp.table_(table, db=schema, quoted=True)), keep=False)
            for name, (schema, table) in tables.items()
        }
        self._connection = connection

    @cached_property
    def _beside(self) -> DuckDB:
        """Where rows of this process are kept."""
        return DuckDB()

    def written(self, query: exp.Expr, tables: Mapping[str, Relation] | None = None) -> str:
        if not isinstance(query, exp.Query):
            raise EngineError("the session is sealed: it reads, and does nothing else")
        made = {name: table for name, table in (tables or {}).items() if name not in self._there}
        found = self._carrying(query, {**self._known, **made})
        for name in found.find_all(exp.Identifier):
            check_name(name.this, instead="choose a shorter one, with AS for a column of the answer")
        return found.sql(dialect=self.dialect, pretty=True, identify=True)  # a name may be a word of the server

    def run(self, query: exp.Expr | str) -> pa.Table:
        if not isinstance(query, str):
            names = spoken_of(query)
            if names & self._here and not names & self._known.keys():
                return self._beside.run(query)
            query = self.written(query)
        with self._lock, translating():
            cursor = self._connection.execute(sql.SQL(query), binary=True)
            return fetched(cursor)

    def copied(self, query: exp.Expr) -> pa.Table:
        """The rows of a query that are many."""
        with self._lock, translating():
            return copied_out(self._connection, self.written(query))

    def keep(self, name: str, query: exp.Expr) -> None:
        """Lay the rows of a query down in a temporary table until the end of the transaction."""
        statement = sql.SQL("CREATE TEMPORARY TABLE {} ON COMMIT DROP AS ").format(sql.Identifier(name))
        with self._lock, translating():
            self._connection.execute(statement + sql.SQL(self.written(query)))
        self._known[name] = Relation(exp.select("*").from_(exp.table_(name, db="pg_temp", quoted=True)), keep=False)

    def create(self, schema: str, name: str, query: exp.Expr) -> None:
        """Make a table of the rows of a query, in their order; inside a transaction.

        Rows that are to be in order anyway are counted in that order: the server takes groups of few rows for fewer
        than they are, and would hash them first, and sort what it has hashed.
        """
        statement = sql.SQL("CREATE TABLE {} AS ").format(sql.Identifier(schema, name))
        hashed = "off" if query.args.get("order") else "on"
        with self._lock, translating():
            self._connection.execute("SELECT set_config('enable_hashagg', %s, true)", [hashed])
            self._connection.execute(statement + sql.SQL(self.written(query)))
            self._connection.execute("SELECT set_config('enable_hashagg', 'on', true)")

    def put(self, schema: str, name: str, rows: pa.Table) -> None:
        """Make a table of rows of this process, in their order; inside a transaction."""
        table = sql.Identifier(schema, name)
        with self._lock, translating():
            self._connection.execute(sql.SQL("CREATE TABLE {} ({})").format(table, columns_of(rows.schema)))
            copied_in(self._connection, table, rows)

    def count(self, schema: str, table: str, expression: exp.Expr) -> None:
        """Let the server know how often the values of an expression occur in a table, once that is analyzed."""
        name = sql.Identifier(schema, f"{table}_counted")
        statement = sql.SQL("CREATE STATISTICS {} ON ({}) FROM {}").format(
            name, sql.SQL(expression.sql(dialect=self.dialect, identify=True)), sql.Identifier(schema, table)
        )
        with self._lock, translating():
            self._connection.execute(statement)

    def load(
        self,
        name: str,
        source: pa.Table | pa.RecordBatchReader | Path | Sequence[Path] | exp.Expr,
        *,
        keep: bool = True,
        kinds: Mapping[str, str] | None = None,
        texts: Collection[str] = (),
        csv: Csv = PLAIN,
    ) -> None:
        if isinstance(source, pa.Table | pa.RecordBatchReader):
            self._beside.load(name, source, keep=keep)
            self._here.add(name)
            self._known.pop(name, None)
            return
        if not isinstance(source, exp.Expr):
            raise InternalError("files are read by an engine of this process")
        if name in self._there:
            return
        if (spoken := spoken_of(source)) and spoken <= self._here:
            self._beside.load(name, source, keep=keep)
            self._here.add(name)
            return
        self._known.pop(name, None)  # it stands behind those that it is made of
        self._known[name] = Relation(source.copy(), keep)

    def forget(self, name: str) -> None:
        if name in self._here:
            self._here.remove(name)
            self._beside.forget(name)

    def scan(
        self,
        files: Sequence[Path],
        kinds: Mapping[str, str] | None = None,
        texts: Collection[str] = (),
        csv: Csv = PLAIN,
    ) -> exp.Table:
        raise InternalError("files are read by an engine of this process")

    def store(self, query: exp.Expr, path: Path) -> None:
        raise InternalError("files are written by an engine of this process")

    def schema(self, name: str) -> pa.Schema:
        return self.run(exp.select("*").from_(exp.table_(name, quoted=True)).limit(0)).schema

    def seal(self, files: Iterable[Path] = ()) -> None:
        """Nothing is open but what the role may read."""

    def interrupt(self) -> None:
        self._connection.cancel_safe()  # without the lock, which the query holds

    def close(self) -> None:
        with self._lock:
            self._connection.close()
            if "_beside" in self.__dict__:
                self._beside.close()

    def _carrying(self, query: exp.Expr, known: Mapping[str, Relation]) -> exp.Expr:
        """A query with the relations in front of it that it is made of, in their order."""
        wanted = needed(query, known, self._here)
        sent = {name: Relation(self._values(name), keep=False) for name in sorted(wanted - known.keys())}
        return carrying(query, sent | {name: known[name] for name in known if name in wanted})

    def _values(self, name: str) -> exp.Expr:
        """Rows of this process, spelled out."""
        rows = self._beside.run(exp.select("*").from_(exp.table_(name, quoted=True)))
        if len(rows) > MOST:
            raise EngineError(f"more than {MOST:,} rows cannot be sent to the server with a question")
        types = [sql_type(type_) for type_ in rows.schema.types]
        columns = [exp.to_identifier(column, quoted=True) for column in rows.column_names]
        if not len(rows):
            nothing = [exp.alias_(exp.cast(exp.null(), to), at) for to, at in zip(types, columns, strict=True)]
            return exp.select(*nothing).where(exp.false())
        cells = zip(*(column.cast(pa.string()).to_pylist() for column in rows.columns), strict=True)
        spelled = [
            exp.Tuple(
                expressions=[
                    exp.cast(exp.null() if cell is None else exp.Literal.string(cell), to)
                    for cell, to in zip(row, types, strict=True)
                ]
            )
            for row in cells
        ]
        alias = exp.TableAlias(this=exp.to_identifier("given"), columns=columns)
        return exp.select("*").from_(exp.Values(expressions=spelled, alias=alias))


def check_name(name: str, what: str = "name", instead: str = "choose a shorter one") -> None:
    """Raise for a name of which the server would silently cut off the end."""
    if (length := len(name.encode())) > LONGEST:
        shown = name if len(name) <= LONGEST else f"{name[:40]}…"
        raise InputError(
            f"the {what} `{shown}` has {length} bytes, and names in PostgreSQL have {LONGEST} at most",
            hint=instead,
        )
