"""An embedded database in memory, that reads and writes files itself."""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
from sqlglot import exp

from discreet.engines.delimited import delimiter
from discreet.errors import DiscreetError, EngineError, InputError

REMEMBERED = 256  # prepared statements

# The types of a Data Package's fields, for CSV files whose manifest tells them.
TYPES = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "boolean": "BOOLEAN",
    "string": "VARCHAR",
    "date": "DATE",
    "datetime": "TIMESTAMP",
    "time": "TIME",
}


class DuckDB:
    """An in-memory database with a private folder to spill to."""

    dialect = "duckdb"

    def __init__(self, *, memory_limit: str | None = None, groups: int = 0) -> None:
        self._statements: dict[str, str] = {}
        self._numbers = itertools.count()
        try:
            spill = tempfile.mkdtemp(prefix="discreet-")
        except OSError:
            raise EngineError("there is no room for temporary files", hint="make room, or set TMPDIR") from None
        self._sweep = weakref.finalize(self, shutil.rmtree, spill, ignore_errors=True)
        with _translating():
            self._connection = duckdb.connect(
                config={
                    "autoinstall_known_extensions": "false",
                    "autoload_known_extensions": "false",
                    "temp_directory": spill,
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

    def run(self, query: exp.Expr | str) -> pa.Table:
        with _translating():
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
        source: pa.Table | Path | exp.Expr,
        *,
        keep: bool = True,
        kinds: Mapping[str, str] | None = None,
        texts: Collection[str] = (),
    ) -> None:
        if isinstance(source, pa.Table):
            with _translating():
                self._connection.register("source" if keep else name, source)
            if not keep:
                return
            rows: exp.Expr = exp.select("*").from_("source")
        elif isinstance(source, Path):
            if not source.is_file():
                raise InputError(f"there is no file `{source.name}`")
            rows = exp.select("*").from_(self.scan(source, kinds, texts))
        else:
            rows = source
        kind = "TABLE" if keep else "VIEW"
        self._execute(exp.Create(this=_named(name), kind=kind, expression=rows, replace=True))
        if isinstance(source, pa.Table):
            with _translating():
                self._connection.unregister("source")

    def store(self, query: exp.Expr, path: Path) -> None:
        options = {"format": "parquet", "compression": "zstd"} if path.suffix == ".parquet" else {"format": "csv"}
        parameters = [exp.CopyParameter(this=exp.var(key), expression=exp.var(options[key])) for key in options]
        target = exp.Literal.string(str(path))
        self._execute(exp.Copy(this=exp.Subquery(this=query), kind=False, files=[target], params=parameters))

    def scan(self, path: Path, kinds: Mapping[str, str] | None = None, texts: Collection[str] = ()) -> exp.Table:
        # Brackets in a path would be read as a pattern of file names.
        place = exp.Literal.string(re.sub(r"([*?\[])", r"[\1]", str(path)))
        if path.suffix.lower() == ".parquet":
            return exp.Table(this=exp.Anonymous(this="read_parquet", expressions=[place]))
        # Only the types are guessed, from every row: a guessed layout would skip lines that do not fit it.
        options: dict[str, exp.Expr] = {
            "header": exp.true(),
            "skip": exp.Literal.number(0),
            "delim": exp.Literal.string(delimiter(path) if kinds is None else ","),
            "quote": exp.Literal.string('"'),
            "escape": exp.Literal.string('"'),
            "comment": exp.Literal.string(""),
            "dateformat": exp.Literal.string("%Y-%m-%d"),  # 01/02/2020 may be either: it stays text
            "sample_size": exp.Literal.number(-1),
            "allow_quoted_nulls": exp.false(),  # "" is an empty string, an empty field is missing
        }
        if kinds is None and texts:
            options["types"] = _typed(dict.fromkeys(texts, "VARCHAR"))
        if kinds is not None:
            options["columns"] = _typed({column: TYPES[kind] for column, kind in kinds.items()})
            options["auto_detect"] = exp.false()
            del options["sample_size"]
        settings = [exp.EQ(this=exp.column(key), expression=value) for key, value in options.items()]
        return exp.Table(this=exp.Anonymous(this="read_csv", expressions=[place, *settings]))

    def schema(self, name: str) -> dict[str, str]:
        columns = self.run(exp.Describe(this=_named(name)))
        return dict(zip(columns["column_name"].to_pylist(), columns["column_type"].to_pylist(), strict=True))

    def seal(self) -> None:
        with _translating():
            self._connection.execute("SET enable_external_access = false")
            self._connection.execute("SET lock_configuration = true")

    def close(self) -> None:
        self._connection.close()
        self._sweep()

    def _execute(self, statement: exp.Expr) -> None:
        with _translating():
            self._connection.execute(self._sql(statement))

    def _sql(self, query: exp.Expr | str) -> str:
        return query if isinstance(query, str) else query.sql(dialect=self.dialect)


def _typed(columns: Mapping[str, str]) -> exp.Struct:
    pairs = ((exp.Literal.string(name), exp.Literal.string(kind)) for name, kind in columns.items())
    return exp.Struct(expressions=[exp.PropertyEQ(this=name, expression=kind) for name, kind in pairs])


def _named(name: str) -> exp.Table:
    return exp.Table(this=exp.to_identifier(name, quoted=True))


@contextmanager
def _translating() -> Iterator[None]:
    """Around every call of the driver: an interrupt may reach any of them."""
    try:
        yield
    except (duckdb.Error, RuntimeError) as error:  # the second when interrupted
        raise _translated(error) from None


def _translated(error: duckdb.Error | RuntimeError) -> DiscreetError:
    """Our error for one of DuckDB's: never with the rows and values that it likes to quote."""
    text = str(error)
    if isinstance(error, duckdb.InterruptException) or "interrupted" in text.lower():
        raise KeyboardInterrupt
    if "CSV Error" in text or "sniffing file" in text:
        line = re.search(r"Line: (\d+)", text)
        return InputError(f"line {line[1]} cannot be read as CSV" if line else "it cannot be read as CSV")
    if isinstance(error, duckdb.OutOfMemoryException):
        return EngineError("the engine ran out of memory", hint="give it more with `memory_limit`, like `8GB`")
    if "No space left" in text or "max_temp_directory_size" in text:
        return EngineError("the disk is full; nothing was published", hint="make room and run the same command again")
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException | duckdb.ParserException):
        # found before any row is read; names of our own tables and columns say nothing to a user
        wrong = re.sub(r"'[^']*'|\"[^\"]*\"", "…", text.splitlines()[0].partition(": ")[2])
        return EngineError(wrong[:200])
    return EngineError(next(say for kind, say in FAULTS.items() if isinstance(error, kind)))


# Never the driver's own words: they quote rows and values.
FAULTS: dict[type[Exception], str] = {
    duckdb.ConversionException: "a value cannot be converted to the type that was asked for",
    duckdb.OutOfRangeException: "a number is too large, or not defined",
    duckdb.IOException: "a file cannot be read or written",
    duckdb.PermissionException: "the engine is sealed: no files, no network, no settings",
    Exception: "the database engine cannot do that",
}
