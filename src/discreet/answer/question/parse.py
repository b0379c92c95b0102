"""Read a question: one SELECT, checked and taken apart into keys, aggregates and conditions."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.answer.question.grammar import (
    AGGREGATES,
    Blocks,
    Side,
    check_lists,
    check_names_a_column,
    check_scalar,
    conjuncts,
    side,
)
from discreet.answer.question.joins import joined
from discreet.answer.question.measures import measure, word
from discreet.answer.question.own import Own
from discreet.answer.question.question import ENDS, Aggregate, Column, Key, Order, Question
from discreet.answer.question.refusals import no_clause, not_a_select, not_read, refusal, shown
from discreet.engines.dialect import LookedUp, placeless
from discreet.errors import QueryError
from discreet.release.manifest import Promise
from discreet.values.names import numbered
from discreet.words import nearest

# The parser logs what it cannot read, which is refused in our own words.
logging.getLogger("sqlglot").addFilter(lambda record: "Falling back to parsing" not in record.getMessage())
LONGEST, MOST = 200_000, 100  # signs of a question, and columns in SELECT or GROUP BY; planning takes longer with each
_Sided: TypeAlias = Callable[[exp.Expr], Side]


def read_question(
    sql: str, promise: Promise, blocks: Blocks | None = None, own: Mapping[str, Own] | None = None
) -> Question:
    """Read one question about a release; raise `QueryError` with what is supported for anything else.

    Where `blocks` of columns were shuffled apart, each is a side of its own. It may join tables of one's `own` by name.
    """
    check_length(sql)
    select, beside = joined(_parse(sql), names_of(promise), promise.columns, own or {})
    _check_clauses(select)
    if len(select.expressions) > MOST or len(_clause(select, "group")) > MOST:
        raise QueryError(f"the question asks for more than {MOST} columns", hint="ask for some at a time")
    _check_table(select, promise)
    _resolve(select, promise)
    sided = partial(side, sensitive=promise.sensitive, blocks=blocks)
    where = _conditions(select, sided)
    items = [_Item(item.unalias(), item.alias) for item in select.expressions]
    keys = _keys(select, items, set(promise.columns), sided)
    aggregates, columns = _columns(items, keys, sided)
    if not aggregates:
        raise QueryError(
            "the question asks for no aggregate: a release shows no single rows",
            hint="ask for figures of them, such as COUNT(*)",
        )
    order = tuple(_order(ordered, items, columns, keys) for ordered in _clause(select, "order"))
    return Question(
        keys, aggregates, columns, where, order, _number(select, "limit"), _number(select, "offset"), beside
    )


def check_length(sql: str) -> None:
    if len(sql) > LONGEST:
        raise QueryError(f"the question has {len(sql):,} characters, more than {LONGEST:,}", hint="ask in several")


@dataclass(frozen=True)
class _Item:
    expression: exp.Expr
    alias: str


def _parse(sql: str) -> exp.Select:
    try:
        statements = [statement for statement in sqlglot.parse(sql, dialect="duckdb") if statement is not None]
    except (SqlglotError, RecursionError) as error:
        raise not_read(error) from None
    if len(statements) != 1:
        raise QueryError(f"expected one statement, got {len(statements)}", hint="ask one question at a time")
    statement = placeless(statements[0])
    check_lists(statement)
    if not isinstance(statement, exp.Select):
        raise not_a_select(statement)
    return statement


_CLAUSES = {"kind", "expressions", "from_", "where", "group", "order", "limit", "offset"}


def _check_clauses(select: exp.Select) -> None:
    for clause, value in select.args.items():
        if value and clause not in _CLAUSES:
            raise no_clause(clause, value)


def names_of(promise: Promise) -> frozenset[str]:
    """By what names a question means the table of a release, in small letters."""
    return frozenset({"microdata", promise.table.lower()})


def _check_table(select: exp.Select, promise: Promise) -> None:
    source = select.args.get("from_")
    table = source.this if source else exp.Table()
    named = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
    named = named and table.name.lower() in names_of(promise)
    if not named or any(value for part, value in table.args.items() if part not in {"this", "alias"}):
        own = f"`{promise.table}`" if promise.table != "microdata" else ""
        got = f", not `{shown(table)}`" if source else ""
        raise QueryError(
            "a question is about one table, " + " also called ".join(filter(None, ["`microdata`", own])) + got,
            hint=_from(table, promise),
        )
    alias = table.args.get("alias")
    if alias is not None and alias.columns:
        raise QueryError("columns cannot be renamed in FROM", hint="rename them in SELECT with AS")


def _from(table: exp.Expr, promise: Promise) -> str:
    """What to write after FROM."""
    if isinstance(table, exp.Subquery):
        return "write the question in one SELECT, FROM microdata"
    if not isinstance(table, exp.Table) or not table.args:
        return "write FROM microdata"
    if table.args.get("sample"):
        return "leave the sample out: a sample drawn from a release is no sample of the table"
    if not isinstance(table.this, exp.Identifier):
        return "a question reads no files; read it yourself, and give it by a name (`tables`, or --table)"
    return nearest(table.name, ["microdata", *([promise.table] if promise.table != "microdata" else [])])


def _resolve(select: exp.Select, promise: Promise) -> None:
    """Replace every column by its name in the release, without a table.

    GROUP BY may name an alias, and ORDER BY a column of the answer: those stay as they are.
    """
    known = {name.lower(): name for name in promise.columns}
    table = select.args["from_"].this
    tables = {table.alias_or_name.lower()}
    aliases = {item.alias.lower() for item in select.expressions if isinstance(item, exp.Alias)}
    for column in list(select.find_all(exp.Column)):
        if isinstance(column.this, exp.Star):
            raise refusal(column.this)
        name = column.name.lower()
        beyond = column.args.get("db") or (column.table and column.table.lower() not in tables)
        if name in known and not beyond:
            column.replace(exp.column(known[name], quoted=True))
        elif beyond or not (_within(column, select, "order") or (_within(column, select, "group") and name in aliases)):
            raise QueryError(f"there is no column `{shown(column)}`", hint=nearest(column.name, known.values()))


def _within(column: exp.Column, select: exp.Select, clause: str) -> bool:
    """Whether a column stands in a clause of the SELECT itself, not in one inside an aggregate."""
    found = column.find_ancestor(exp.Order, exp.Group)
    return found is not None and found is select.args.get(clause)


def _conditions(select: exp.Select, sided: _Sided) -> dict[Side, exp.Expr | None]:
    found: dict[Side, list[exp.Expr]] = {"quasi": [], "sensitive": []}
    where = select.args.get("where")
    for part in conjuncts(where.this) if where else []:
        check_scalar(part)
        found.setdefault(sided(part), []).append(part)
    return {at: exp.and_(*parts) if parts else None for at, parts in found.items()}


def _clause(select: exp.Select, name: str) -> Sequence[exp.Expr]:
    clause = select.args.get(name)
    return clause.expressions if clause else ()


def _keys(select: exp.Select, items: Sequence[_Item], known: set[str], sided: _Sided) -> tuple[Key, ...]:
    group = select.args.get("group")
    if group is not None and any(value for name, value in group.args.items() if name != "expressions"):
        raise QueryError("only plain GROUP BY is supported", hint="list the columns or expressions to group by")
    keys: dict[exp.Expr, Key] = {}
    for named in _clause(select, "group"):
        # a column of the table comes before an alias of the same name
        is_column = isinstance(named, exp.Column) and named.name in known
        expression = named if is_column else _referred(named, items)
        if type(expression) in AGGREGATES:
            raise QueryError("GROUP BY names an aggregate", hint="group by quasi-identifiers or the sensitive column")
        check_scalar(expression)
        check_names_a_column(expression)
        keys[expression] = Key(expression, sided(expression))
    return tuple(keys.values())


def _referred(expression: exp.Expr, items: Sequence[_Item]) -> exp.Expr:
    """What GROUP BY or ORDER BY means by a number or an alias."""
    if isinstance(expression, exp.Literal) and not expression.is_string:
        at = int(expression.this) if expression.this.isdigit() and len(expression.this) < 9 else 0
        if not 1 <= at <= len(items):
            raise QueryError(f"there is no column number {expression.this} in SELECT", hint="count from 1")
        return items[at - 1].expression
    if isinstance(expression, exp.Column):
        for item in items:
            if item.alias and item.alias.lower() == expression.name.lower():
                return item.expression
    return expression


def _columns(
    items: Sequence[_Item], keys: Sequence[Key], sided: _Sided
) -> tuple[tuple[Aggregate, ...], tuple[Column, ...]]:
    """The aggregates, and the columns of the answer in the order of SELECT."""
    numbers = {key.expression: number for number, key in enumerate(keys)}
    taken: set[str] = set()
    aggregates: list[Aggregate] = []
    columns: list[Column] = []
    for item in items:
        if item.expression in numbers:
            name = _fresh(item.alias or label(item.expression), taken, ("",))
            columns.append(Column(name, key=numbers[item.expression]))
            continue
        if type(item.expression) not in AGGREGATES:
            check_scalar(item.expression)
            raise QueryError(
                f"`{shown(item.expression)}` is neither an aggregate nor in GROUP BY: a release shows no single rows",
                hint="add it to GROUP BY or leave it out",
            )
        function, argument, fraction = measure(item.expression)
        if argument is not None:
            check_scalar(argument)
            check_names_a_column(argument)
        name = item.alias or "_".join(filter(None, [word(item.expression, function), label(argument)]))
        at = sided(argument) if argument is not None else "quasi"
        columns.append(Column(_fresh(name, taken, tuple(ENDS.values())), aggregate=len(aggregates)))
        aggregates.append(Aggregate(function, argument, at, columns[-1].name, fraction))
    return tuple(aggregates), tuple(columns)


def label(argument: exp.Expr | None) -> str:
    """The name of a column after what it holds."""
    if argument is None:
        return ""
    return (
        argument.name
        if isinstance(argument, exp.Column | LookedUp)
        else re.sub(r"\W+", "_", argument.sql(dialect="duckdb")).strip("_")
    )


def _fresh(name: str, taken: set[str], ends: Sequence[str]) -> str:
    """A name that, with each of `ends`, no other column of the answer has."""
    fresh = numbered(name, taken, ends)
    taken.update(f"{fresh}{end}" for end in ends)
    return fresh


def _order(ordered: exp.Expr, items: Sequence[_Item], columns: Sequence[Column], keys: Sequence[Key]) -> Order:
    wanted = ordered.this if isinstance(ordered, exp.Ordered) else ordered
    descending, nulls_first = bool(ordered.args.get("desc")), ordered.args.get("nulls_first") or None
    meant = _referred(wanted, items)
    for item, column in zip(items, columns, strict=True):
        if item.expression == meant:
            return Order(column.name, descending, nulls_first)
    for number, key in enumerate(keys):
        if key.expression == meant:
            return Order(number, descending, nulls_first)
    measures = [column.name for column in columns if column.aggregate is not None]
    ends = {f"{name}{end}".lower(): f"{name}{end}" for name in measures for end in ENDS.values()}
    if isinstance(meant, exp.Column) and meant.name.lower() in ends:
        return Order(ends[meant.name.lower()], descending, nulls_first)
    raise QueryError(
        f"ORDER BY `{shown(wanted)}` is not a column of the answer, which is all that can be sorted",
        hint="sort by something that SELECT or GROUP BY names",
    )


def _number(select: exp.Select, clause: str) -> int | None:
    node = select.args.get(clause)
    if node is None:
        return None
    if node.args.get("limit_options") or node.expressions:
        raise refusal(node)
    if isinstance(node.expression, exp.Literal) and node.expression.this.isdigit() and len(node.expression.this) < 19:
        return int(node.expression.this)
    raise QueryError(
        f"{clause.upper()} needs a whole number, not `{shown(node.expression)}`", hint=f"write {clause.upper()} 10"
    )
