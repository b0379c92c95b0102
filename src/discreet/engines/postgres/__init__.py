"""PostgreSQL, a server of one's own: for tables and releases that live in a database."""

from __future__ import annotations

from discreet.engines.postgres.engine import Postgres

__all__ = ["Postgres"]
