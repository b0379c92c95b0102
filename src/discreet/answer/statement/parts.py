"""Aggregates as parts: what FILTER, COUNT_IF, CASE and an OR across both sides come to, written with core aggregates.

A condition is cut into disjoint conjunctions, each of which a core question can have: A OR B is A, or else B where A is
not true. COUNT and SUM over the pieces add up, MIN is the least of them, AVG is a sum over a count. A CASE whose
conditions look at both sides is its values over the pieces in which each branch is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import islice
from typing import Literal, TypeAlias, TypeVar

from sqlglot import exp

from discreet.answer.question.grammar import check_scalar
from discreet.answer.question.refusals import refusal, shown
from discreet.answer.statement.arithmetic import SUMMED
from discreet.answer.statement.statement import Level, Part
from discreet.errors import QueryError

MOST_PIECES = 24
Some = TypeVar("Some")
Wanted: TypeAlias = Literal["true", "untrue", "false", "unfalse"]
Mixed: TypeAlias = Callable[[exp.Expr], bool]
Piece: TypeAlias = tuple[exp.Expr, ...]  # conditions that must all be true
ADDED = (exp.Count, exp.Sum)


@dataclass(frozen=True)
class Parts:
    """The parts of one SELECT, by name, as they are found; `mixed` says whether an expression looks at both sides."""

    mixed: Mixed
    found: dict[str, Part]
    names: dict[Part, str] = field(default_factory=dict)

    def column(self, level: Level, aggregate: exp.Expr) -> exp.Expr:
        """A part as a column."""
        part = Part(level, aggregate)
        if part not in self.names:
            self.names[part] = f"part_{len(self.found)}"
            self.found[self.names[part]] = part
        return exp.column(self.names[part], quoted=True)

    def read(self, node: exp.Expr, levels: Sequence[Level]) -> exp.Expr:
        """An aggregate, perhaps with FILTER, over rows of some levels, as an expression over parts."""
        if isinstance(node, exp.Filter):
            condition = node.expression.this
            return self.read(node.this, self.where(levels, condition))
        if isinstance(node, exp.CountIf):
            return self._combined(exp.Count(this=exp.Star()), self.where(levels, node.this))
        if isinstance(node, exp.WithinGroup):
            return self._combined(_quantile(node), levels)
        argument = node.this
        if isinstance(argument, exp.Expr):
            bare = argument.unnest()
            flag = bare.this.unnest() if isinstance(bare, exp.Cast) else bare
            if isinstance(flag, exp.Predicate) and isinstance(bare, exp.Cast):
                bare = exp.Case(
                    ifs=[exp.If(this=flag.copy(), true=exp.Literal.number(1))], default=exp.Literal.number(0)
                )
            if isinstance(bare, exp.Case | exp.If) and self.mixed(bare):
                return self._cases(node, bare, levels)
        return self._combined(node, levels)

    def where(self, levels: Sequence[Level], condition: exp.Expr, wanted: Wanted = "true") -> list[Level]:
        """The levels with one more condition."""
        pieces = _few(self.pieces(condition, wanted))
        return _few(replace(level, where=(*level.where, *piece)) for level in levels for piece in pieces)

    def pieces(self, condition: exp.Expr, wanted: Wanted = "true") -> Iterator[Piece]:
        """Disjoint conjunctions that together say that a condition is true, or what else is wanted."""
        node = condition.unnest()
        if isinstance(node, exp.Not):
            turned: dict[Wanted, Wanted] = {"true": "false", "untrue": "unfalse", "false": "true", "unfalse": "untrue"}
            if self.mixed(node):
                yield from self.pieces(node.this, turned[wanted])
                return
        if isinstance(node, exp.And | exp.Or) and (
            self.mixed(node) or (isinstance(node, exp.And) and wanted == "true")
        ):
            yield from self._connected(node, wanted)
            return
        check_scalar(node)
        yield (_leaf(node, wanted),)

    def _connected(self, node: exp.Expr, wanted: Wanted) -> Iterator[Piece]:
        every = isinstance(node, exp.And) == (wanted in {"true", "unfalse"})
        if every:  # both must be so
            yield from _both(self.pieces(node.this, wanted), _few(self.pieces(node.expression, wanted)))
            return
        opposite: dict[Wanted, Wanted] = {"true": "untrue", "untrue": "true", "false": "unfalse", "unfalse": "false"}
        yield from self.pieces(node.this, wanted)
        yield from _both(self.pieces(node.this, opposite[wanted]), _few(self.pieces(node.expression, wanted)))

    def _combined(self, node: exp.Expr, levels: Sequence[Level]) -> exp.Expr:
        """An aggregate over levels whose rows are different ones."""
        if len(levels) == 1:
            return self.column(levels[0], node)
        if isinstance(node, ADDED) and not isinstance(node.this, exp.Distinct):
            several = [self.column(level, node) for level in levels]
            if isinstance(node, exp.Count):
                return _added(several)
            return _summed(self._combined(exp.Count(this=node.this.copy()), levels), map(_or_zero, several))
        if isinstance(node, exp.Min | exp.Max):
            first, *rest = (self.column(level, node) for level in levels)
            return (exp.Least if isinstance(node, exp.Min) else exp.Greatest)(this=first, expressions=rest)
        if isinstance(node, exp.Avg) and not isinstance(node.this, exp.Distinct):
            total, number = (self._combined(kind(this=node.this.copy()), levels) for kind in (exp.Sum, exp.Count))
            return exp.Paren(
                this=exp.Div(this=total, expression=exp.Nullif(this=number, expression=exp.Literal.number(0)))
            )
        raise QueryError(
            f"`{shown(node)}` under a condition that joins both sides by OR has no bounds",
            hint="ask for it under each side of the OR by itself; COUNT, SUM, AVG, MIN and MAX can be asked as it is",
        )

    def _cases(self, node: exp.Expr, case: exp.Expr, levels: Sequence[Level]) -> exp.Expr:
        """An aggregate of a CASE that looks at both sides."""
        taken = [each for each in self._taken(case, levels) if not isinstance(each[0], exp.Null) and each[1]]
        if isinstance(node, exp.Avg):
            total, number = (self._cases(kind(this=case), case, levels) for kind in (exp.Sum, exp.Count))
            return exp.Paren(
                this=exp.Div(this=total, expression=exp.Nullif(this=number, expression=exp.Literal.number(0)))
            )
        found: list[exp.Expr] = []
        for value, here in taken:
            constant = value.find(exp.Column) is None
            if isinstance(node, exp.Count):
                counted = exp.Count(this=exp.Star()) if constant else exp.Count(this=value.copy())
                found.append(self._combined(counted, here))
            elif isinstance(node, exp.Sum) and constant:
                count = self._combined(exp.Count(this=exp.Star()), here)
                found.append(exp.Mul(this=exp.Paren(this=value.copy()), expression=count))
            elif isinstance(node, exp.Sum):
                found.append(_or_zero(self._combined(exp.Sum(this=value.copy()), here)))
            elif isinstance(node, exp.Min | exp.Max) and not constant:
                found.append(self._combined(type(node)(this=value.copy()), here))
            else:
                raise refusal(node)
        if isinstance(node, exp.Sum):
            return _summed(self._cases(exp.Count(this=case), case, levels), found)
        if isinstance(node, exp.Min | exp.Max) and found:
            first, *rest = found
            return (
                (exp.Least if isinstance(node, exp.Min) else exp.Greatest)(this=first, expressions=rest)
                if rest
                else first
            )
        return _added(found)

    def _taken(self, case: exp.Expr, levels: Sequence[Level]) -> Iterator[tuple[exp.Expr, list[Level]]]:
        """The values of a CASE, and the levels of the rows that take them."""
        if isinstance(case, exp.If):
            branches, last = [(case.this, case.args["true"])], case.args.get("false")
        else:
            subject = case.this
            branches = [
                (each.this if subject is None else exp.EQ(this=subject.copy(), expression=each.this), each.args["true"])
                for each in case.args["ifs"]
            ]
            last = case.args.get("default")
        left = list(levels)
        for condition, value in branches:
            yield value.unnest(), self.where(left, condition)
            left = self.where(left, condition, "untrue")
        if last is not None:
            yield last.unnest(), left


def _few(several: Iterable[Some]) -> list[Some]:
    found = [*islice(several, MOST_PIECES + 1)]
    if len(found) > MOST_PIECES:
        raise QueryError(
            f"conditions that join both sides by OR come to more than {MOST_PIECES} alternatives",
            hint="ask for some of the alternatives at a time",
        )
    return found


def _leaf(node: exp.Expr, wanted: Wanted) -> exp.Expr:
    if wanted == "true":
        return node.copy()
    said = exp.Is(this=exp.Paren(this=node.copy()), expression=exp.Boolean(this=wanted == "untrue"))
    if wanted == "false":
        return exp.Is(this=exp.Paren(this=node.copy()), expression=exp.Boolean(this=False))
    return exp.Not(this=said) if wanted == "untrue" else exp.Not(this=_leaf(node, "false"))


def _quantile(node: exp.WithinGroup) -> exp.Expr:
    """PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x) as QUANTILE_CONT(x, p), which survives being written again."""
    order = node.expression.expressions
    plain = isinstance(node.this, exp.PercentileCont | exp.PercentileDisc) and len(order) == 1
    if not plain or order[0].args.get("desc"):
        raise refusal(node.this)
    kind = exp.PercentileCont if isinstance(node.this, exp.PercentileCont) else exp.PercentileDisc
    return kind(this=order[0].this.copy(), expression=node.this.this.copy())


def _both(one: Iterator[Piece], other: list[Piece]) -> Iterator[Piece]:
    for a in one:
        for b in other:
            yield (*a, *b)


def _added(several: Iterable[exp.Expr]) -> exp.Expr:
    found = [*several] or [exp.Literal.number(0)]
    return exp.Paren(this=reduce(lambda a, b: exp.Add(this=a, expression=b), found))


def _summed(number: exp.Expr, several: Iterable[exp.Expr]) -> exp.Expr:
    """A sum over pieces, missing where nobody is in any of them."""
    anybody = exp.GT(this=number, expression=exp.Literal.number(0))
    found = exp.Case(ifs=[exp.If(this=anybody, true=_added(several))])
    found.meta[SUMMED] = True
    return found


def _or_zero(node: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=node, expressions=[exp.Literal.number(0)])
