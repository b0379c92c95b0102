"""A session of Spark, to read only: queries carry with them the relations that they are made of.

Files are views of a session that stands beside the user's, and what plans make of them is written in front of every
query that speaks of it, as WITH. Rows of this process that are made known stay here: queries about them alone are run
here, and for other queries they are sent. Only SQL and frames of Spark run, nothing of Java's and no Python on the
executors, so that a session of Connect will do, and executors need no `discreet`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import RLock

import pyarrow as pa
from pyspark.sql import SparkSession
from sqlglot import exp

from discreet.engines.carried import carrying, needed, spoken_of
from discreet.engines.dialect import check_sqlglot, sql_type
from discreet.engines.duckdb import DuckDB
from discreet.engines.engine import Relation
from discreet.engines.spark.dialect import Dialect
from discreet.engines.spark.errors import translating
from discreet.engines.spark.files import check_types, fetched, scanned, sent
from discreet.engines.spark.session import beside, is_connect
from discreet.engines.spark.words import quoted
from discreet.errors import EngineError, InputError, InternalError
from discreet.values.written import PLAIN, Csv

MOST = 1_000_000  # rows of this process that are sent with a question


class Spark:
    """A session beside that of the user, which goes on as it was."""

    dialect = Dialect
    carries = True

    def __init__(self, session: SparkSession) -> None:
        check_sqlglot()
        self._lock = RLock()
        self._session = beside(session)
        self._here: set[str] = set()
        self._sent: set[str] = set()
        self._views: set[str] = set()
        self._known: dict[str, Relation] = {}
        self.opened: list[exp.Expr] = []
        self._sealed = False

    @cached_property
    def _beside(self) -> DuckDB:
        """Where rows of this process are kept."""
        return DuckDB()

    def written(self, query: exp.Expr, tables: Mapping[str, Relation] | None = None) -> str:
        if not isinstance(query, exp.Query):
            raise EngineError("the session is sealed: it reads, and does nothing else")
        known = {**self._known, **{name: each for name, each in (tables or {}).items() if name not in self._views}}
        wanted = needed(query, known, self._here)
        found = carrying(query, {name: known[name] for name in known if name in wanted})
        self._check_known(found)
        sql: str = found.sql(dialect=self.dialect, pretty=True, identify=True)
        return sql

    def _check_known(self, query: exp.Expr) -> None:
        """Raise for what is neither a file of the release nor made of it: Spark would read any path by its name."""
        named = {each.alias for each in query.find_all(exp.CTE)} | self._views | self._here
        for table in query.find_all(exp.Table):
            if table.db or not isinstance(table.this, exp.Identifier) or table.name not in named:
                raise EngineError("the session is sealed: it reads the release, and nothing else")

    def run(self, query: exp.Expr | str) -> pa.Table:
        if not isinstance(query, str):
            names = spoken_of(query)
            if names & self._here and not names & (self._known.keys() | self._views):
                return self._beside.run(query)
            query = self.written(query)
        self._send(name for name in self._here if quoted(name) in query)
        with self._lock, translating():
            return fetched(self._session.sql(query))

    def _send(self, names: Iterable[str]) -> None:
        """Let Spark see rows of this process."""
        for name in sorted({*names} - self._sent):
            rows = self._beside.run(exp.select("*").from_(exp.table_(name, quoted=True)))
            if len(rows) > MOST:
                raise EngineError(f"more than {MOST:,} rows cannot be sent to Spark with a question")
            self._show(name, rows)
            self._sent.add(name)

    def _show(self, name: str, rows: pa.Table) -> None:
        """Rows as a view; their types are said, since Spark would give times a zone."""
        taken = sent(rows)
        columns = [
            exp.ColumnDef(this=exp.to_identifier(each.name, quoted=True), kind=sql_type(each.type))
            for each in taken.schema
        ]
        schema = ", ".join(column.sql(dialect=self.dialect) for column in columns)
        with self._lock, translating():
            self._session.createDataFrame(taken, schema).createOrReplaceTempView(quoted(name))

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
            self._known.pop(name, None)
            self._sent.discard(name)
            self._here.add(name)
        elif not isinstance(source, exp.Expr):
            self._attach(name, [source] if isinstance(source, Path) else source, kinds)
        elif (spoken := spoken_of(source)) and spoken <= self._here:
            self._beside.load(name, source, keep=keep)
            self._sent.discard(name)
            self._here.add(name)
        elif name not in self._views:
            self._known.pop(name, None)  # it stands behind those that it is made of
            self._known[name] = Relation(source.copy(), keep)

    def _attach(self, name: str, paths: Sequence[Path], kinds: Mapping[str, str] | None = None) -> None:
        """Make files, the parts of one table, known as `name`; CSV files are read here, and sent."""
        if self._sealed:
            raise EngineError("the session is sealed: it reads the release, and nothing else")
        for path in paths:
            if not path.is_file():
                raise InputError(f"there is no file `{path.name}`")
        if all(path.suffix == ".csv" for path in paths):
            rows = self._beside.run(exp.select("*").from_(self._beside.scan(paths, kinds)))
            self._show(name, rows)
        else:
            for path in paths:
                check_types(path)
            view = _view(name, paths)
            with self._lock, translating():
                self._session.sql(view.sql(dialect=self.dialect, identify=True))
            self.opened.append(view)
        self._views.add(name)

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
        raise InternalError("files are views of the session")

    def store(self, query: exp.Expr, path: Path) -> None:
        raise InternalError("files are written by an engine of this process")

    def schema(self, name: str) -> pa.Schema:
        return self.run(exp.select("*").from_(exp.table_(name, quoted=True)).limit(0)).schema

    def seal(self, files: Iterable[Path] = ()) -> None:
        """Nothing is opened from now on; queries reach what was."""
        self._sealed = True

    def interrupt(self) -> None:
        self._session.interruptAll()  # those of this session, which no one else has

    def close(self) -> None:
        with self._lock, suppress(Exception):  # Spark may have ended before
            for name in self._views | self._sent:
                self._session.catalog.dropTempView(name)
            if is_connect(self._session):
                self._session.stop()  # gives up the session beside, and not the user's
        if "_beside" in self.__dict__:
            self._beside.close()


def _view(name: str, paths: Sequence[Path]) -> exp.Create:
    temporary = exp.Properties(expressions=[exp.TemporaryProperty(), *scanned(paths)])
    return exp.Create(this=exp.table_(name, quoted=True), kind="VIEW", replace=True, properties=temporary)
