"""Spark's functions of columns for a frame as it is: a classic session's, or Connect's.

Spark chooses between the two by the environment of the process, which need not be what a frame is of: one process may
hold both.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from pyspark.sql.pandas.functions import arrow_udf
from pyspark.util import PythonEvalType


def functions(frame: Any) -> Any:
    """The module of functions that a frame takes."""
    return import_module("pyspark.sql.connect.functions" if _is_of_connect(frame) else "pyspark.sql.functions")


def function(frame: Any, made: Callable[..., Any], type_: Any) -> Any:
    """A function over arrays of Arrow, which executors run."""
    if not _is_of_connect(frame):
        return arrow_udf(made, type_)  # type: ignore[call-overload]
    from pyspark.sql.connect.udf import _create_udf

    return _create_udf(made, type_, PythonEvalType.SQL_SCALAR_ARROW_UDF)


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _is_of_connect(frame: Any) -> bool:
    return "connect" in type(frame).__module__
