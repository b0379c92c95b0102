"""Values as TOML writes them: the other half of the standard library's `tomllib`, which only reads."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping
from typing import Any

from discreet.errors import InputError

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def as_toml(value: Any) -> str:
    """A text, number, truth value, date, list or table in a line.

    Claim: toml_reads_what_was_written — `tomllib` gives the same value back.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case int() | float():
            return repr(value)  # also `inf` and `nan`, which TOML spells alike
        case dt.date() | dt.time():
            return value.isoformat()
        case Mapping():
            return "{ " + ", ".join(f"{toml_key(key)} = {as_toml(each)}" for key, each in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(map(as_toml, value)) + "]"
    raise InputError(f"TOML has no way to write a {type(value).__name__}", hint="keep it in Python")


def toml_key(key: Any) -> str:
    """A key, in quotes where it needs them."""
    return key if isinstance(key, str) and _BARE.fullmatch(key) else as_toml(str(key))
