"""Spark's functions of columns for a frame as it is: a classic session's, or Connect's.

Spark chooses between the two by the environment of the process, which need not be what a frame is of: one process may
hold both.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def functions(frame: Any) -> Any:
    """The module of functions that a frame takes."""
    return import_module("pyspark.sql.connect.functions" if _is_of_connect(frame) else "pyspark.sql.functions")


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _is_of_connect(frame: Any) -> bool:
    return "connect" in type(frame).__module__
