"""Read a statement: SELECTs over the table become parts and a step, SELECTs over these further steps.

What a step computes with are columns `key_0`, `part_0`, `item_0` and so on; nothing else of the text is left, so that a
name in the question cannot mean a table or a column of the engine that answers it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.answer.question.grammar import Blocks, check_lists, side
from discreet.answer.question.parse import MOST, check_length
from discreet.answer.question.refusals import no_clause, refusal, shown
from discreet.answer.statement.clauses import check_grouping, meant, number_of, order_of, step_of
from discreet.answer.statement.flatten import merged, written_out
from discreet.answer.statement.parts import Parts
from discreet.answer.statement.scopes import Aliased, Columns, Table
from discreet.answer.statement.statement import Asked, Level, Part, Selected, Stacked, Statement, Step
from discreet.answer.statement.trees import aggregates, name_of, rebuilt, windowed
from discreet.errors import QueryError
from discreet.release.manifest import Promise

CLAUSES = {"kind", "expressions", "from_", "joins", "where", "group", "having", "qualify", "distinct", "order"}
CLAUSES |= {"limit", "offset"}
AGGREGATE = (exp.AggFunc, exp.WithinGroup, exp.Filter)


def read_statement(sql: str, promise: Promise, blocks: Blocks | None) -> Statement | None:
    """Read one statement, if it is a query at all; raise for one that goes beyond what this layer computes."""
    check_length(sql)
    try:
        [query] = sqlglot.parse(sql, dialect="duckdb")
    except (SqlglotError, RecursionError, ValueError):
        return None
    if not isinstance(query, exp.Query):
        return None
    check_lists(query)
    mixed = partial(_mixed, sensitive=promise.sensitive, blocks=blocks)
    return _Reader(promise, mixed).query(written_out(query))


def _mixed(node: exp.Expr, sensitive: str | None, blocks: Blocks | None) -> bool:
    try:
        side(node, sensitive, blocks)
    except QueryError:
        return True
    return False


@dataclass(frozen=True)
class _Reader:
    promise: Promise
    mixed: Callable[[exp.Expr], bool]

    def query(self, query: exp.Expr) -> Statement:
        if isinstance(query, exp.Subquery):
            return self.query(query.unnest())
        if isinstance(query, exp.Union):
            return self._union(query)
        if not isinstance(query, exp.Select):
            raise QueryError(f"{query.key.upper()} is not supported", hint="combine answers with UNION or UNION ALL")
        return self._select(merged(query))

    def _union(self, query: exp.Union) -> Statement:
        upper, lower = self.query(query.left), self.query(query.right)
        if len(upper.names) != len(lower.names):
            raise QueryError(
                f"UNION of {len(upper.names)} columns and {len(lower.names)}", hint="give both SELECTs as many columns"
            )
        stacked = Stacked(upper, lower, bool(query.args.get("distinct")))
        if query.args.get("by_name"):
            raise QueryError("UNION BY NAME is not supported", hint="list the columns of both in the same order")
        items = tuple((name, exp.column(f"item_{at}", quoted=True)) for at, name in enumerate(stacked.names))
        over = Columns(stacked.names)
        step = Step(
            items,
            order=order_of(query, items, over.read),
            limit=number_of(query, "limit"),
            offset=number_of(query, "offset"),
        )
        return Selected(stacked, step)

    def _select(self, select: exp.Select) -> Statement:
        for clause, value in select.args.items():
            if value and clause not in CLAUSES:
                raise no_clause(clause, value)
        if len(select.expressions) > MOST:
            raise QueryError(f"the question asks for more than {MOST} columns", hint="ask for some at a time")
        source = select.args.get("from_")
        inner = source.this if source is not None else None
        if isinstance(inner, exp.Subquery):
            if select.args.get("joins"):
                raise QueryError(
                    "a join with the result of a SELECT is not supported",
                    hint="compute both in one SELECT, with FILTER (WHERE …) for each part",
                )
            return self._over(select, self.query(inner), inner.alias)
        return self._asking(select)

    def _over(self, select: exp.Select, inner: Statement, alias: str) -> Statement:
        """A SELECT over rows that another computes."""
        columns = Columns(inner.names, alias)
        items = [each for item in select.expressions for each in columns.items(item)]
        read = Aliased(columns, {name.lower(): node for name, node in items})
        groups = None
        grouped = select.args.get("group")
        aggregated = any(aggregates(node) for _, node in items) or select.args.get("having") is not None
        if grouped is not None or aggregated:
            named = grouped.expressions if grouped is not None else []
            check_grouping(grouped)
            by_all = grouped is not None and grouped.args.get("all")
            whole = (
                [node for _, node in items if not aggregates(node)]
                if by_all
                else [meant(each, items, read.read) for each in named]
            )
            groups = tuple(whole)
        return Selected(inner, step_of(select, items, read.read, groups=groups, where=True))

    def _asking(self, select: exp.Select) -> Statement:
        """A SELECT over the table."""
        table = Table(self.promise, select)
        where = table.read(select.args["where"].this) if select.args.get("where") is not None else None
        found: dict[str, Part] = {}
        parts = Parts(self.mixed, found)
        items = [(item.alias, table.resolved(item.unalias())) for item in select.expressions]
        items = [(alias or name_of(node), node) for alias, node in items]
        aliases = {
            item.alias.lower(): table.resolved(item.unalias())
            for item in select.expressions
            if isinstance(item, exp.Alias)
        }
        keys = table.keys(select, items, aliases)
        base = Level(table.source, table.joins, (), tuple(range(len(keys))))
        levels = [base] if where is None else parts.where([base], where)
        if table.source.this is None:
            levels = []
        having = select.args.get("having")
        reading = _Asking(self, parts, levels, keys, aliases, total=having is None and not select.args.get("distinct"))
        step = step_of(
            select,
            [(name, reading.read(node)) for name, node in items],
            lambda node: reading.read(table.resolved(node)),
            where=False,
        )
        frame = tuple(parts.column(level, exp.Count(this=exp.Star())).name for level in levels) if keys else ()
        if not found:
            raise QueryError(
                "the question asks for no aggregate", hint="a release shows no rows: ask for COUNT(*), SUM, AVG …"
            )
        return Selected(Asked(keys, found, frame), step)


@dataclass(frozen=True)
class _Asking:
    """Reads expressions of a SELECT over the table: keys and aggregates become columns."""

    reader: _Reader
    parts: Parts
    levels: list[Level]
    keys: tuple[exp.Expr, ...]
    aliases: Mapping[str, exp.Expr]
    total: bool  # whether a window over all rows is about all rows of the table that match

    def read(self, node: exp.Expr) -> exp.Expr:
        if node in self.keys:
            return exp.column(f"key_{self.keys.index(node)}", quoted=True)
        if isinstance(node, exp.Window):
            return self._window(node)
        if isinstance(node, AGGREGATE):
            if not self.levels:
                raise QueryError("a question is about one table, `microdata`", hint="write FROM microdata")
            _check_not_nested(node)
            return self.parts.read(node, self.levels)
        if isinstance(node, exp.Subquery | exp.Select):
            return self._scalar(node.unnest())
        if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
            raise refusal(node)
        if isinstance(node, exp.Column):
            alias = self.aliases.get(node.name.lower())
            if alias is not None and alias != node and not node.table:
                return exp.Paren(this=self.read(alias))
            raise QueryError(
                f"`{shown(node)}` is neither an aggregate nor in GROUP BY",
                hint="a release shows no rows: add it to GROUP BY or leave it out",
            )
        return rebuilt(node, self.read)

    def _window(self, node: exp.Window) -> exp.Expr:
        """A sum over all rows of a partition is what the table has by fewer keys."""
        function, by = node.this, node.args.get("partition_by") or []
        added = isinstance(function, exp.Sum) and isinstance(function.this, exp.Count | exp.Sum)
        plain = added and not isinstance(function.this.this, exp.Distinct) and not node.args.get("order")
        if plain and self.total and not node.args.get("spec") and all(each in self.keys for each in by):
            keys = tuple(sorted({self.keys.index(each) for each in by}))
            return self.parts.read(function.this, [replace(level, keys=keys) for level in self.levels])
        return windowed(node, self.read)

    def _scalar(self, select: exp.Expr) -> exp.Expr:
        """A SELECT of one number."""
        if not isinstance(select, exp.Select):
            raise refusal(exp.Subquery())
        select = merged(select)
        plain = all(
            clause in {"kind", "expressions", "from_", "joins", "where"}
            for clause, value in select.args.items()
            if value
        )
        if not plain or len(select.expressions) != 1 or isinstance(select.args["from_"].this, exp.Subquery):
            raise QueryError(
                "a subquery in SELECT or HAVING must be one aggregate over the table",
                hint="write (SELECT COUNT(*) FROM microdata WHERE …), without GROUP BY",
            )
        table = Table(self.reader.promise, select)
        base = Level(table.source, table.joins, (), ())
        where = select.args.get("where")
        levels = [base] if where is None else self.parts.where([base], table.read(where.this))
        inner = replace(self, levels=levels, keys=(), aliases={})
        return exp.Paren(this=inner.read(table.resolved(select.expressions[0].unalias())))


def _check_not_nested(node: exp.Expr) -> None:
    inner = node.this.this if isinstance(node, exp.Filter) else node.this
    if isinstance(node, exp.WithinGroup):
        return
    if isinstance(inner, exp.Expr) and (inner.find(exp.AggFunc) or inner.find(exp.Window)):
        raise QueryError(
            f"`{shown(node)}` is an aggregate of an aggregate",
            hint="name the inner one in a subquery: SELECT SUM(n) FROM (SELECT COUNT(*) AS n … GROUP BY …)",
        )
