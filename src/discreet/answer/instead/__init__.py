"""What to write instead: a question that is refused, rewritten until the release answers it.

Each rewrite is one idea: a tree in, another out, or nothing where it does not apply. They are tried one by one, and
if none is enough, two and three together. A question is offered only if the release would answer it.
Cost: at most `MOST` questions are read and planned, and those that could be are run, which is seldom more than one.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.answer.instead.apart import by_columns, disjoint, filtered
from discreet.answer.instead.clauses import fewer, flat, keyed, meant, plain, totals, unpivoted
from discreet.answer.instead.constants import written
from discreet.answer.instead.functions import listed, replaced, several, unwindowed
from discreet.answer.instead.joined import joined
from discreet.answer.instead.rows import counted, counts, different, filled, uncompared, unconditioned, unpaired
from discreet.answer.instead.shown import Rewrite, Shown

__all__ = ["REWRITES", "Shown", "instead"]

# Those first that change a question least.
REWRITES: tuple[Rewrite, ...] = (
    meant,
    written,
    flat,
    keyed,
    filled,
    joined,
    filtered,
    replaced,
    several,
    totals,
    unpivoted,
    disjoint,
    listed,
    unwindowed,
    by_columns,
    unpaired,
    uncompared,
    different,
    counted,
    fewer,
    plain,
    unconditioned,
    counts,
)
MOST, DEEPEST = 40, 3


def instead(sql: str, shown: Shown, answered: Callable[[str], bool]) -> str:
    """A question in place of one that was refused, which the release answers; "" if none was found."""
    try:
        [first, *others] = [each for each in sqlglot.parse(sql, dialect="duckdb") if each is not None]
    except (SqlglotError, RecursionError, ValueError):
        return ""
    alone = first.sql(dialect="duckdb")
    if answered(sql):
        return sql  # names got their quotes
    if others and answered(alone):
        return alone
    tried = {sql}
    level = [first]
    for _ in range(DEEPEST):
        following: list[exp.Expr] = []
        for tree in level:
            for rewrite in REWRITES:
                found = rewrite(tree, shown)
                text = "" if found is None else found.sql(dialect="duckdb")
                if found is None or text in tried or len(tried) > MOST:
                    continue
                tried.add(text)
                if answered(text):
                    return text
                following.append(found)
        level = following
    return ""
