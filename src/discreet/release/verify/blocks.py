"""Check the blocks of a release from its files: each has as many rows of every group as there are people in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp, parse_one

from discreet.engines import Engine
from discreet.release.layouts.file import column, named
from discreet.release.manifest import Promise
from discreet.release.verify.check import Check, check

UNLIKE = """
    SELECT COUNT(*) FROM (SELECT grp, SUM(n) AS size FROM st GROUP BY grp) AS people
    FULL JOIN (SELECT :group AS grp, COUNT(*) AS size FROM :file GROUP BY :group) AS rows_of_block
      ON people.grp = rows_of_block.grp
    WHERE people.size IS DISTINCT FROM rows_of_block.size
"""


def same_sizes(engine: Engine, promise: Promise, files: Sequence[str]) -> Iterator[Check]:
    """Compare the groups of each file with those of `st`, which is loaded."""
    wrong = None
    for name in files:
        query = parse_one(UNLIKE, dialect="duckdb")
        found = exp.replace_placeholders(query, group=column(promise.group), file=named(f"{name} file"))
        unlike = int(engine.run(found).column(0)[0].as_py())
        if unlike:
            wrong = f"{unlike} groups have another size in `{name}` than in `st`"
            break
    yield check("blocks", wrong, "every block has a row for each person of a group")
