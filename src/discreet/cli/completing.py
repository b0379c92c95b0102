"""What may be written next at the prompt: words of SQL, columns, values of a column after a quote, commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from discreet.release.summary import in_sql
from discreet.visible import STEERING

WORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "OFFSET", "AS", "AND", "OR", "NOT", "IN"),
    *("BETWEEN", "LIKE", "IS NULL", "IS NOT NULL", "CASE", "WHEN", "THEN", "ELSE", "END", "ASC", "DESC", "DISTINCT"),
    *("COUNT(*)", "COUNT(", "SUM(", "AVG(", "MIN(", "MAX(", "MEDIAN(", "QUANTILE(", "FILTER (WHERE"),
)
# A text in quotes, a name in quotes, a plain word; the last of them may be open
PIECE = re.compile(r"""'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|[^\W\d]\w*""")


@dataclass(frozen=True, slots=True)
class Completion:
    """Completes a question about a table with these `columns`; `values` says which texts a column may hold."""

    tables: Sequence[str]
    columns: Sequence[str]
    values: Callable[[str], Sequence[str]]
    commands: Sequence[str]
    estimators: Sequence[str]

    def of(self, before: str) -> tuple[int, list[str]]:
        """Where the piece before the cursor starts in a question or command, and what it may become."""
        line = before.rpartition("\n")[2]
        if command := re.match(r"\s*([.\\]\w*)(\s+)?(\w*)$", line):
            if command[2] is None:
                return len(before) - len(command[1]), _fitting(command[1], self.commands)
            known = self.estimators if command[1] == ".estimator" else ()
            return len(before) - len(command[3]), _fitting(command[3], known)
        pieces = [*PIECE.finditer(before)]
        last = pieces.pop() if pieces and pieces[-1].end() == len(before) else None
        if last is None:
            return len(before), []
        start, typed = last.start(), last[0]
        if typed.startswith("'"):
            column = self._column(piece[0] for piece in reversed(pieces))
            known = () if column is None or _closed(typed) else self.values(column)
            return start, _fitting(typed, [_quoted(value, "'") for value in known])
        if typed.startswith('"'):
            known = () if _closed(typed) else (*self.columns, *self.tables)
            return start, _fitting(typed, [_quoted(name, '"') for name in known])
        words = [word.lower() for word in WORDS] if typed.islower() else WORDS
        return start, _fitting(typed, [*map(in_sql, (*self.columns, *self.tables)), *words])

    def _column(self, pieces: Iterable[str]) -> str | None:
        """The column that was named last."""
        by_name = {name.lower(): name for name in self.columns}
        for piece in pieces:
            name = piece[1:-1].replace('""', '"') if piece.startswith('"') else piece
            if name.lower() in by_name:
                return by_name[name.lower()]
        return None


def _fitting(typed: str, known: Iterable[str]) -> list[str]:
    """What starts with what was typed; nothing that would steer a terminal."""
    start = typed.lower()
    return [
        each
        for each in known
        if each.lower().startswith((start, f'"{start}')) and not STEERING.search(each) and "\n" not in each
    ]


def _closed(typed: str) -> bool:
    return len(typed) > 1 and typed.endswith(typed[0])


def _quoted(text: str, sign: str) -> str:
    return sign + text.replace(sign, sign * 2) + sign
