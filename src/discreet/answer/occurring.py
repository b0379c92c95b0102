"""Constants of a question that the release shows nowhere: said in a note, with the nearest values that it shows.

`sex = 'female'` matches nobody where the release has `Female`; the answer is right, and hardly what was meant.
Only plain comparisons of a column with constants are looked at. All values are those of the release, which are public.
Cost: for each column that a question compares, once a session, one pass; then a look into a set.
"""

from __future__ import annotations

import difflib
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any, TypeAlias

import pyarrow as pa
from sqlglot import exp

from discreet.answer.latest import Latest
from discreet.answer.question.question import Question
from discreet.answer.shown import source_of
from discreet.engines.dialect import sql_type
from discreet.release.layouts.file import column
from discreet.release.manifest import Manifest

MOST, LOOKED_AT = 100_000, 200_000  # values that are held, and rows that tell whether there are so many
SPELLED, NEAREST = 5_000, 3  # values whose spelling is compared, and those that are named
TOLD = 5  # constants in one answer
REMEMBERED = 256  # questions
SAME = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ)
ABOVE, BELOW = (exp.GT, exp.GTE), (exp.LT, exp.LTE)

Run: TypeAlias = Callable[[exp.Expr], pa.Table]


@dataclass(frozen=True)
class Known:
    """What a column holds: its `values` in order, or only the least and the most of what it may hold."""

    values: tuple[Any, ...] | None
    low: Any = None
    high: Any = None

    @cached_property
    def every(self) -> frozenset[Any]:
        return frozenset(self.values or ())

    def lacks(self, constant: Any) -> bool:
        """Whether a constant is certainly none of them."""
        if self.values is not None:
            return constant not in self.every
        return self.low is not None and not self.low <= constant <= self.high

    def near(self, constant: Any) -> list[Any]:
        """The values that may have been meant: spelled much alike, or the next ones of an order."""
        values = self.values or ()
        if not isinstance(constant, str):
            at = bisect(values, constant)
            return list(values[max(at - 1, 0) : at + 1])
        folded = {value.casefold(): value for value in reversed(values)}
        if constant.casefold() in folded:
            return [folded[constant.casefold()]]
        stripped = constant.casefold().strip()
        some = [folded] if len(values) <= SPELLED else [{key: each for key, each in folded.items() if stripped in key}]
        close = difflib.get_close_matches(stripped, list(some[0])[:SPELLED], NEAREST, 0.6)
        return [folded[each] for each in close]


