"""Check a joined release from its files: boxes hold enough people, and room for the sensitive values beside them."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp, parse_one

from discreet.engines import Engine
from discreet.release.layouts.file import column
from discreet.release.manifest import Join, Promise
from discreet.release.verify.check import Check, check


def joined(engine: Engine, promise: Promise) -> Iterator[Check]:
    """Where private rows hide among public ones, groups of rows must be large, and each in one sensitive group."""
    join = promise.member(Join, "join")
    k, own = int(promise.guarantee.get("k", 0)), column(join.group)
    query = parse_one(JOINED.format(k=k), dialect="duckdb", into=exp.Select)
    found = engine.run(exp.replace_placeholders(query, group=column(promise.group), own=own))
    rows, groups, first, last, odd, small, several, parts, few = (int(c[0].as_py() or 0) for c in found.columns)
    wrong = None
    if (rows, groups, first, last) != (promise.rows, promise.groups, 1, promise.groups) or odd:
        wrong = "the manifest counts other rows or groups than the files hold"
    elif several or parts != join.groups or few or (join.variant == "direct" and parts > 1):
        wrong = "rows and sensitive values name different groups, or a sensitive group has fewer rows than values"
    yield check("join", wrong, "every group of rows is in one sensitive group, and has room for its values")
    fault = f"{small} groups break it" if small or k < 2 else None
    yield check(f"rows k = {k}", fault, f"every box holds at least {k} people, private or public")


JOINED = """
    SELECT SUM(size), COUNT(*), MIN(grp), MAX(grp), COUNT(*) FILTER (WHERE grp <> FLOOR(grp)),
           COUNT(*) FILTER (WHERE size < {k}), COUNT(*) FILTER (WHERE parts <> 1 OR told < size),
           COUNT(DISTINCT part),
           (SELECT COUNT(*) FROM (SELECT grp, SUM(n) AS size FROM st GROUP BY grp) AS s
            LEFT JOIN (SELECT :own AS grp, COUNT(*) AS size, COUNT(DISTINCT :group) AS boxes
                       FROM qit GROUP BY :own) AS q ON q.grp = s.grp
            WHERE q.size IS NULL OR q.size < s.size OR q.boxes > s.size)
    FROM (SELECT :group AS grp, COUNT(*) AS size, COUNT(DISTINCT :own) AS parts, COUNT(:own) AS told,
                 MIN(:own) AS part
          FROM qit GROUP BY :group) AS groups
"""
