"""Which values are harmless, and how large a share of a group one value has, checked from the files alone.

What is promised of sensitive values is then promised of those that are not harmless, in every group: their rows alone
are counted, and a group without any breaks the promise.
"""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from discreet.engines import Engine
from discreet.release.harmless import harmless_values
from discreet.release.manifest import Promise
from discreet.release.verify.check import Check, check

SPARING = {"l", "distinct_l", "e"}  # promises that harmless values are no part of
OTHERS = "value IS NULL OR value NOT IN (SELECT harmless.value FROM harmless)"
ABSENT = "SELECT COUNT(*) AS n FROM harmless WHERE harmless.value NOT IN (SELECT value FROM st WHERE NOT value IS NULL)"


def out_of_place(promise: Promise) -> str | None:
    """What a manifest tells of these though it cannot."""
    sparing = SPARING & promise.guarantee.keys() and promise.person is None
    if promise.harmless is not None and not (promise.harmless and sparing):
        return "its `harmless` is empty, or not for what it promises, or beside a `person`"
    if promise.largest_share is not None and "e" not in promise.guarantee:
        return "its `largest_share` is told of another guarantee than k and e"
    return None


def spare(engine: Engine, promise: Promise, type_: pa.DataType) -> str | None:
    """Make the harmless values known to the engine; say what is wrong with them."""
    if promise.harmless is None:
        return None
    try:
        values = harmless_values(promise.harmless, type_)
    except ValueError as error:
        return f"the manifest names {error}"
    engine.load("harmless", pa.table({"value": values}))
    [[absent]] = engine.run(exp.maybe_parse(ABSENT, dialect="duckdb", into=exp.Select)).to_pydict().values()
    return "the manifest names harmless values that no row holds" if absent else None


def largest_share(promise: Promise, parts: int) -> Check:
    """Whether the manifest tells the largest share, which is so many parts of 10,000; older ones tell none."""
    told = promise.largest_share
    wrong = None if told is None or told == parts / 10_000 else "it is not the one that follows from the files"
    who = "those who hold no harmless value" if promise.harmless else "a group"
    return check("largest share", wrong, f"one value has at most {parts / 100:.2f} % of {who}")
