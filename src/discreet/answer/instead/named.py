"""Names that SQL takes only in double quotes, where a question has them without: `Kosten €`, `order`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from discreet.release.summary import in_sql

PLAIN = re.compile(r"[^\W\d]\w*")
WRITTEN = r"""'(?:[^']|'')*'|"(?:[^"]|"")*\""""  # texts and names that stand in quotes already


def odd(names: Iterable[str]) -> list[str]:
    """The names that need quotes, the longest first; letters of any script need none."""
    found = (name for name in names if in_sql(name) != name and (not PLAIN.fullmatch(name) or name.isascii()))
    return sorted(found, key=len, reverse=True)


def in_quotes(sql: str, names: Iterable[str]) -> str:
    """A question with quotes around the names that need them."""
    known = {" ".join(name.lower().split()): name for name in odd(names)}
    if not known:
        return sql
    spaced = (r"\s+".join(map(re.escape, name.split())) for name in known if name)
    bare = re.compile(rf"(?<![\w\"])(?P<name>{'|'.join(spaced)})(?![\w\"])(?!\s+by\b)|{WRITTEN}", re.IGNORECASE)

    def replaced(found: re.Match[str]) -> str:
        name = found["name"]
        return found[0] if name is None else in_sql(known[" ".join(name.lower().split())])

    return bare.sub(replaced, sql)
