"""An embedded database in memory, that reads and writes files itself."""

from __future__ import annotations

import itertools
import re
import weakref
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from threading import RLock

import duckdb
import pyarrow as pa
from sqlglot import exp

from discreet.engines.dialect import check_sqlglot
from discreet.engines.duckdb.dialect import Dialect
from discreet.engines.duckdb.errors import translating
from discreet.engines.duckdb.files import copy, pattern, scan
from discreet.engines.engine import Relation
from discreet.engines.nameless import Nameless
from discreet.errors import EngineError, InputError
from discreet.scratch import Scratch, temporary
from discreet.values.written import PLAIN, Csv

REMEMBERED = 256  # prepared statements
BLOCKS = "duckdb_temp_*storage*.tmp"  # spilled; what is larger than a block is opened again by its name, and keeps it


class DuckDB:
    """An in-memory database with a private folder to spill to."""

    dialect = Dialect
    carries = False
    opened: list[exp.Expr] = []  # noqa: RUF012 - nobody adds to it

    def __init__(self, *, memory_limit: str | None = None, groups: int = 0, private: bool = False) -> None:
        check_sqlglot()
        self._statements: dict[str, str] = {}
        self._lock = RLock()  # a connection does one thing at a time, whatever threads ask of it
        self._numbers = itertools.count()
        try:
            folder = temporary()
        except OSError:
            raise EngineError("there is no room for temporary files", hint="make room, or set TMPDIR") from None
        spill = folder.path / "spilled"
        nameless = Nameless(spill, BLOCKS, folder.path / "empty") if private else None
        self._sweep = weakref.finalize(self, _removed, folder, nameless)
        with translating():
            self._connection = duckdb.connect(
                config={
                    "autoinstall_known_extensions": "false",
                    "autoload_known_extensions": "false",
                    "temp_directory": str(spill),
                    "preserve_insertion_order": "true",
                    # groups are dense integers: count them in an array rather than a hash table
                    "perfect_ht_threshold": str(min(max((groups + 2).bit_length(), 12), 22)),
                }
            )
            self._connection.execute("SET enable_progress_bar = false")
            self._connection.execute("SET TimeZone = 'UTC'")  # the steward's own zone must not show
        if memory_limit is not None:
            try:
                if not re.fullmatch(r"\d+(\.\d+)? ?[KMGT]i?B", memory_limit):
                    raise duckdb.ParserException
                self._connection.execute("SET memory_limit = ?", [memory_limit])
            except duckdb.Error:
                self.close()
                raise InputError(
                    f"`{memory_limit}` is not a memory limit", hint="write it like `4GB` or `500MB`"
                ) from None

    def written(self, query: exp.Expr, tables: Mapping[str, Relation] | None = None) -> str:  # noqa: ARG002
        return query.sql(dialect=self.dialect, pretty=True)

    def run(self, query: exp.Expr | str) -> pa.Table:
        with self._lock, translating():
            return self._connection.sql(
                self._prepared(query) if isinstance(query, str) else self._sql(query)
            ).to_arrow_table()

    def _prepared(self, sql: str) -> str:
        """The statement that executes a query which is planned only once."""
        if sql not in self._statements:
            while len(self._statements) >= REMEMBERED:
                oldest = self._statements.pop(next(iter(self._statements)))
                self._connection.execute(oldest.replace("EXECUTE", "DEALLOCATE"))
            name = f"statement_{next(self._numbers)}"
            self._connection.execute(f"PREPARE {name} AS {sql}")
            self._statements[sql] = f"EXECUTE {name}"
        return self._statements[sql]

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
        with self._lock:  # all of it: `source` is one name for all rows that are copied in
            if isinstance(source, pa.Table | pa.RecordBatchReader):
                with translating():
                    self._connection.register("source" if keep else name, source)
                if not keep:
                    return
                rows: exp.Expr = exp.select("*").from_("source")
            elif isinstance(source, exp.Expr):
                rows = source
            else:
                files = [source] if isinstance(source, Path) else source
                if (absent := next((file for file in files if not file.is_file()), None)) is not None:
                    raise InputError(f"there is no file `{absent.name}`")
                rows = exp.select("*").from_(self.scan(files, kinds, texts, csv))
            kind = "TABLE" if keep else "VIEW"
            self._execute(exp.Create(this=_named(name), kind=kind, expression=rows, replace=True))
            if isinstance(source, pa.Table | pa.RecordBatchReader):
                with translating():
                    self._connection.unregister("source")

    def forget(self, name: str) -> None:
        with self._lock, translating():
            self._connection.unregister(name)

    def store(self, query: exp.Expr, path: Path) -> None:
        self._execute(copy(query, path))

    def scan(
        self,
        files: Sequence[Path],
        kinds: Mapping[str, str] | None = None,
        texts: Collection[str] = (),
        csv: Csv = PLAIN,
    ) -> exp.Table:
        return scan(files, kinds, texts, csv)

    def schema(self, name: str) -> pa.Schema:
        return self.run(exp.select("*").from_(_named(name)).limit(0)).schema

    def seal(self, files: Iterable[Path] = ()) -> None:
        # a path is asked for both as a file and as the pattern that `scan` makes of it
        paths = {name for file in files for name in (str(file), pattern(file))}
        readable = exp.array(*map(exp.Literal.string, sorted(paths)))
        with self._lock, translating():
            self._connection.execute(f"SET allowed_paths = {self._sql(readable)}")
            self._connection.execute("SET enable_external_access = false")
            self._connection.execute("SET lock_configuration = true")

    def interrupt(self) -> None:
        self._connection.interrupt()  # without the lock, which the query holds

    def close(self) -> None:
        with self._lock:  # after an interrupt, a thread may still be at its query
            self._connection.close()
        self._sweep()

    def _execute(self, statement: exp.Expr) -> None:
        with self._lock, translating():
            self._connection.execute(self._sql(statement))

    def _sql(self, query: exp.Expr | str) -> str:
        return query if isinstance(query, str) else query.sql(dialect=self.dialect)


def _removed(folder: Scratch, nameless: Nameless | None) -> None:
    if nameless is not None:
        nameless.stop()
    folder.remove()


def _named(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))
