"""Check the blocks of a release from its files: each has as many rows of every group as there are people in it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp, parse_one

from discreet.engines import Engine
from discreet.release.layouts.file import named
from discreet.release.verify.check import Check, check

UNLIKE = """
    SELECT COUNT(*) FROM "values of groups" AS people
    FULL JOIN :groups AS rows_of_block ON people.grp = rows_of_block.grp
    WHERE people.size IS DISTINCT FROM rows_of_block.size
"""


def same_sizes(engine: Engine, files: Sequence[str]) -> Check:
    """Compare the groups of each file with those of the sensitive values; both were counted."""
    wrong = None
    for name in files:
        query = parse_one(UNLIKE, dialect="duckdb")
        found = exp.replace_placeholders(query, groups=named(f"{name} groups"))
        unlike = int(engine.run(found).column(0)[0].as_py())
        if unlike:
            wrong = f"{unlike} groups have another size in `{name}` than in `st`"
            break
    return check("blocks", wrong, "every block has a row for each person of a group")
