"""Read a policy file, remembering the line on which each key stands, and write one."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.errors import InputError, Mistake, PolicyError
from discreet.values.toml import as_toml, toml_key

WHOLE_TABLES = ("hierarchies", "accept", "csv", "excel", "about")  # the keys of others stand in one line


def parse(path: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """The values of a TOML file, and the line of every key (`guarantee.l` for a key of a table).

    Of a key that stands in a comment, as `discreet init` suggests it, the line is told too: as `#quasi`.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"there is no policy file `{path}`", hint="check the path and the spelling") from None
    except (OSError, ValueError) as error:
        raise InputError(f"the policy file `{path}` cannot be read: {type(error).__name__}") from None
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        wrong = Mistake("TOML", str(error), int(at[1]) if at else None)
        raise PolicyError([wrong], source=f"`{path}`") from None
    except RecursionError:
        raise PolicyError([Mistake("TOML", "it is nested too deeply")], source=f"`{path}`") from None
    return values, _lines(text)


def _lines(text: str) -> dict[str, int]:
    lines: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[\s*([\w.-]+)\s*\]", line):
            table = f"{header[1]}."
            lines.setdefault(header[1], number)
        elif suggested := re.match(r"#\s*([\w-]+)\s*=", line):
            lines.setdefault(f"#{suggested[1]}", number)
        elif key := re.match(r"\s*([\w-]+|\"[^\"]+\"|'[^']+')\s*(\.\s*[\w-]+)?\s*=", line):
            name = key[1].strip("\"'") + (key[2] or "").replace(" ", "")
            lines.setdefault(table + name, number)
            for inner in re.findall(r"([\w-]+)\s*=", line)[1:]:  # an inline table: its keys stand on the same line
                lines.setdefault(f"{name}.{inner}", number)
    return lines


def written(values: Mapping[str, Any]) -> str:
    """The text of a policy file with these values: first what stands in a line, then the tables."""
    lines = [f"{key} = {as_toml(value)}" for key, value in values.items() if key not in WHOLE_TABLES]
    for table in (table for table in WHOLE_TABLES if values.get(table)):
        lines += ["", f"[{table}]", *(f"{toml_key(key)} = {as_toml(value)}" for key, value in values[table].items())]
    return "\n".join(lines) + "\n"


def store(path: Path, text: str) -> None:
    """Write a policy file, but never over another one."""
    try:
        if path.exists() and path.read_text(encoding="utf-8") == text:
            return
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(
            f"`{path}` exists already", hint="a policy is never overwritten: choose another name, or remove it"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(f"`{path}` cannot be written: {reason}", hint="choose another place") from None