@dataclass(frozen=True)
class Occurring:
    """What the columns of one release hold, looked up when a question first compares them."""

    manifest: Manifest
    types: Mapping[str, pa.DataType]
    run: Run
    known: dict[str, Known] = field(default_factory=dict)
    said: Latest[int, tuple[Question, tuple[str, ...]]] = field(default_factory=lambda: Latest(REMEMBERED))

    def notes(self, question: Question) -> tuple[str, ...]:
        """Say which constants of a question no row of the release has; of one that is asked again, without looking."""
        asked, notes = self.said.get(id(question), (None, ()))
        if asked is not question:  # a number is another's once its question is forgotten
            notes = tuple(self._notes(question))
            self.said[id(question)] = question, notes
        return notes

    def _notes(self, question: Question) -> Iterator[str]:
        found = [*(key.expression for key in question.keys), *(each.argument for each in question.aggregates)]
        expressions = [each for each in (*question.where.values(), *found) if each is not None]
        told = list(dict.fromkeys(note for each in expressions for note in self._of(each)))
        yield from told[:TOLD]
        if len(told) > TOLD:
            yield f"{len(told) - TOLD} more constants of the question do not occur in the release"

    def _of(self, expression: exp.Expr) -> Iterator[str]:
        for node in expression.find_all(*SAME, *ABOVE, *BELOW, exp.In):
            name, constants = _compared(node)
            for each in constants if name else ():
                yield from self._told(name, each, node)

    def _told(self, name: str, literal: exp.Expr, node: exp.Expr) -> Iterator[str]:
        type_ = self.types.get(name)
        constant = None if type_ is None else _value(literal, type_)
        if constant is None:
            return
        known = self._looked_up(name)
        if not known.lacks(constant):
            return
        shown = literal.sql(dialect="duckdb")
        ends = known.values or (known.low, known.high)
        number = not isinstance(constant, str)
        if isinstance(node, (*ABOVE, *BELOW)):  # of a range, only an end that leaves nothing in it
            beyond = number and (constant > ends[-1] if isinstance(node, ABOVE) else constant < ends[0])
        else:
            beyond = number and not ends[0] <= constant <= ends[-1]
        if beyond:
            yield f"`{name}` goes from {ends[0]} to {ends[-1]} in the release: {shown} lies beyond"
        elif not isinstance(node, (*ABOVE, *BELOW)):
            near = [f"'{each}'" if isinstance(each, str) else str(each) for each in known.near(constant)]
            meant = f"the nearest: {', '.join(near)}" if near else "nor one that is spelled nearly so"
            yield f"`{name}` has no value {shown} in the release; {meant}"

    def _looked_up(self, name: str) -> Known:
        if name not in self.known:
            self.known[name] = self._look(name)
        return self.known[name]

    def _look(self, name: str) -> Known:
        source = source_of(self.manifest, name)
        if len(source.expressions) == 2:  # boxes; one that may hold anything has no ends
            low, high = (each.alias_or_name for each in source.expressions)
            counts = [exp.Count(this=column(low)), exp.Count(this=exp.Star())]
            ends = exp.select(exp.Min(this=column(low)), exp.Max(this=column(high)), *counts)
            least, most, some, every = (
                each[0].as_py() for each in self.run(ends.from_(source.subquery("all"))).columns
            )
            return Known(None, least, most) if some == every else Known(None)
        value = exp.alias_(exp.cast(column("value"), sql_type(self.types[name])), "value")  # labels have texts
        source = exp.select(value).from_(source.subquery("shown"))
        value = column("value")
        some = exp.select(exp.Count(this=exp.Distinct(expressions=[value.copy()])))
        few = self.run(some.from_(source.copy().limit(LOOKED_AT).subquery("some"))).column(0)[0].as_py() <= MOST
        present = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
        query = exp.select(value.copy()).distinct().from_(source.copy().subquery("all")).where(present)
        found = self.run(query.limit(MOST + 1)).column(0).to_pylist() if few else []
        if 0 < len(found) <= MOST:
            return Known(tuple(sorted(found)))
        ends = exp.select(exp.Min(this=value.copy()), exp.Max(this=value)).from_(source.subquery("all"))
        least, most = (each[0].as_py() for each in self.run(ends).columns)
        return Known(None) if isinstance(least, str) else Known(None, least, most)


def _compared(node: exp.Expr) -> tuple[str, list[exp.Expr]]:
    """The column that is compared, and the constants; no column if it is something else."""
    if isinstance(node, exp.In):
        others = node.expressions
    else:
        others = [node.expression]
        if isinstance(node, SAME) and not isinstance(node.this.unnest(), exp.Column):
            node = exp.EQ(this=node.expression.copy(), expression=node.this.copy())
            others = [node.expression]
    this = node.this.unnest()
    if not isinstance(this, exp.Column):
        return "", []
    return this.name, [each.unnest() for each in others]


def _value(literal: exp.Expr, type_: pa.DataType) -> Any:
    """A constant as a value of a column's type; None where that is not plain."""
    inner = literal.this if isinstance(literal, exp.Cast) else literal
    negative = isinstance(inner, exp.Neg)
    inner = inner.this if negative else inner
    if not isinstance(inner, exp.Literal):
        return None
    text = f"-{inner.this}" if negative else inner.this
    try:
        if pa.types.is_floating(type_):
            return None if inner.is_string else float(text)
        if pa.types.is_integer(type_) or pa.types.is_decimal(type_):
            return None if inner.is_string else Decimal(text)
        if pa.types.is_string(type_) or pa.types.is_large_string(type_):
            return text if inner.is_string else None
        if pa.types.is_date(type_) and inner.is_string:
            return pa.scalar(text).cast(type_).as_py()
    except (ValueError, InvalidOperation, pa.ArrowException):
        pass
    return None
