"""Let a refusal say what to write instead, if there is a question that would be answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pyarrow as pa

from discreet.answer.estimators.columns import is_number
from discreet.answer.instead import Shown, instead
from discreet.answer.instead.named import in_quotes, odd
from discreet.answer.question.question import ENDS
from discreet.answer.sealed import NotComputedError, Sealed
from discreet.answer.ways import Asked, Ways
from discreet.errors import QueryError
from discreet.release.summary import in_sql

LONGEST = 10_000  # characters; for what is longer, nobody wants to read another


@contextmanager
def advised(sealed: Sealed, ways: Ways, asked: Asked) -> Iterator[None]:
    """Around the reading and answering of a question."""
    try:
        yield
    except QueryError as error:
        read = ways.bounded(asked)
        if len(asked.sql) > LONGEST or (read and not isinstance(error, NotComputedError)):
            raise  # in the second case it is not the question that was refused
        names = (*sealed.promise.columns, sealed.promise.table)
        sql, hint = in_quotes(asked.sql, names), error.hint
        if sql != asked.sql:
            hint = f"write names with spaces or other signs in double quotes, such as {in_sql(odd(names)[0])}"
        try:
            found = instead(sql, _shown(sealed, ways, asked), partial(_answered, ways, asked))
        except KeyboardInterrupt:  # time is up: no advice, but what was wrong
            found = ""
        raise QueryError(error.message, hint=hint, instead=found) from None


def _answered(ways: Ways, asked: Asked, sql: str) -> bool:
    """Whether a question would be answered with bounds, which are the same by every estimator."""
    if not ways.bounded(replace(asked, sql=sql)):
        return False
    try:
        ways.read(replace(asked, sql=sql, wanted="even")).answer()
    except QueryError:
        return False
    return True


def _shown(sealed: Sealed, ways: Ways, asked: Asked) -> Shown:
    promise, types = sealed.promise, sealed.statistics.types
    alone = () if promise.sensitive is None else ((promise.sensitive,),)
    blocks = asked.matches.blocks or (tuple(promise.quasi), *alone)
    numbers = frozenset(name for name, kind in types.items() if is_number(kind))
    dates = frozenset(name for name, kind in types.items() if pa.types.is_date(kind) or pa.types.is_timestamp(kind))
    plain = Asked("", promise, asked.matches, hurry=asked.hurry)
    return Shown(promise.table, promise.sensitive, blocks, numbers, partial(_figure, ways, plain), dates)


def _figure(ways: Ways, asked: Asked, sql: str) -> float | None:
    """What a question of one figure tells, if it is exact."""
    try:
        found = ways.read(replace(asked, sql=sql)).answer().table
    except QueryError:
        return None
    single = found.num_rows == 1 and found.num_columns == len(ENDS)
    low, high = (found.column(at)[0].as_py() for at in (2, 3)) if single else (None, None)
    return float(low) if low is not None and low == high else None
