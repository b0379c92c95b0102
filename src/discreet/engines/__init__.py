"""Engines: databases that hold tables and run queries. One folder per engine, with the same file names in each."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from discreet.engines.address import Address
from discreet.engines.engine import Engine
from discreet.errors import InputError, MissingExtraError

__all__ = [
    "ENGINES",
    "Address",
    "Engine",
    "assigner_of",
    "connect",
    "connect_to",
    "ledger_of",
    "questions_of",
    "session_in",
    "source_of",
    "spark_at_hand",
    "spark_of",
    "store_of",
]


if TYPE_CHECKING:
    from discreet.engines.postgres import Postgres


class _Opening(Protocol):
    def __call__(self, *, memory_limit: str | None, groups: int, private: bool) -> Engine: ...


def _duckdb(*, memory_limit: str | None, groups: int, private: bool) -> Engine:
    from discreet.engines.duckdb import DuckDB  # a driver takes its time to load: only the one that is used

    return DuckDB(memory_limit=memory_limit, groups=groups, private=private)


ENGINES: dict[str, _Opening] = {"duckdb": _duckdb}


def connect(name: str = "duckdb", *, memory_limit: str | None = None, groups: int = 0, private: bool = False) -> Engine:
    """A fresh engine of the given name; `groups` is how many a release has, when it is to be queried.

    What an engine of `private` rows spills to disk has no name there, where the system can do that.
    """
    if name not in ENGINES:
        raise InputError(f"unknown engine `{name}`", hint=f"the engines are: {', '.join(ENGINES)}")
    return ENGINES[name](memory_limit=memory_limit, groups=groups, private=private)


def connect_to(address: Address, tables: Mapping[str, tuple[str, str]]) -> Engine:
    """A session with a server, to read only; `tables` of it, by schema and name, are known under names of their own."""
    store_of(address)
    from discreet.engines.postgres import Postgres
    from discreet.engines.postgres.engine import connected

    connection = connected(address.url)
    engine = Postgres(connection, tables)
    weakref.finalize(engine, _closed, connection, os.getpid())  # whoever forgets to
    return engine


def _closed(connection: Any, process: int) -> None:
    """Close a connection, but not that of a parent process."""
    if os.getpid() == process:
        connection.close()


def session_in(connection: Any, tables: Mapping[str, tuple[str, str]]) -> Postgres:
    """The same inside the transaction of a connection."""
    from discreet.engines.postgres import Postgres

    return Postgres(connection, tables)


def spark_of(engine: Any, *, memory_limit: str | None = None) -> Engine:
    """A session of Spark, to read only: beside that of the user's own, or of the one that `"spark"` means."""
    with spark_at_hand():
        from discreet.engines.spark import Spark, started
    return Spark(started(memory_limit) if engine == "spark" else engine)


@contextmanager
def spark_at_hand() -> Iterator[None]:
    """Around imports that need Spark: say what to install if it is not there."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in {"pyspark", "py4j"}:
            raise
        raise MissingExtraError("pyspark is not installed", hint="pip install 'discreet[spark]'") from None


def store_of(address: Address) -> ModuleType:
    """How the server of an address keeps folders as schemas."""
    return _part(address, "store")


def source_of(address: Address) -> ModuleType:
    """How rows of the server of an address are found."""
    return _part(address, "source")


def assigner_of(address: Address) -> ModuleType:
    """How rows are given groups in the server of an address."""
    return _part(address, "assign")


def ledger_of(address: Address) -> ModuleType:
    """How the server of an address keeps tables that are changed again and again."""
    return _part(address, "ledger")


def questions_of(address: Address) -> ModuleType:
    """How questions are stored with a release in the server of an address."""
    return _part(address, "questions")


def _part(address: Address, name: str) -> ModuleType:  # noqa: ARG001 - there is one kind of server
    try:
        return import_module(f"discreet.engines.postgres.{name}")
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "psycopg":
            raise
        raise MissingExtraError("psycopg is not installed", hint="pip install 'discreet[postgres]'") from None
