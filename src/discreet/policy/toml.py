"""Read a policy file, remembering the line on which each key stands."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from discreet.errors import InputError, Mistake, PolicyError


def parse(path: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """The values of a TOML file, and the line of every key (`guarantee.l` for a key of a table)."""
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
        elif key := re.match(r"\s*([\w-]+|\"[^\"]+\"|'[^']+')\s*(\.\s*[\w-]+)?\s*=", line):
            name = key[1].strip("\"'") + (key[2] or "").replace(" ", "")
            lines.setdefault(table + name, number)
            for inner in re.findall(r"([\w-]+)\s*=", line)[1:]:  # an inline table: its keys stand on the same line
                lines.setdefault(f"{name}.{inner}", number)
    return lines
