"""What a release shows together, and the parts of a statement that say what it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from discreet.answer.question.grammar import conjuncts


@dataclass(frozen=True)
class Shown:
    """A release as rewrites see it: its table, and the blocks of columns of which whole rows are shown."""

    table: str
    sensitive: str | None
    blocks: tuple[tuple[str, ...], ...]
    numbers: frozenset[str]  # the columns that hold numbers
    figure: Callable[[str], float | None] = lambda _: None  # what a question of one figure tells, if it is exact
    dates: frozenset[str] = frozenset()  # the columns that hold dates, or dates with a time

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for block in self.blocks for name in block)

    def block(self, name: str) -> int | None:
        """The number of the block that a column is in; None for a column that is not of the release."""
        found = (at for at, block in enumerate(self.blocks) if name.lower() in {each.lower() for each in block})
        return next(found, None)

    def is_sensitive(self, column: exp.Column) -> bool:
        return self.sensitive is not None and column.name.lower() == self.sensitive.lower()

    def is_number(self, name: str) -> bool:
        return name.lower() in {each.lower() for each in self.numbers}

    def is_date(self, name: str) -> bool:
        return name.lower() in {each.lower() for each in self.dates}

    def mixes(self, expression: exp.Expr) -> bool:
        """Whether columns of several blocks stand in one expression."""
        return len({self.block(column.name) for column in expression.find_all(exp.Column)} - {None}) > 1


Rewrite: TypeAlias = Callable[[exp.Expr, Shown], exp.Expr | None]


def columns_of(nodes: Iterable[exp.Expr]) -> list[exp.Column]:
    """The columns in expressions, each once, without the name of a table."""
    found = (column for node in nodes for column in node.find_all(exp.Column) if not isinstance(column.this, exp.Star))
    return list({column.name.lower(): exp.Column(this=column.this.copy()) for column in found}.values())


def conditions(select: exp.Expr) -> list[exp.Expr]:
    """The parts of WHERE that must all be true."""
    where = select.args.get("where")
    return conjuncts(where.this.copy()) if where else []


def grouped(
    select: exp.Select, keys: Sequence[exp.Expr], measures: Sequence[exp.Expr], where: Sequence[exp.Expr]
) -> exp.Select:
    """A plain question about the table of another: keys, measures by them, and conditions."""
    found = exp.select(*(key.copy() for key in keys), *measures)
    found.set("from_", select.args["from_"].copy())
    for key in keys:
        found.group_by(key.unalias().copy(), copy=False)
    return found.where(*(part.copy() for part in where), copy=False) if where else found


def summaries(shown: Shown, functions: Sequence[str] = ("AVG",)) -> list[exp.Expr]:
    """How many there are, and what is to be told of the sensitive column, if it holds numbers."""
    count = exp.alias_(exp.Count(this=exp.Star()), "n")
    if shown.sensitive is None or not shown.is_number(shown.sensitive):
        return [count]
    return [count, *(measured(function, shown.sensitive) for function in functions)]


def measured(function: str, column: str) -> exp.Expr:
    """An aggregate of a column, under a name that says so."""
    name = exp.column(_identifier(column))
    return exp.alias_(exp.func(function, name), f"{function.lower()}_{column}")


def _identifier(name: str) -> exp.Identifier:
    """A name in quotes only where it needs them."""
    return exp.to_identifier(name)
