"""Files as DuckDB reads and writes them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from sqlglot import exp

from discreet.engines.dialect import sql_type
from discreet.engines.duckdb.dialect import Dialect
from discreet.engines.separators import separator_of
from discreet.values.columns import ARROW
from discreet.values.written import Csv


def copy(query: exp.Expr, path: Path) -> exp.Copy:
    """The statement that writes the rows of a query to a file."""
    options = {"format": "parquet", "compression": "zstd"} if path.suffix == ".parquet" else {"format": "csv"}
    parameters = [exp.CopyParameter(this=exp.var(key), expression=exp.var(options[key])) for key in options]
    target = exp.Literal.string(str(path))
    return exp.Copy(this=exp.Subquery(this=query), kind=False, files=[target], params=parameters)


def pattern(path: Path) -> str:
    """The pattern of file names that fits this path only: brackets in it would be read as one of many."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def scan(files: Sequence[Path], kinds: Mapping[str, str] | None, texts: Collection[str], csv: Csv) -> exp.Table:
    """What stands in FROM to read files; see `Engine.load`."""
    path, places = files[0], [exp.Literal.string(pattern(file)) for file in files]
    place = places[0] if len(places) == 1 else exp.array(*places)
    if path.suffix.lower() == ".parquet":
        return exp.Table(this=exp.Anonymous(this="read_parquet", expressions=[place]))
    # Only the types are guessed, from every row: a guessed layout would skip lines that do not fit it.
    separator = csv.separator or (separator_of(path) if kinds is None else ",")
    options: dict[str, exp.Expr] = {
        "header": exp.true(),
        "skip": exp.Literal.number(0),
        "delim": exp.Literal.string(separator),
        "quote": exp.Literal.string('"'),
        "escape": exp.Literal.string('"'),
        "comment": exp.Literal.string(""),
        "dateformat": exp.Literal.string(csv.date_format),
        "sample_size": exp.Literal.number(-1),
        "allow_quoted_nulls": exp.Boolean(this=csv.missing_quoted),  # or "" is an empty string, an empty field missing
    }
    if path.suffix.lower() == ".gz":
        options["compression"] = exp.Literal.string("gzip")
    if csv.decimal != ".":
        options["decimal_separator"] = exp.Literal.string(csv.decimal)
    if csv.missing:
        options["nullstr"] = exp.array(*map(exp.Literal.string, dict.fromkeys(("", *csv.missing))))
    if kinds is None and texts:
        options["types"] = _typed(dict.fromkeys(texts, pa.string()))
    if kinds is not None:
        options["columns"] = _typed({column: ARROW[word] for column, word in kinds.items()})
        options["auto_detect"] = exp.false()
        options["new_line"] = exp.Literal.string("\\n")  # else a name that holds `\r` is taken for the end of a line
        del options["sample_size"]
    settings = [exp.EQ(this=exp.column(key), expression=value) for key, value in options.items()]
    return exp.Table(this=exp.Anonymous(this="read_csv", expressions=[place, *settings]))


def _typed(columns: Mapping[str, pa.DataType]) -> exp.Struct:
    types = {name: sql_type(type_).sql(dialect=Dialect) for name, type_ in columns.items()}
    pairs = ((exp.Literal.string(name), exp.Literal.string(type_)) for name, type_ in types.items())
    return exp.Struct(expressions=[exp.PropertyEQ(this=name, expression=type_) for name, type_ in pairs])
