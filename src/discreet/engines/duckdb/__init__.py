"""DuckDB: the embedded engine. The only folder that imports the driver."""

from __future__ import annotations

from discreet.engines.duckdb.engine import DuckDB

__all__ = ["DuckDB"]
