"""Where a release or a table is: a path, or the URL of a database, of which no password is ever printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

RELEASE = "The folder of a release, or postgresql://host/database#release."
ENGINE = "Where a folder is read: duckdb, or spark (the server that SPARK_REMOTE names, or one that is started here)."
PUBLISHING = (
    "Where rows are grouped: duckdb, or spark (the server that SPARK_REMOTE names, or one that is started here)."
)


def place(text: str) -> Any:
    """What an argument names."""
    from discreet.engines.address import Address

    return Address.of(text) or (text if "://" in text else Path(text))  # a path would lose a slash
