"""The few verbs discreet needs of a database, the same on every engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from discreet.values.written import PLAIN, Csv

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import Dialect, exp


class Relation(NamedTuple):
    """A query to be laid down under a name: its rows are kept, or it is computed wherever it is used."""

    query: exp.Expr
    keep: bool


class Engine(Protocol):
    """A database that holds tables and runs queries written as sqlglot trees."""

    carries: bool  # whether a query carries with it the relations that it is made of, which are made nowhere

    @property
    def opened(self) -> list[exp.Expr]:
        """The statements that make files known to a session before queries that carry all else; none elsewhere."""
        ...

    @property
    def dialect(self) -> type[Dialect]:
        """How it writes a tree as SQL, the words of `engines/dialect.py` among its nodes."""
        ...

    def written(self, query: exp.Expr, tables: Mapping[str, Relation] | None = None) -> str:
        """The SQL that runs a query, once `tables` that it speaks of were made known."""
        ...

    def run(self, query: exp.Expr | str) -> pa.Table:
        """Run one query, a tree or the SQL that was written from one, and return its rows."""
        ...

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
        """Make `source` (rows, a CSV file, Parquet files, or a query) known as `name`; copy it in if `keep`.

        `kinds` are the Data Package's words for a CSV file's columns where they are known; else types are guessed, but
        for `texts`, and the file is written as `csv` says. What a reader holds can be read once.
        """
        ...

    def forget(self, name: str) -> None:
        """Let go of rows that were made known as `name` and not copied, if there are any."""
        ...

    def scan(
        self,
        files: Sequence[Path],
        kinds: Mapping[str, str] | None = None,
        texts: Collection[str] = (),
        csv: Csv = PLAIN,
    ) -> exp.Table:
        """What stands in FROM to read a CSV file, or the rows of Parquet files one after another."""
        ...

    def store(self, query: exp.Expr, path: Path) -> None:
        """Write the rows of a query to a Parquet or CSV file, in their order."""
        ...

    def schema(self, name: str) -> pa.Schema:
        """The columns of `name` and the types that their values have when they are read, in order."""
        ...

    def seal(self, files: Iterable[Path] = ()) -> None:
        """Give up all files but these, network and settings for good; what is loaded can still be queried."""
        ...

    def interrupt(self) -> None:
        """Stop the query that is running, if any, from another thread: it raises `KeyboardInterrupt`."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
