"""Engines: databases that hold tables and run queries. One folder per engine, with the same file names in each."""

from __future__ import annotations

from typing import Protocol

from discreet.engines.engine import Engine
from discreet.errors import InputError

__all__ = ["ENGINES", "Engine", "connect"]


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
